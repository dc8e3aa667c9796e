/** Programs whose arguments are commands or scripts. */

import { everything, options, script } from './risk.ts'
import type { Programs, Risk } from './risk.ts'

/** Commands that show what is there, by themselves or behind what they are about (`docker compose ps`). */
const SHOWING: ReadonlySet<string> = new Set(
  'ps ls list images logs version info stats top port history df diff search events'.split(' '),
)
const SHOWN: ReadonlySet<string> = new Set('compose container image network volume system context'.split(' '))
/** Another machine, or settings that name programs; `-f` is a filter here, or follows. */
const ofOtherMachine = options({
  runs: '--runtime --conmon --hooks-dir --module',
  elsewhere: '--host --config --context --file --project-directory --env-file --url --connection --root --runroot',
})

export const containers: Risk = (words) => {
  const [first = '', second = ''] = words
  return SHOWING.has(first) || (SHOWN.has(first) && SHOWING.has(second)) ? ofOtherMachine(words) : everything(words)
}

/** `command` of the shell tells with `-v` where a program is, and runs it without. */
export const commandWords: Risk = (words) => (/^-[vV]$/.test(words[0] ?? '') ? [] : everything(words))

export const RUNNERS: readonly Programs[] = [
  // The command stands behind their own options.
  {
    programs:
      'env nohup nice ionice timeout time stdbuf setsid xargs parallel sem flock watch script chrt taskset setarch linux prlimit entr ' +
      'start-stop-daemon runcon xvfb-run setpriv ssh-agent dbus-run-session rlwrap unbuffer caffeinate watchexec nodemon concurrently ' +
      'cross-env dotenv direnv tini dumb-init envdir chpst softlimit setuidgid s6-setuidgid faketime torsocks torify proxychains numactl ' +
      'cgexec cpulimit chronic aa-exec capsh sshpass run-parts',
    risk: everything,
  },
  // The command is measured, traced or debugged.
  { programs: 'hyperfine multitime perf strace ltrace valgrind gdb lldb gdbserver rr catchsegv', risk: everything },
  // The command runs as another user.
  { programs: 'sudo su doas pkexec runuser sg newgrp gosu su-exec', risk: everything },
  // The command runs in another root, container or machine.
  {
    programs:
      'chroot unshare nsenter proot fakeroot firejail bwrap kubectl crictl lxc lxc-attach incus virsh vagrant ' +
      'machinectl ssh mosh autossh ansible wine mono',
    risk: everything,
  },
  { programs: 'docker docker-compose podman nerdctl', risk: containers },
  // The command runs later, or is a service.
  { programs: 'at batch crontab systemd-run systemctl service', risk: everything },
  // They start a shell and type into it (`tmux new COMMAND`, `expect -c`), or join it with a socket (`socat - EXEC:…`, `nc -e`).
  { programs: 'tmux screen expect socat nc ncat', risk: everything },
  // One file that is many programs, the first word chooses which.
  { programs: 'busybox toybox', risk: everything },
  // They fetch the program that they run.
  { programs: 'npx bunx uvx pipx nix-shell', risk: everything },
  // They choose a version of a program and run it (`nvm exec`); `sbt` takes code of its build language.
  { programs: 'nvm fnm volta corepack sbt', risk: everything },
  // What is named chooses the program: the type of a file (`open`), a file itself (`ldd` may run it), a namespace (`ip netns exec`), a helper
  // (`mount -t`), a message that a service obeys.
  { programs: 'osascript open xdg-open ld ldd ip mount dbus-send busctl openvpn git-shell', risk: everything },
  // They obey what stands in their input or in settings named by an option (`mail` runs lines that start with `~!`).
  { programs: 'mail mailx mutt sendmail exim', risk: everything },
  // Built into the shell: they run their words.
  { programs: 'exec builtin eval source . trap', risk: everything },
  // It runs its words, too, or tells where they are.
  { programs: 'command', risk: commandWords },
  // Built into the shell: they change what later words mean, or where programs are looked for.
  {
    programs:
      'alias unalias export declare typeset local readonly read mapfile readarray getopts let hash enable set unset shopt bind complete umask',
    risk: everything,
  },
]

/** What stands before the name of the program that they run. */
const STARTS: readonly (readonly [programs: RegExp, before: readonly string[]])[] = [
  [/^(?:npx|bunx|uvx)$/, []],
  [/^(?:python|pypy)[\d.]*$/, ['-m']],
  [/^(?:uv|poetry|pipenv|pdm|hatch|rye)$/, ['run']],
  [/^(?:bundle|pnpm)$/, ['exec']],
]

/**
 * The place of the program that another one starts, where it follows at once: what comes behind it are words of that program, and are judged as such.
 * `npx eslint src`, `python3 -m pytest -x`.
 */
export function startedProgram(program: string, words: readonly string[]): number | undefined {
  const before = STARTS.find(([programs]) => programs.test(program))?.[1]
  const isPlain = before?.every((word, index) => words[index] === word) === true
  return isPlain && /^[\w@]/.test(words[before.length] ?? '') ? before.length : undefined
}

export const INTERPRETERS: readonly Programs[] = [
  // Shells.
  {
    programs: 'sh bash zsh dash ksh mksh fish csh tcsh ash rbash pwsh yash posh sash osh oil nu elvish xonsh rc es',
    risk: script,
  },
  // Languages that run a file, or code from an option.
  {
    programs:
      'python pypy ipython perl ruby node nodejs deno bun tsx ts-node php lua luajit tclsh wish rscript r julia groovy scala kotlin java ' +
      'jshell ghci runghc erl elixir iex swift ghc clojure clj bb crystal irb groovysh bpython ptpython guile racket sbcl clisp ocaml utop ' +
      'swipl gforth janet raku',
    risk: script,
  },
  // Modules of Python (`python -m pdb`) that run a file or code.
  { programs: 'pdb cprofile profile trace timeit runpy', risk: script },
  // It takes an expression of Perl.
  { programs: 'rename prename', risk: script },
  // Calculators and plots with a way to the shell (`dc` has `!`, `m4` has `syscmd`, gnuplot `system`). The number of `m4` is cut off
  // before it is looked up.
  { programs: 'bc dc m gnuplot octave gs sage maxima', risk: script },
  // TeX runs commands where `\write18` is allowed, and `latexmk` what its settings say.
  { programs: 'tex latex pdflatex xelatex lualatex latexmk', risk: script },
  // Editors and pagers with a way to the shell (`!`), and options that take commands (`vim -c`, `man -P`).
  { programs: 'ed ex vi vim nvim view emacs nano less more most pg man info', risk: script },
  // Clients of databases and servers with a way to the shell (`.shell`, `\!`, `system`), or whose words are commands. The number of `sqlite3` is
  // cut off before it is looked up.
  { programs: 'sqlite mysql psql mongo mongosh redis-cli lftp ftp sftp telnet', risk: script },
]
