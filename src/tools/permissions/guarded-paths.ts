/** Lists the paths that only an exact rule covers: those with secrets, and those that decide what runs later. */

import { isSecretName, mayBeSecretName } from '../../util/secret-files.ts'
import type { SimpleCommand, Word } from './command-line.ts'

/** Folders whose files are keys, whatever they are called. */
const SECRET_FOLDERS: ReadonlySet<string> = new Set(
  '.ssh .gnupg .aws .azure .kube .docker .password-store .mozilla gcloud keyrings keychains'.split(' '),
)
/** Paths of key files with harmless names. */
const SECRET_PLACES =
  /(?:^|\/)(?:run\/secrets\/|gh\/hosts\.yml$|\.m2\/settings(?:-security)?\.xml$|\.gradle\/gradle\.properties$)/
/** Data folders of version control, whose files decide which programs run later. */
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
/** Paths of files with harmless names that name programs. */
const SETTINGS_PLACES =
  /(?:^|\/)(?:\.cargo\/config(?:\.toml)?|\.github\/(?:workflows|actions)(?:\/.*)?|\.?venv\/bin\/activate.*|\.yarn\/(?:plugins|releases)(?:\/.*)?)$/

/** Returns whether a path is secret by the names of the file and its folders. @param name with `/`. */
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

/** Returns whether the content of a file may run later, without a permission request. */
export function decidesWhatRuns(name: string): boolean {
  const parts = partsOf(name)
  const file = parts.at(-1) ?? ''
  // Instruction files are also in settings folders, but apply only after the user has trusted them.
  if (file === 'agents.md') return false
  return (
    SETTINGS.has(file) ||
    SETTINGS_PLACES.test(name.toLowerCase()) ||
    parts.some((part) => SETTINGS_FOLDERS.has(part) || VERSION_CONTROL.has(part))
  )
}

/** Splits a path into lower-case parts, as case-insensitive file systems compare them. */
function partsOf(name: string): string[] {
  return name.toLowerCase().split('/')
}

/** Programs that show names of files, but not their content. */
export const NAMING: ReadonlySet<string> = new Set(
  'ls stat test find fd tree du basename dirname realpath readlink echo printf pwd'.split(' '),
)
/** Programs that read, and write only with an option or a redirection. */
export const READING: ReadonlySet<string> = new Set(
  (
    'cat head tail wc file diff cmp grep egrep fgrep rg ag ack jq yq od hexdump strings nl bat sed sort uniq cut comm column ' +
    'md5sum sha1sum sha256sum sha512sum cksum b2sum'
  ).split(' '),
)
const READING_OF_GIT: ReadonlySet<string> = new Set('add blame commit diff grep log ls-files rm show status'.split(' '))
/** Programs whose first word is not a path. */
const SEARCHING: ReadonlySet<string> = new Set('grep egrep fgrep rg ag ack jq yq'.split(' '))

/** Returns the indexes of words that name guarded paths; the program itself has index 0. */
export function guardedWords(command: SimpleCommand, program: string): ReadonlySet<number> {
  // With a list of names in a file, these programs print lines that are not names, so they show content.
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

/** Returns the index of the search pattern, which may look like a path: `grep process.env`. */
function placeOfPattern(command: SimpleCommand, program: string): number {
  const from = program === 'git' ? command.findIndex(({ text }) => text === 'grep') : SEARCHING.has(program) ? 0 : -1
  const words = command.slice(from + 1)
  if (from === -1 || words.some(({ text }) => /^(?:-[a-z]*[ef]|--(?:regexp|file))/i.test(text))) return -1
  const first = words.findIndex(({ text }, index) => text === '-' || !text.startsWith('-') || words[index - 1]?.text === '--')
  return first === -1 ? -1 : first + from + 1
}

function isGuarded({ text, wild }: Word, isReading: boolean): boolean {
  // A glob may expand to any hidden file.
  if (wild !== 'no' && (/(?:^|[/=:@])\.[^/]*[*?[]/.test(text) || pathsIn(text).some(mayBecomeSecret))) return true
  return pathsIn(text).some((path) => isSecretWord(path) || (!isReading && decidesWhatRuns(path)))
}

/** Returns whether a glob may expand to a secret path: `config/secre*`. */
function mayBecomeSecret(path: string): boolean {
  const [, begin, end = ''] = /^([^*?[]+)[*?[](?:[^]*[*?\]])?([^*?\]]*)$/.exec(path.slice(path.lastIndexOf('/') + 1)) ?? []
  return begin !== undefined && mayBeSecretName(begin, end)
}

/** Returns the paths that a word may hold: `@.env`, `HEAD:.env`, `--file=.env`, `-C.git/hooks`. */
function pathsIn(text: string): string[] {
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(text)) return [text.replace(/[?#].*$/, '').replace(/[^/]*$/, '')]
  return [text, ...text.split(/[=:@,]/), text.replace(/^-[a-z]+(?=[./~])/i, '')].filter(
    (path) => path !== '' && !path.includes('\0'),
  )
}

/** Returns whether a word, which may also be a branch name or the like, looks like the path of a secret file. */
function isSecretWord(path: string): boolean {
  if (/\s/.test(path)) return false
  const name = path.slice(path.lastIndexOf('/') + 1)
  const looksLikePath = /^(?:~|\.{0,2}\/)/.test(path) || name.includes('.') || /^id_/i.test(name)
  if (looksLikePath) return isSecretPath(path)
  return isSecretPath(path) && !isSecretName(path)
}

/** Returns whether later commands run in another folder. */
export function changesFolder([name]: SimpleCommand): boolean {
  return ['cd', 'pushd', 'popd'].includes(name?.text ?? '')
}

/** Returns whether the folder changes the meaning of a command: relative program paths; without a sandbox, all but reading programs. */
export function followsFolder([name]: SimpleCommand, confined: boolean): boolean {
  const text = name?.text ?? ''
  if (text.includes('/') && !text.startsWith('/')) return true
  return !confined && !NAMING.has(text) && !READING.has(text) && text !== 'cd'
}
