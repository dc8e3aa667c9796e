/** Version control. */

import { everything, options } from './risk.ts'
import type { Options, Programs, Risk } from './risk.ts'

/** They only change what is printed and locked. Any other option before the command changes settings, folders or helpers. */
const HARMLESS_BEFORE: ReadonlySet<string> = new Set(['--no-pager', '-P', '--no-optional-locks', '--version', '-v'])

/** Options of git itself whose value is the next word. */
const WITH_VALUE: ReadonlySet<string> = new Set(['-c', '-C', '--git-dir', '--work-tree', '--namespace', '--config-env'])

/** Those whose work is git's own. Others run an editor, a helper, a configured tool, or are aliases of the repository. */
const OWN_COMMANDS: ReadonlySet<string> = new Set(
  (
    'add annotate apply blame branch cat-file check-ignore checkout cherry cherry-pick clean clone commit count-objects describe diff ' +
    'diff-files diff-index diff-tree fetch for-each-ref fsck grep init log ls-files ls-remote ls-tree merge merge-base mv name-rev pull ' +
    'push range-diff rebase reflog remote reset restore rev-list rev-parse revert rm shortlog show show-branch show-ref stash status ' +
    'switch symbolic-ref tag var version whatchanged worktree'
  ).split(' '),
)

/** Risky in any command that has them. */
const anywhere = options({
  runs:
    // Commands: of `rebase`, of `push`, of the other side.
    '--exec --exec-path --upload-pack --receive-pack ' +
    // Programs that settings and attributes name.
    '--ext-diff --textconv --extcmd --tool --open-files-in-pager --gpg-sign --config --config-env ' +
    // `git-merge-NAME` is run; hooks are copied from the template; the manual is shown by a configured program.
    '--strategy --template --help',
  writes: '--output --unsafe-paths --separate-git-dir',
  // A transport helper is a program: `ext::sh -c …`. A host that begins with a dash is an option for ssh.
  word: /::|^ssh:\/\/-/,
})

/** Letters differ from command to command. */
const BY_COMMAND: Readonly<Record<string, Options>> = {
  // Command, strategy, signature.
  rebase: { runs: '-x -s -S' },
  // Opens the files in a pager.
  grep: { runs: '-O' },
  // Upload-pack, configuration.
  clone: { runs: '-u -c' },
  // Strategy, signature.
  merge: { runs: '-s -S' },
  pull: { runs: '-s -S' },
  // Signature: settings name the program that makes it.
  commit: { runs: '-S' },
  // Signature; `-s` signs off, in words.
  'cherry-pick': { runs: '-S' },
  revert: { runs: '-S' },
  // Signature, and whose.
  tag: { runs: '-s -u' },
}

const git: Risk = (words) => {
  const before: number[] = []
  let at = 0
  for (let word = words[at]; word?.startsWith('-') === true; word = words[at]) {
    const length = WITH_VALUE.has(word) ? 2 : 1
    if (!HARMLESS_BEFORE.has(word)) before.push(at, at + length - 1)
    at += length
  }
  const name = words[at]
  if (name === undefined) return before
  if (!OWN_COMMANDS.has(name)) return [...before, ...everything(words).slice(at)]
  const after = words.slice(at + 1)
  const risky = [...anywhere(after), ...options(BY_COMMAND[name] ?? {})(after)]
  return [...before, ...risky.map((index) => index + at + 1)]
}

export const VERSION_CONTROL: readonly Programs[] = [
  { programs: 'git', risk: git },
  {
    programs: 'hg',
    // Settings may name hooks and extensions; the way to another machine and what runs there; a tool that merges; a command for each step of `bisect`.
    runs: '--config --config-file --ssh -e --remotecmd --tool -t --command',
    elsewhere: '--cwd',
    from: /^bise?c?t?$/,
  },
  // Settings may name tunnels, editors and tools.
  { programs: 'svn', runs: '--config-option --config-dir --diff-cmd --diff3-cmd --editor-cmd' },
  // Aliases, extensions, other machines, an editor by configuration; `gh auth token` prints a key. What follows `--` are options for git.
  { programs: 'gh', from: /^(?:alias|extensions?|ext|codespace|cs|config|auth|--)$/ },
]
