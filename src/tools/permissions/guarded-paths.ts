/** Lists the paths that only an exact rule covers: those with secrets, and those that decide what runs later. */

import { isSecretName, mayBeSecretName } from '../../util/secret-files.ts'
import type { SimpleCommand, Word } from './command-line.ts'

/** Folders whose files are keys, whatever they are called. */
const SECRET_FOLDERS: ReadonlySet<string> = new Set(
  '.ssh .gnupg .aws .azure .kube .docker .password-store .mozilla gcloud keyrings keychains'.split(' '),
)
/** Files of harmless names that hold keys there. */
const SECRET_PLACES =
  /(?:^|\/)(?:run\/secrets\/|gh\/hosts\.yml$|\.m2\/settings(?:-security)?\.xml$|\.gradle\/gradle\.properties$)/
/** The data of version control: what is written there decides which programs run later. */
const VERSION_CONTROL: ReadonlySet<string> = new Set(['.git', '.hg', '.svn'])
/** Settings of editors, shells, tools and agents that name programs. */
const SETTINGS_FOLDERS: ReadonlySet<string> = new Set(
  (
    '.cria .vscode .idea .fleet .zed .husky .githooks .lefthook .devcontainer .claude .cursor .codex .gemini .windsurf .continue .roo .kiro ' +
    '.opencode .amazonq .aider .bin .local autostart .circleci .buildkite .direnv'
  ).split(' '),
)
const SETTINGS: ReadonlySet<string> = new Set(
  (
    '.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc ' +
    '.inputrc .envrc .gitconfig .gitmodules .vimrc .exrc .nvimrc .emacs .tmux.conf .screenrc .ripgreprc .curlrc .wgetrc .lesskey .mcp.json ' +
    '.pre-commit-config.yaml .pythonstartup .gdbinit .lldbinit .xinitrc .xprofile .xsessionrc .devcontainer.json lefthook.yml .lefthook.yml ' +
    '.gitlab-ci.yml .travis.yml azure-pipelines.yml bitbucket-pipelines.yml jenkinsfile .drone.yml .pnpmfile.cjs .pnpmfile.mjs .yarnrc ' +
    '.yarnrc.yml .npmrc bunfig.toml pip.conf sitecustomize.py usercustomize.py .aider.conf.yml .clinerules .tool-versions mise.toml .mise.toml'
  ).split(' '),
)
/** Files of harmless names that name programs there. */
const SETTINGS_PLACES =
  /(?:^|\/)(?:\.cargo\/config(?:\.toml)?|\.github\/(?:workflows|actions)(?:\/.*)?|\.?venv\/bin\/activate.*|\.yarn\/(?:plugins|releases)(?:\/.*)?)$/

/** @param name with `/`. By the name of a file and of the folders above it. */
export function isSecretPath(name: string): boolean {
  const parts = partsOf(name)
  // Addresses of remotes may hold tokens.
  const isGitConfig = parts.at(-1) === 'config' && parts.includes('.git')
  const isEnvironment = parts.at(-1) === 'environ' && parts.includes('proc')
  return (
    isSecretName(name) ||
    isGitConfig ||
    isEnvironment ||
    SECRET_PLACES.test(name) ||
    parts.some((part) => SECRET_FOLDERS.has(part))
  )
}

export function isVersionControl(name: string): boolean {
  return partsOf(name).some((part) => VERSION_CONTROL.has(part))
}

/** What is written here may run later, without anybody being asked then. */
export function decidesWhatRuns(name: string): boolean {
  const parts = partsOf(name)
  const file = parts.at(-1) ?? ''
  // Instructions stand in the folder of settings too, and count only when somebody has looked at them.
  if (file === 'agents.md') return false
  return (
    SETTINGS.has(file) ||
    SETTINGS_PLACES.test(name.toLowerCase()) ||
    parts.some((part) => SETTINGS_FOLDERS.has(part) || VERSION_CONTROL.has(part))
  )
}

/** As file systems without case see it. */
function partsOf(name: string): string[] {
  return name.toLowerCase().split('/')
}

/** They tell that a file is there, not what it holds. */
export const NAMING: ReadonlySet<string> = new Set(
  'ls stat test find fd tree du basename dirname realpath readlink echo printf pwd'.split(' '),
)
/** They read, and write only where an option or the shell says so. */
export const READING: ReadonlySet<string> = new Set(
  (
    'cat head tail wc file diff cmp grep egrep fgrep rg ag ack jq yq od hexdump strings nl bat sed sort uniq cut comm column ' +
    'md5sum sha1sum sha256sum sha512sum cksum b2sum'
  ).split(' '),
)
const READING_OF_GIT: ReadonlySet<string> = new Set('add blame commit diff grep log ls-files rm show status'.split(' '))
/** Their first word is no path. */
const SEARCHING: ReadonlySet<string> = new Set('grep egrep fgrep rg ag ack jq yq'.split(' '))

/** The places of words that name such paths; the program itself is number 0. */
export function guardedWords(command: SimpleCommand, program: string): ReadonlySet<number> {
  // They print what is no name in such a list.
  const readsNames = command.some(({ text }) => text.startsWith('--files0-from'))
  if (NAMING.has(program) && !readsNames) return new Set()
  const isReading =
    READING.has(program) ||
    (program === 'git' && READING_OF_GIT.has(command.slice(1).find(({ text }) => !text.startsWith('-'))?.text ?? ''))
  const pattern = placeOfPattern(command, program)
  const places = new Set<number>()
  for (const [place, word] of command.entries()) {
    if (place !== 0 && place !== pattern && isGuarded(word, isReading)) places.add(place)
  }
  return places
}

/** What is searched for looks like a path now and then: `grep process.env`. */
function placeOfPattern(command: SimpleCommand, program: string): number {
  const from = program === 'git' ? command.findIndex(({ text }) => text === 'grep') : SEARCHING.has(program) ? 0 : -1
  const words = command.slice(from + 1)
  if (from === -1 || words.some(({ text }) => /^(?:-[a-z]*[ef]|--(?:regexp|file))/i.test(text))) return -1
  const first = words.findIndex(({ text }, index) => text === '-' || !text.startsWith('-') || words[index - 1]?.text === '--')
  return first === -1 ? -1 : first + from + 1
}

function isGuarded({ text, wild }: Word, isReading: boolean): boolean {
  // A name that the shell completes may become any of them.
  if (wild !== 'no' && (/(?:^|[/=:@])\.[^/]*[*?[]/.test(text) || pathsIn(text).some(mayBecomeSecret))) return true
  return pathsIn(text).some((path) => isSecretWord(path) || (!isReading && decidesWhatRuns(path)))
}

/** `config/secre*` */
function mayBecomeSecret(path: string): boolean {
  const [, begin, end = ''] = /^([^*?[]+)[*?[](?:[^]*[*?\]])?([^*?\]]*)$/.exec(path.slice(path.lastIndexOf('/') + 1)) ?? []
  return begin !== undefined && mayBeSecretName(begin, end)
}

/** `@.env`, `HEAD:.env`, `--file=.env`, `-C.git/hooks`. */
function pathsIn(text: string): string[] {
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(text)) return [text.replace(/[?#].*$/, '').replace(/[^/]*$/, '')]
  return [text, ...text.split(/[=:@,]/), text.replace(/^-[a-z]+(?=[./~])/i, '')].filter(
    (path) => path !== '' && !path.includes('\0'),
  )
}

/** A word that may be anything, such as a branch, is taken for a path of a secret file only when it looks like one. */
function isSecretWord(path: string): boolean {
  if (/\s/.test(path)) return false
  const name = path.slice(path.lastIndexOf('/') + 1)
  const looksLikePath = /^(?:~|\.{0,2}\/)/.test(path) || name.includes('.') || /^id_/i.test(name)
  if (looksLikePath) return isSecretPath(path)
  return isSecretPath(path) && !isSecretName(path)
}

/** Commands behind this one run in another folder. */
export function changesFolder([name]: SimpleCommand): boolean {
  return ['cd', 'pushd', 'popd'].includes(name?.text ?? '')
}

/** Whether a command is another one in another folder: a program with a relative path; without a sandbox, any that does not only read. */
export function followsFolder([name]: SimpleCommand, confined: boolean): boolean {
  const text = name?.text ?? ''
  if (text.includes('/') && !text.startsWith('/')) return true
  return !confined && !NAMING.has(text) && !READING.has(text) && text !== 'cd'
}
