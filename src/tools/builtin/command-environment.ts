/** Builds the environment of commands: that of the user, without secrets, and with git settings that disable programs named by a repository. */

import { gitVariables, HARMLESS_GIT } from '../../util/environment.ts'
import type { SandboxKind } from '../../core/tool.ts'
import type { GitSettings } from '../../util/environment.ts'
import { join } from 'node:path'

/** Matches names of secrets by their parts between underscores: `OPENAI_API_KEY`, `GITHUB_TOKEN`, `DB_PASSWORD`, `APIKEY`. */
const SECRET_NAME =
  /(?:^|_)(?:[A-Z0-9]*(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL)S?|(?:API|ACCESS|SECRET|PRIVATE|AUTH|SIGNING|ENCRYPTION|MASTER)?KEYS?|PASS|PWD|AUTH|COOKIE|PAT|DSN|SALT|PRIVATE|BEARER|SIGNATURE)(?:_|$)/i
/** Names that match, but are not secrets. */
const HARMLESS: ReadonlySet<string> = new Set(['PWD', 'OLDPWD', 'SSH_AUTH_SOCK', 'XAUTHORITY', 'GIT_SSH_KEY_TYPE'])
/** `postgres://user:password@host` */
const SECRET_VALUE = /:\/\/[^/\s:@]*:[^/\s@]+@/
/** Variables that configure cria itself, its requests and its credentials. */
const OWN =
  /^(?:CRIA_|OPENAI_|ANTHROPIC_|GOOGLE_GENERATIVE_AI_|OPENAI_COMPATIBLE_|OTEL_EXPORTER_OTLP_.*HEADERS$|AWS_(?:SECRET|SESSION)|NODE_OPTIONS$)/i

/** Disables prompts, colours and pagers. */
const QUIET: Readonly<Record<string, string>> = {
  TERM: 'dumb',
  NO_COLOR: '1',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  GIT_EDITOR: 'false',
  EDITOR: 'false',
  VISUAL: 'false',
}

/**
 * @param secretNames of variables that hold keys under names of the user's choice.
 * @param kept names of variables that commands receive even if they look like secrets.
 * @param settings git settings that override those of every repository.
 */
export function commandEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  secretNames: readonly string[] = [],
  kept: readonly string[] = [],
  settings: GitSettings = SAFE_GIT,
): Record<string, string> {
  const hidden = new Set(secretNames)
  const values = new Set(secretNames.map((name) => env[name]))
  const passed = Object.entries(env).flatMap(([name, value]): [string, string][] => {
    if (value === undefined) return []
    if (kept.includes(name)) return [[name, value]]
    const isSecret = hidden.has(name) || values.has(value) || isSecretVariable(name, value)
    return isSecret ? [] : [[name, value]]
  })
  const plain = passed.filter(([name]) => !GIT_SETTING.test(name))
  const isDeclared = (name: string): boolean => env[name] !== undefined && (hidden.has(name) || values.has(env[name]))
  return { ...Object.fromEntries(plain), ...QUIET, ...gitSettings(env, isDeclared, settings) }
}

/** Variables that tools need to find themselves and their settings; no others are passed into a sandbox. */
const OF_SANDBOX =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|PWD|OLDPWD|TZ|TERM|LANG|LANGUAGE|LC_\w+|CI|NODE_ENV|DEBUG|COLUMNS|LINES|HOSTNAME|NO_COLOR|FORCE_COLOR|XDG_\w+|NVM_\w+|VIRTUAL_ENV|CONDA_\w+|PYTHON\w+|GO\w+|CARGO_\w+|RUST\w+|JAVA_\w+|npm_config_(?:cache|registry)|(?:HTTPS?|NO|ALL)_PROXY|https?_proxy|no_proxy|SSL_CERT_\w+|NODE_EXTRA_CA_CERTS|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|GIT_(?:CONFIG_\w+|PAGER|EDITOR|TERMINAL_PROMPT|AUTHOR_\w+|COMMITTER_\w+)|PAGER|MANPAGER|EDITOR|VISUAL|\w+_(?:HOME|ROOT|DIR|PREFIX))$/

/** Returns the part of a command's environment that is passed into a sandbox. @param kept see `commandEnvironment`. */
export function sandboxEnvironment(
  env: Readonly<Record<string, string>>,
  kept: readonly string[] = [],
  kind: SandboxKind = 'bubblewrap',
): Record<string, string> {
  const passed = Object.entries(env).filter(([name]) => OF_SANDBOX.test(name) || kept.includes(name))
  // Only bubblewrap mounts another folder at `/tmp`.
  return { ...Object.fromEntries(passed), ...(kind === 'bubblewrap' ? { TMPDIR: '/tmp' } : {}) }
}

const GIT_SETTING = /^GIT_CONFIG_(?:COUNT|(?:KEY|VALUE)_\d+)$/
/** Matches names of git settings that may hold a secret. */
const SECRET_SETTING = /extraheader|password|token|secret|credential|cookie/i
/** Without `core.hooksPath`: hooks are the user's own, and a sandbox confines them. */
const SAFE_GIT: GitSettings = HARMLESS_GIT.filter(([key]) => key !== 'core.hooksPath')

/**
 * Renumbers git settings (`GIT_CONFIG_KEY_n`): a gap in their numbers would make every git command fail.
 *
 * @param isDeclared returns true for variables that were declared to be secrets.
 */
function gitSettings(
  env: Readonly<Record<string, string | undefined>>,
  isDeclared: (name: string) => boolean,
  settings: GitSettings,
): Record<string, string> {
  const given = Number(env['GIT_CONFIG_COUNT'] ?? 0)
  const own = Array.from({ length: given >= 0 && given <= MAX_SETTINGS ? Math.floor(given) : 0 }, (_, index) => {
    const names = [`GIT_CONFIG_KEY_${index}`, `GIT_CONFIG_VALUE_${index}`]
    return names.some(isDeclared) ? [] : names.map((name) => env[name] ?? '')
  }).filter(([key = '', value = '']) => key !== '' && !SECRET_SETTING.test(key) && !SECRET_VALUE.test(`${key} ${value}`))
  return gitVariables([...own.map(([key = '', value = '']) => [key, value] as const), ...settings])
}

const MAX_SETTINGS = 1000

/** Returns the hidden values, to be masked in the output of commands. Excludes values that may be ordinary words or paths. */
export function hiddenValues(
  env: Readonly<Record<string, string | undefined>>,
  passed: Readonly<Record<string, string>>,
  secretNames: readonly string[] = [],
): readonly string[] {
  const known = new Set(Object.values(passed))
  const hidden = Object.entries(env).flatMap(([name, value]) => {
    if (value === undefined || known.has(value) || value.length < SHORTEST_SECRET) return []
    if (!secretNames.includes(name) && !SECRET_NAME.test(name) && !SECRET_VALUE.test(value)) return []
    return /^(?:[a-z]+|[A-Z][a-z]+|[./~].*)$/.test(value) ? [] : [value]
  })
  return [...new Set(hidden)]
}

const SHORTEST_SECRET = 8

function isSecretVariable(name: string, value: string): boolean {
  if (HARMLESS.has(name.toUpperCase())) return false
  return OWN.test(name) || SECRET_NAME.test(name) || SECRET_VALUE.test(value)
}

/** Matches git settings that name a program, or a place to find one. */
const PROGRAMS =
  /^(?:filter\..*\.(?:clean|smudge|process|required)|diff\..*\.(?:command|textconv)|diff\.external|merge\..*\.driver|(?:diff|merge)tool\..*|alias\..*|core\.(?:sshcommand|pager|editor|askpass|gitproxy|alternaterefscommand|attributesfile)|credential\..*|gpg\..*|sequence\.editor|interactive\.difffilter|remote\..*\.(?:uploadpack|receivepack|vcs|proxy)|submodule\..*\.update|trailer\..*\.(?:command|cmd)|uploadpack\..*|url\..*|web\..*|browser\..*|man\..*|help\..*|pager\..*|sendemail\..*|protocol\..*|lfs\..*|core\.worktree)$/is
const PATIENCE = 2000
const MOST_BYTES = 1 << 20

/** @param repositories paths of folders `.git`. */
export async function repositorySettings(repositories: readonly string[]): Promise<GitSettings> {
  const keys = await Promise.all(repositories.map((data) => keysOf(join(data, 'config'))))
  const named = [...new Set(keys.flat())].filter((key) => PROGRAMS.test(key))
  return [...HARMLESS_GIT, ...named.map((key) => [key, /\.required$/i.test(key) ? 'false' : ''] as const)]
}

/** Returns the names of git settings in a file and its includes. Git reads them, and does not run any program for that. */
function keysOf(file: string): Promise<readonly string[]> {
  return new Promise((resolve) => {
    const words = ['config', '--file', file, '--includes', '--null', '--name-only', '--list']
    const options = {
      timeout: PATIENCE,
      maxBuffer: MOST_BYTES,
      cwd: '/',
      env: { PATH: '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin' },
    }
    // A file that git cannot read does not name a program for git either.
    const { execFile } = process.getBuiltinModule('node:child_process')
    execFile('git', words, options, (_error, output) => resolve(output.split('\0').filter((key) => key !== '')))
  })
}
