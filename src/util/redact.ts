/** Removes secrets from text that is shown, logged or stored. */

const MASK = '[redacted]'

/** Shorter values are not masked, because that would mask ordinary words. */
const SHORTEST_SECRET = 6

/**
 * Well-known shapes of secrets. `$1` keeps a prefix that shows the kind of secret.
 * Keys: OpenAI and Anthropic `sk-…`, Google `AIza…`, Groq `gsk_…`, xAI `xai-…`, Hugging Face `hf_…`, GitHub `ghp_…`, AWS `AKIA…`.
 */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b(sk-|gsk_|xai-|hf_|pplx-|nvapi-|r8_|gh[pousr]_|github_pat_|glpat-|xox[abprs]-)[\w-]{8,}/g, `$1${MASK}`],
  [/\b(AIza)[\w-]{20,}/g, `$1${MASK}`],
  [/\b(AKIA|ASIA)[A-Z0-9]{12,}/g, `$1${MASK}`],
  // Lengths are bounded, and the scheme is anchored at its first letter, to avoid quadratic time on long texts.
  [/\b(eyJ)[\w-]{8,2000}\.[\w-]{8,}\.[\w-]*/g, `$1${MASK}`],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${MASK}`],
  [/([?&](?:key|api[-_]?key|access[-_]?token|token|sig|signature|password|secret)=)[^&\s"'<>]+/gi, `$1${MASK}`],
  [
    /((?:x-api-key|api-key|x-goog-api-key|api[-_]key|authorization|cookie)["']?\s*[:=]\s*["']?)(?!Bearer\b|Basic\b)[^\s"',;}]{6,}/gi,
    `$1${MASK}`,
  ],
  [/(\b\w+:\/\/[^\s:/@]+:)[^\s/@]+(@)/g, `$1${MASK}$2`],
]

/**
 * Masks the given secret values (also percent-encoded) and everything with the shape of a well-known secret.
 * Ignores values of fewer than six characters.
 */
export function redact(text: string, secrets: readonly (string | undefined)[] = []): string {
  let clean = text
  for (const secret of secrets) {
    if (secret === undefined || secret.length < SHORTEST_SECRET) continue
    clean = clean.replaceAll(secret, MASK)
    const encoded = encodeURIComponent(secret)
    if (encoded !== secret) clean = clean.replaceAll(encoded, MASK)
  }
  for (const [pattern, replacement] of PATTERNS) clean = clean.replace(pattern, replacement)
  return clean
}

/** Applies `redact` to every string in a JSON value, at any depth. Names of members are not changed. */
export function redactJson<T>(value: T, secrets: readonly (string | undefined)[] = []): T {
  const root = { value: value as unknown }
  const waiting: [holder: object, name: string][] = [[root, 'value']]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [holder, name] = next
    const each: unknown = Reflect.get(holder, name)
    if (typeof each === 'string') put(holder, name, redact(each, secrets))
    if (typeof each !== 'object' || each === null) continue
    const copy: object = Array.isArray(each) ? [...(each as readonly unknown[])] : { ...each }
    put(holder, name, copy)
    for (const member of Object.keys(copy)) waiting.push([copy, member])
  }
  return root.value as T
}

/** Sets a member, also when its name is `__proto__`. */
function put(holder: object, name: string, value: unknown): void {
  Object.defineProperty(holder, name, { value, writable: true, enumerable: true, configurable: true })
}

/** Returns a URL without user, password, query and fragment, any of which may hold a key. */
export function shownUrl(url: string): string {
  if (!URL.canParse(url)) return redact(url)
  const { protocol, host, pathname } = new URL(url)
  return host === '' ? redact(url) : `${protocol}//${host}${pathname === '/' && !url.endsWith('/') ? '' : pathname}`
}
