/** The environment of commands that a model asks for: the user's, without what is secret in it. */

/** Parts of names that mean a secret, between underscores: `OPENAI_API_KEY`, `GITHUB_TOKEN`, `DB_PASSWORD`, `APIKEY`. */
const SECRET_NAME =
  /(?:^|_)(?:[A-Z0-9]*(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL)S?|(?:API|ACCESS|SECRET|PRIVATE|AUTH|SIGNING|ENCRYPTION|MASTER)?KEYS?|PASS|PWD|AUTH|COOKIE|PAT|DSN|SALT|PRIVATE|BEARER|SIGNATURE)(?:_|$)/i
/** They match, and are no secrets. */
const HARMLESS: ReadonlySet<string> = new Set(['PWD', 'OLDPWD', 'SSH_AUTH_SOCK', 'XAUTHORITY', 'GIT_SSH_KEY_TYPE'])
/** `postgres://user:password@host` */
const SECRET_VALUE = /:\/\/[^/\s:@]*:[^/\s@]+@/
/** Wherever our own requests go, and what they carry. */
const OWN =
  /^(?:CRIA_|OPENAI_|ANTHROPIC_|GOOGLE_GENERATIVE_AI_|OPENAI_COMPATIBLE_|OTEL_EXPORTER_OTLP_.*HEADERS$|AWS_(?:SECRET|SESSION)|NODE_OPTIONS$)/i

/** Nobody answers questions, and nobody looks at colours or pages. */
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
 * @param kept names of variables that commands get whatever they are called.
 */
export function commandEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  secretNames: readonly string[] = [],
  kept: readonly string[] = [],
): Record<string, string> {
  const hidden = new Set(secretNames)
  const values = new Set(secretNames.map((name) => env[name]))
  const passed = Object.entries(env).flatMap(([name, value]): [string, string][] => {
    if (value === undefined) return []
    if (kept.includes(name)) return [[name, value]]
    const isSecret = hidden.has(name) || values.has(value) || isSecretVariable(name, value)
    return isSecret ? [] : [[name, value]]
  })
  return withSafeGit({ ...Object.fromEntries(passed), ...QUIET })
}

/** Files that look like a repository without being called one make none: their configuration could name programs. */
function withSafeGit(env: Record<string, string>): Record<string, string> {
  const count = Number(env['GIT_CONFIG_COUNT'] ?? 0)
  if (!Number.isInteger(count) || count < 0) return env
  return {
    ...env,
    GIT_CONFIG_COUNT: String(count + 1),
    [`GIT_CONFIG_KEY_${count}`]: 'safe.bareRepository',
    [`GIT_CONFIG_VALUE_${count}`]: 'explicit',
  }
}

/** Values that commands do not get, to be kept out of what they print, too. What may be an ordinary word or a path is none. */
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
