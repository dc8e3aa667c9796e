/**
 * Which words of a command make its program run something else, or write where nobody looks? A rule with a `*` never covers those: they
 * have to stand in the rule word for word.
 *
 * The table need not be complete for rules to be safe: a program that is not in it is run only by a rule that names it.
 */

import type { SimpleCommand, Word } from './command-line.ts'

/**
 * The places of risky words; the program itself is number 0. The place behind the last word is among them when the program takes what it
 * runs from its input.
 */
export function riskyWords(command: SimpleCommand): ReadonlySet<number> {
  const [name, ...rest] = command
  if (name === undefined) return new Set()
  const risk = riskOf(name.text)
  if (risk === undefined) return new Set()
  const found = risk(rest.map(({ text }) => text))
  const places = new Set(found.map((index) => index + 1))
  if (risk === everything || risk === script) places.add(0)
  for (const [index, word] of rest.entries()) if (mayBecomeOption(word)) places.add(index + 1)
  return places
}

/** The name without folder and case: `/usr/bin/Git` is `git`. */
export function programOf(name: string): string {
  return name
    .slice(name.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/\.exe$/, '')
}

/** `python3.12` is a `python`. */
function riskOf(name: string): Risk | undefined {
  const program = programOf(name)
  if (LOADERS.test(program)) return everything
  return RISKS.get(program) ?? RISKS.get(program.replace(/[-.]?\d+(?:\.\d+)*$/, ''))
}

/** The dynamic loader runs what it is given, and so does an emulator: `ld-linux-x86-64.so.2`, `qemu-aarch64`. */
const LOADERS = /^(?:ld\b.*\.so\b|qemu-)/

/** A file may be called `--checkpoint-action=exec=…`. */
function mayBecomeOption({ text, wild }: Word): boolean {
  return wild === 'leading' || (wild === 'inside' && text.startsWith('-'))
}

/** Given the words after the program's name, the places of risky ones among them. */
type Risk = (words: readonly string[]) => number[]

const everything: Risk = (words) => [...words.keys()]

/** An interpreter: its options, and the first word that is none. Without one it reads its input. */
const script: Risk = (words) => {
  const first = words.findIndex((word) => !word.startsWith('-'))
  return first === -1 ? [...everything(words), words.length] : everything(words.slice(0, first + 1))
}

interface Options {
  /** Long options without dashes; abbreviations of them count too. */
  readonly long?: string
  /** Letters of short options, alone or in a cluster. */
  readonly short?: string
  /** Any word that looks like this. */
  readonly word?: RegExp
  /** From this word on, everything is a command or a script. */
  readonly from?: RegExp
  /** What is named behind this word is fetched from elsewhere, and runs when it is installed. */
  readonly installs?: RegExp
}

function options({ long = '', short = '', word, from, installs }: Options): Risk {
  const names = long === '' ? [] : long.split(' ')
  return (words) => {
    const start = from === undefined ? -1 : words.findIndex((each) => from.test(each))
    const install = installs === undefined ? -1 : words.findIndex((each) => installs.test(each))
    return [...words.entries()].flatMap(([index, each]) => {
      if (start !== -1 && index >= start) return [index]
      if (install !== -1 && index > install && !each.startsWith('-')) return [index]
      // The value of an option may be the next word.
      return word?.test(each) === true || isLong(each, names) || isShort(each, short) ? [index, index + 1] : []
    })
  }
}

function isLong(word: string, names: readonly string[]): boolean {
  const given = /^--([^=]+)/.exec(word)?.[1]
  return given !== undefined && names.some((name) => name === given || name.startsWith(given) || given.startsWith(`${name}-`))
}

function isShort(word: string, letters: string): boolean {
  return /^-[^-]/.test(word) && [...letters].some((letter) => word.includes(letter))
}

const HARMLESS_GIT_OPTIONS: ReadonlySet<string> = new Set(['--no-pager', '-P', '--no-optional-locks', '--version', '-v'])

/** Those whose work is git's own. Others run an editor, a helper, a configured tool, or are aliases of the repository. */
const GIT_COMMANDS: ReadonlySet<string> = new Set(
  (
    'add annotate apply blame branch cat-file check-ignore checkout cherry cherry-pick clean clone commit count-objects describe diff ' +
    'diff-files diff-index diff-tree fetch for-each-ref fsck grep init log ls-files ls-remote ls-tree merge merge-base mv name-rev pull ' +
    'push range-diff rebase reflog remote reset restore rev-list rev-parse revert rm shortlog show show-branch show-ref stash status ' +
    'switch symbolic-ref tag var version whatchanged worktree'
  ).split(' '),
)

const gitOptions = options({
  long: 'exec exec-path upload-pack receive-pack ext-diff textconv extcmd open-files-in-pager output config config-env template strategy gpg-sign tool help unsafe-paths separate-git-dir',
  // A transport helper is a program: `ext::sh -c …`.
  word: /::|^ssh:\/\/-/,
})
const GIT_SHORT: Readonly<Record<string, string>> = {
  rebase: 'xsS',
  grep: 'O',
  clone: 'uc',
  merge: 'sS',
  pull: 'sS',
  commit: 'S',
  'cherry-pick': 'sS',
  revert: 'sS',
  tag: 'su',
}

/** Options of git itself whose value is the next word. */
const GIT_VALUES: ReadonlySet<string> = new Set(['-c', '-C', '--git-dir', '--work-tree', '--namespace', '--config-env'])

const git: Risk = (words) => {
  const before: number[] = []
  let at = 0
  for (let word = words[at]; word?.startsWith('-') === true; word = words[at]) {
    const length = GIT_VALUES.has(word) ? 2 : 1
    if (!HARMLESS_GIT_OPTIONS.has(word)) before.push(at, at + length - 1)
    at += length
  }
  const name = words[at]
  if (name === undefined) return before
  if (!GIT_COMMANDS.has(name)) return [...before, ...everything(words).slice(at)]
  const after = words.slice(at + 1)
  const risky = [...gitOptions(after), ...options({ short: GIT_SHORT[name] ?? '' })(after)]
  return [...before, ...risky.map((index) => index + at + 1)]
}

const HARMLESS_SED_OPTIONS = /^(?:-[nEru]+|--quiet|--silent|--regexp-extended|--unbuffered)$/
const HARMLESS_SED_SCRIPT = /^(?:\d+|\$)(?:,(?:\d+|\$|\+\d+))?[pdq]$/

/** Printing lines is harmless; anything else in a script of sed may write files and run commands. */
const sed: Risk = (words) => {
  const first = words.findIndex((word) => !word.startsWith('-'))
  return [...words.entries()].flatMap(([index, word]) => {
    if (word.startsWith('-')) return HARMLESS_SED_OPTIONS.test(word) ? [] : [index, index + 1]
    return index === first && !HARMLESS_SED_SCRIPT.test(word) ? [index] : []
  })
}

/** The second file is written. */
const uniq: Risk = (words) =>
  [...words.entries()]
    .filter(([, word]) => !word.startsWith('-'))
    .map(([index]) => index)
    .slice(1)

/** The first word may be a bundle of letters without a dash. */
const tar: Risk = (words) => {
  const found = options({
    long: 'checkpoint-action to-command use-compress-program info-script new-volume-script rsh-command rmt-command absolute-names transform xform',
    short: 'IFP',
  })(words)
  return /^[A-Za-z]*[IFP]/.test(words[0] ?? '') ? everything(words) : found
}

const packageOptions = options({
  long: 'script-shell node-options call init-module git prefix userconfig globalconfig shell editor viewer browser cwd dir config use-yarnrc',
  short: 'cC',
  from: /^(?:exec|x|explore|dlx|node|config|c|set|edit|create|init)$/,
  installs:
    /^(?:i|in|ins|inst|insta|instal|install|isnt|isnta|isntal|isntall|add|link|ln|install-test|it|update|up|upgrade|udpate)$/,
})

/**
 * Scripts of the project, and what is the package manager's own. Anything else may be the name of a program (`pnpm sh`), or short for a
 * command that runs one (`npm exe`).
 */
const PACKAGE_COMMANDS: ReadonlySet<string> = new Set(
  (
    'test t tst run run-script rum urn start stop restart ci clean-install ic install-clean i in ins inst insta instal install isnt isnta ' +
    'isntal isntall add link ln install-test it update up upgrade udpate ls list la ll outdated view info show v audit pack publish version ' +
    'why explain root bin ping search find whoami dedupe ddp prune rebuild rb uninstall unlink remove rm r un fund doctor query sbom cache ' +
    'diff pkg store licenses help build lint format typecheck type-check check dev preview coverage bench clean e2e'
  ).split(' '),
)

const packages: Risk = (words) => {
  const name = words.findIndex((word) => !word.startsWith('-'))
  const found = packageOptions(words)
  return PACKAGE_COMMANDS.has(words[name] ?? 'help') ? found : [...found, ...everything(words).slice(name)]
}

const RISKS: ReadonlyMap<string, Risk> = new Map<string, Risk>([
  ...named(
    everything,
    // They run what they are given.
    'env nohup nice ionice timeout time stdbuf setsid xargs parallel sem sudo su doas pkexec runuser chroot unshare nsenter flock watch script ' +
      'exec command builtin eval source . trap ssh mosh docker podman kubectl nerdctl systemd-run at batch crontab tmux screen strace ltrace ' +
      'valgrind gdb lldb perf chrt taskset setarch linux prlimit entr busybox toybox npx bunx uvx pipx start-stop-daemon runcon xvfb-run proot ' +
      'fakeroot firejail bwrap setpriv ssh-agent sg newgrp expect unbuffer socat nc ncat caffeinate osascript open xdg-open run-parts ' +
      'watchexec nodemon concurrently cross-env dotenv direnv rlwrap ld ldd ip dbus-run-session dbus-send busctl batch tini dumb-init gosu ' +
      'su-exec capsh setuidgid s6-setuidgid envdir chpst softlimit faketime torsocks torify proxychains numactl cgexec hyperfine multitime ' +
      'machinectl cpulimit catchsegv sshpass autossh chronic git-shell vagrant ansible crictl virsh lxc lxc-attach incus wine mono nix-shell ' +
      'systemctl service mount sbt nvm fnm volta corepack aa-exec gdbserver rr mail mailx mutt sendmail exim ' +
      // They change what later words mean.
      'alias unalias export declare typeset local readonly read mapfile readarray getopts let hash enable set unset shopt bind complete umask',
  ),
  ...named(
    script,
    'sh bash zsh dash ksh mksh fish csh tcsh ash rbash pwsh python pypy ipython perl ruby node nodejs deno bun tsx ts-node php lua luajit tclsh ' +
      'wish rscript r julia groovy scala kotlin java jshell ghci runghc erl elixir iex awk gawk mawk nawk ed ex vi vim nvim view emacs nano ' +
      'swift ghc clojure clj bb sage maxima mongo crystal latexmk rename prename ' +
      'less more most pg man info sqlite mysql psql mongosh redis-cli lftp ftp sftp telnet bc dc m gnuplot octave gs tex latex pdflatex xelatex lualatex',
  ),
  ['git', git],
  ['sed', sed],
  ...named(tar, 'tar bsdtar gtar'),
  ['find', options({ from: /^-(?:exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls)$/ })],
  ...named(options({ long: 'exec exec-batch', short: 'xX' }), 'fd fdfind'),
  ['rg', options({ long: 'pre hostname-bin search-zip', short: 'z' })],
  ...named(options({ long: 'pager' }), 'ag ack bat batcat delta'),
  ['sort', options({ long: 'compress-program output', short: 'o' })],
  ['split', options({ long: 'filter' })],
  ['zip', options({ long: 'unzip-command test', short: 'T' })],
  ['rsync', options({ long: 'rsh rsync-path config daemon', short: 'e' })],
  ['scp', options({ short: 'SoFJD' })],
  [
    'curl',
    options({
      long:
        'config output output-dir remote-name remote-name-all dump-header cookie-jar trace trace-ascii libcurl engine data form json ' +
        'upload-file url-query variable expand unix-socket abstract-unix-socket netrc netrc-file netrc-optional proto-default stderr ' +
        'etag-save hsts alt-svc cert key quote',
      // What it sends may be a file, and what it speaks to may obey.
      short: 'KoOJDcdFTnEQ',
      word: /^(?!https?:)[a-z][a-z\d+.-]*:\/\/|^file:|^(?:-\w*|--[\w-]+=)?@|%output\{/i,
    }),
  ],
  [
    'wget',
    options({
      long:
        'execute output-document output-file use-askpass config directory-prefix input-file post-file body-file post-data body-data ' +
        'append-output save-cookies rejected-log warc recursive mirror force-directories no-host-directories content-disposition ' +
        'trust-server-names',
      short: 'eOoPiarxmH',
    }),
  ],
  ...named(
    options({ long: 'eval file makefile directory include-dir', short: 'fCEI', word: /^[A-Za-z_.]\w*\s*[:+?!]{0,3}=/ }),
    'make gmake bmake just',
  ),
  [
    'cmake',
    options({
      long: 'toolchain',
      word: /^-[PEC]|^(?:-D)?\w*(?:LAUNCHER|COMPILER|LINKER|PROGRAM|EMULATOR|RULE|TOOLCHAIN|INCLUDE|COMMAND)/i,
    }),
  ],
  ['ctest', options({ long: 'script script-new-process build-and-test test-command', short: 'SD' })],
  ['ninja', options({ short: 'fC' })],
  [
    'cargo',
    options({ long: 'config manifest-path', word: /^-[CZ]/, from: /^(?:rustc|rustdoc|miri)$/, installs: /^(?:install|add)$/ }),
  ],
  ...named(options({ short: 'C', word: /^--codegen/ }), 'rustc'),
  [
    'go',
    options({
      word: /^--?(?:exec|toolexec|vettool|overlay|modfile|ldflags|gcflags|gccgoflags|asmflags|compiler|C)\b/,
      from: /^(?:run|generate|tool|env)$/,
      installs: /^(?:install|get)$/,
    }),
  ],
  ...named(
    options({ word: /^(?:--?(?:wrapper|fplugin|fpass-plugin|fuse-ld|B|specs|X|Wl)|@)/ }),
    'gcc g++ cc c++ clang clang++ gfortran',
  ),
  ...named(packages, 'npm pnpm yarn'),
  ...named(
    options({ from: /^(?:run|exec|tool|x|shell|develop|eval|repl)$/, installs: /^(?:add|install)$/ }),
    'uv poetry pipenv bundle conda mamba micromamba pdm hatch rye nix mise asdf dotnet pixi rustup cabal stack opam dune mix rebar composer ' +
      'bazel buck zig nim dart flutter lein',
  ),
  ...named(options({ installs: /^(?:install|download|wheel)$/, from: /^config$/, long: 'python', short: 'rec' }), 'pip gem'),
  ['rails', options({ from: /^(?:runner|r|console|c|dbconsole|db)$/ })],
  ['rake', options({ long: 'execute execute-print execute-continue require rakefile', short: 'eEprf' })],
  ['gradle', options({ long: 'init-script build-file settings-file project-dir include-build', short: 'Ibcp' })],
  ['mvn', options({ long: 'file settings', short: 'fs', word: /^exec:/ })],
  ...named(options({ word: /^--?(?:plugin-dir|chdir)/ }), 'terraform tofu'),
  ['aws', options({ long: 'endpoint-url', from: /^configure$/ })],
  ['gcloud', options({ from: /^(?:ssh|scp)$/ })],
  // They load code by the names of files and packages.
  ...named(options({ long: 'rootdir confcutdir config-file override-ini', short: 'pco' }), 'pytest py.test mypy'),
  ...named(
    options({
      long:
        'config require import plugin rulesdir resolve-plugins-relative-to format parser reporter reporters globalSetup setupFiles ' +
        'setupFilesAfterEnv env environment testEnvironment runner testRunner resolver preset watchPlugins transform pool rootDir root projects',
      short: 'cr',
    }),
    'jest mocha vitest vite webpack rollup prettier',
  ),
  ['eslint', options({ long: 'config rulesdir resolve-plugins-relative-to format parser plugin output-file', short: 'crfo' })],
  ...named(options({ long: 'conf override result-json', short: 'cx' }), 'tox'),
  ...named(options({ long: 'noxfile', short: 'f' }), 'nox'),
  ['pre-commit', options({ long: 'config', short: 'c', from: /^try-repo$/ })],
  ['openssl', options({ word: /^(?:engine$|--?(?:engine|provider|provider-path|config|out|keyout)$)/ })],
  ['hg', options({ long: 'config config-file cwd', word: /::/ })],
  ['svn', options({ long: 'config-option config-dir diff-cmd editor-cmd' })],
  ...named(options({ long: 'diff-program' }), 'diff3 sdiff'),
  ...named(
    options({ long: 'option config-file', short: 'oc', from: /^edit-sources$/, installs: /^(?:install|add)$/ }),
    'apt apt-get aptitude apk dnf yum zypper brew snap',
  ),
  ['dpkg', options({ long: 'install unpack configure pre-invoke post-invoke', short: 'i' })],
  ['fzf', options({ long: 'preview bind filter listen' })],
  ['gh', options({ from: /^(?:alias|extension|codespace|config|auth)$/ })],
  ['gpg', options({ long: 'exec-path photo-viewer agent-program keyserver-options options homedir output', short: 'o' })],
  ['ssh-keygen', options({ short: 'D' })],
  ['ssh-add', options({ short: 's' })],
  ['openvpn', everything],
  // What it writes stands in the patch.
  ['patch', everything],
  ['install', options({ long: 'strip-program' })],
  ['javac', options({ word: /^(?:-J|@|--?processor|-Xplugin)/ })],
  // Without a dash the letter shows the environment of every process.
  ['ps', options({ word: /^[a-zA-Z]*e/ })],
  // The name of a file may name a program that makes the picture.
  ...named(options({ word: /^@|^[a-z]{2,}:/i }), 'convert magick mogrify identify composite montage'),
  ...named(options({ long: 'output', short: 'o' }), 'shuf iconv tree'),
  ['uniq', uniq],
  ...named(options({ long: 'plugin' }), 'ar nm strip objdump ranlib'),
  ...named(options({ word: /^@/ }), 'as'),
  ...named(options({ long: 'options optlib-dir langdef' }), 'ctags'),
  ['pandoc', options({ long: 'filter lua-filter pdf-engine output to defaults data-dir', short: 'FLotwd' })],
  ['xmllint', options({ long: 'shell output' })],
  // Bash works out what stands between brackets in the name of a variable.
  ['test', options({ short: 'vR' })],
  ['wait', options({ short: 'p' })],
  ['helm', options({ long: 'post-renderer' })],
  ['tcpdump', options({ short: 'zw' })],
  ['nmap', options({ long: 'script interactive', word: /^-o/ })],
  ['cpio', options({ long: 'rsh-command' })],
  ['printf', options({ short: 'v' })],
  ['tee', everything],
  ['dd', everything],
])

function named(risk: Risk, names: string): [string, Risk][] {
  return names.split(' ').map((name) => [name, risk])
}
