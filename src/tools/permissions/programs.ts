/**
 * Lists the words of a command that `*` in a rule does not match without a sandbox: words that make a program run another program, load
 * code, or write elsewhere. A rule has to name them word for word.
 *
 * No list of programs and options is complete. This list is short on purpose: only a sandbox of the operating system is a reliable boundary.
 */

import type { SimpleCommand, Word } from './command-line.ts'

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

/** Programs that run their words or a script (shells, interpreters, wrappers, containers, editors, pagers), or reach other machines or processes. */
const RUN_OTHERS: ReadonlySet<string> = words(
  `sh bash dash zsh ksh mksh fish csh tcsh rbash busybox toybox env exec eval command builtin nohup nice ionice chrt taskset time timeout
   stdbuf setsid script unbuffer expect xargs parallel sudo doas su runuser pkexec chroot unshare nsenter bwrap firejail systemd-run at batch
   watch entr nodemon strace ltrace gdb lldb valgrind docker podman nerdctl kubectl ssh scp sftp rsync mosh telnet nc ncat socat python perl
   ruby node nodejs deno bun tsx ts-node php lua luajit tclsh wish rscript r julia java jshell groovy scala kotlin osascript pwsh powershell
   awk gawk mawk nawk ed ex vi vim nvim view emacs nano less more man info source . trap alias tee dd patch install make gmake just rake ant
   npx bunx uvx pipx corepack ld m4 bc dc gpg openssl mount umount ln crontab systemctl service tmux screen curl wget aria2c ftp lynx w3m http
   https ps kill pkill killall renice mknod chown chgrp capsh setcap reboot shutdown dmesg fzf nmap mocha sqlite3 gh ctags pandoc gem bundle
   composer mix stack nim rustup coverage nyc c8 lerna golangci-lint tox nox pre-commit docker-compose irb flock pg uv poetry pipenv pip pip3
   nix nix-shell open xdg-open vagrant redis-cli dbus-send mail sendmail gcloud aws az latex pdflatex virsh crictl ip openvpn ssh-add ssh-agent
   ldd rename prename wine mono cabal opam dune rebar3 maxima sage swift zig crystal dart flutter rails buck sbt lein hatch pdm rye conda
   micromamba asdf mise direnv nvm fnm volta proot fakeroot rlwrap webpack helm newgrp catchsegv faketime torsocks proxychains dotenv envdir
   chpst softlimit setuidgid s6-setuidgid tini dumb-init gosu su-exec prlimit numactl cgexec perf hyperfine multitime machinectl cpulimit
   convert magick apt apt-get dpkg rpm dnf yum apk brew snap ctest typeset local shopt getopts declare read unset umask set export dotnet`,
)
/** Matches further names of such programs: `python3.12`, `ld-linux-x86-64.so.2`, `qemu-aarch64`. */
const RUN_OTHERS_LIKE = /^(?:ld\b.*\.so\b|qemu-|(?:python|perl|ruby|lua|php|node|clang|gcc)[-.\d]+$)/

/** Further risky words of frequent programs. */
const RISKY_WORDS: Readonly<Record<string, RegExp>> = {
  git: /^(?:-[cCOuSG]|-\w*x|--(?:exe|ext|gpg|strategy|help|git-dir|work-tree|textconv|open-files|out|no-index|upload|receive|template|separate|patch|interactive|edit|config-env|namespace|super|contents|from-file|pathspec-from)|am$|apply$|archive$|bisect$|clone$|config$|credential|daemon$|difftool$|fast-|fetch$|filter-|gui$|hook$|init$|instaweb$|maintenance$|mergetool$|p4$|pull$|push$|remote$|replace$|rerere$|send-email$|shell$|sh-|submodule$|svn$|symbolic|update-|upload|worktree$|commit-tree$|write-tree$|ext::|.*:\/\/)/,
  'npm pnpm yarn':
    /^-(?!-(?:version|json|depth=?\d*|production|silent|if-present|ignore-scripts|offline|prod|frozen-lockfile|immutable)$)|^[^-].*[=@]/,
  'cargo go gradle gradlew mvn mvnw bazel':
    /^(?:[+@]|exec|run$|[^-].*\.(?:json|rs|go|xml|gradle)$|.*:.*:|.*:exec|--?(?:overlay|modfile|C$|g?[ts]$|s$|D|P|I$|b$|c$))|=/,
  'sed gsed':
    /^-[^n]|^--(?!quiet|silent)|(?:^|[;}\d$/]\s*)[ewrWR](?:\s|$)|s([^\w\s]).*\1[gpIiMm\d]*[ew]|\/[gpIM\d]*[ewm]|[;{}]\s*[ew]/,
  find: /^-(?:exec|ok|delete|fprint|fls|files0)/,
  'fd fdfind': /^-[A-Za-z]*[xX]|^--exec/,
  'mkdir rmdir rm touch cp mv': /^-.*[tZS]|^--(?!recursive$|force$|parents$|verbose$|no-clobber$)/,
  'printf test [': /^-v|.\[/,
  uniq: /^[^-]/,
  file: /^-.*[Cmf]|^--/,
  tree: /^-.*[oR]|^--(?:output|from)/,
  'bat yq': /^-[A-Za-z]*[is]|^--|load/,
  sort: /^-.*[oT]|^--(?:o|co|f|t)/,
  'tar bsdtar gtar zip unzip 7z cpio ar': /^-?[A-Za-z]*[IFPTCOKxk]|^--/,
  'rg ag ack': /^--(?:pre|hostname|pager|search-zip|ackrc|config|file|ignore-file)|^-[fz]/,
  'grep egrep fgrep': /^-[A-Za-z]*f|^--file|^--f/,
  'jest vitest mocha pytest tsc eslint prettier mypy':
    /^-(?!-(?:run|coverage|watch|verbose|silent|quiet|bail|no[A-Za-z-]*|check|cache|fix|version|help|noEmit|pretty|strict|skipLibCheck)$|[qvxsh]+$)|^@|^[^-]\w*=/,
}

/** Harmless subcommands of programs; a star matches only these as the first plain word. */
const SUBCOMMANDS: Readonly<Record<string, ReadonlySet<string>>> = {
  git: words(
    `add blame branch cat-file check-ignore checkout cherry-pick commit count-objects describe diff diff-tree grep log ls-files ls-tree merge
   merge-base mv name-rev rebase reflog reset restore rev-list rev-parse rm shortlog show show-ref stash status switch tag version`,
  ),
  npm: words('run run-script test t start build lint ls list ll outdated audit why explain view info root prefix version'),
  pnpm: words('run test t start build lint ls list outdated audit why'),
  yarn: words('run test start build lint list outdated audit why'),
  cargo: words('build b check c test t bench clippy fmt doc clean tree metadata search version'),
  go: words('build test vet fmt list version doc mod'),
}

/** Options that make a program run, load or write something, in any program. */
const RISKY_OPTION =
  /^--?[\w-]*(?:exec|comman|cmd|shell|prog|script|eval|conf|plugin|require|import|load|preload|init|out|prefix|direc|folder|root|cwd|chdir|rc|sett|hook|edit|pager|browser|proxy|upload|inclu|lib|env|fil|from|rsh|remote|transform|module|flags|overlay|spec|runner|reporter|format(?:ter)?=|interp|compil|linker|tool|wrapper|path|to=|host|url|key|cert|user|header|data)/i

/** Short options that are harmless in any program. For programs that are neither listed above nor readers, `*` matches only these. */
const PLAIN_SHORT = /^-(?:[hvqnslau]+|j?\d+)$/

/** Matches a path that leads out of the folder by its text alone. */
export const OUTSIDE: RegExp = /(?:^|[=:@])(?:\/|~|\.\.(?:\/|$))|\/\.\.(?:\/|$)/

/** Returns the indexes of risky words; the program itself has index 0, the index after the last word stands for its input. */
export function riskyWords(command: SimpleCommand, isReader: boolean): ReadonlySet<number> {
  const [name, ...rest] = command
  if (name === undefined) return new Set()
  const program = programOf(name.text)
  if (runsOthers(program)) return new Set([0, ...rest.keys(), rest.length, rest.length + 1])
  const known = Object.entries(RISKY_WORDS).find(([names]) => names.split(' ').includes(program))?.[1]
  const places = new Set<number>()
  for (const [index, word] of rest.entries()) {
    if (isRisky(word, known, isReader)) places.add(index + 1)
  }
  const first = rest.findIndex(({ text }) => !text.startsWith('-'))
  if (SUBCOMMANDS[program]?.has(rest[first]?.text ?? '') === false) places.add(first + 1)
  return places
}

function isRisky(word: Word, known: RegExp | undefined, isReader: boolean): boolean {
  const { text, wild, unknown } = word
  const isPlainReader = isReader && known === undefined
  if (unknown === true) return true
  // A file name may look like an option: `--checkpoint-action=exec=…`.
  if (wild === 'inside' ? text.startsWith('-') : wild === 'leading' && !isPlainReader) return true
  if (known?.test(text) === true) return true
  if (isReader) return false
  if (RISKY_OPTION.test(text) || OUTSIDE.test(text)) return true
  if (known !== undefined) return false
  return text.startsWith('@') || /^[A-Za-z_]\w*[:+?!]*=/.test(text) || (/^-[^-]/.test(text) && !PLAIN_SHORT.test(text))
}

export function runsOthers(program: string): boolean {
  return RUN_OTHERS.has(program) || RUN_OTHERS_LIKE.test(program)
}

/** Returns the name without folder, in lower case: `git` for `/usr/bin/Git`. */
export function programOf(name: string): string {
  return name
    .slice(name.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/\.exe$/, '')
}
