/** Matches patterns without regular expressions, in time linear in the text for each star, so that a pattern cannot block the process. */

/** Returns whether `pattern` matches all of `text`; `*` matches any number of characters, all others match themselves. */
export function matchesGlob(pattern: string, text: string): boolean {
  const pieces = pattern.split('*')
  const first = pieces[0] ?? ''
  const last = pieces.at(-1) ?? ''
  if (pieces.length === 1) return pattern === text
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  const end = text.length - last.length
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at)
    if (found === -1 || found + piece.length > end) return false
    at = found + piece.length
  }
  return true
}

/** Matches the parts of a path as `matchesGlob` does: `**` matches any number of parts, `*` matches within a part. */
export function matchesPath(pattern: string, path: string): boolean {
  return matchesParts(pattern.split('/'), path.split('/'), matchesGlob)
}

/** Matches parts one by one, except that the pattern `**` matches any number of parts. */
function matchesParts<Pattern>(
  patterns: readonly (Pattern | '**')[],
  parts: readonly string[],
  matches: (pattern: Pattern, part: string) => boolean,
): boolean {
  // reach[j]: the patterns so far match the first j parts.
  let reach = [true, ...parts.map(() => false)]
  for (const pattern of patterns) {
    const next = [pattern === '**' && reach[0] === true]
    for (const [index, part] of parts.entries()) {
      next.push(
        pattern === '**' ? reach[index + 1] === true || next[index] === true : reach[index] === true && matches(pattern, part),
      )
    }
    reach = next
  }
  return reach.at(-1) ?? false
}

/** Returns whether a deny pattern matches a path. Ignores case and Unicode normalisation, as some file systems do. */
export function isClosed(path: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => matchesPath(folded(pattern), folded(path)))
}

export function folded(path: string): string {
  return path.normalize('NFC').toLowerCase()
}

/** Matches `https://example.org/docs/*` or a host alone, `*.example.org`. Returns `undefined` for a pattern of another form. */
export function matchesUrl(pattern: string, url: URL): boolean | undefined {
  const parts = /^(?:(https?):\/\/)?([^/?#]*[^/?#:])(\/.*)?$/i.exec(pattern)
  if (parts === null) return undefined
  const [, protocol, host = '', path] = parts
  if (protocol !== undefined && `${protocol.toLowerCase()}:` !== url.protocol) return false
  const named = host.includes(':') && !host.endsWith(']') ? url.host : url.hostname
  if (!matchesGlob(host.toLowerCase(), named.replace(/\.$/, ''))) return false
  return path === undefined || matchesGlob(path, url.pathname + url.search)
}

/** Matches arguments of tools without subjects: `env=staging, region=eu-*`. Returns `undefined` for a pattern of another form. */
export function matchesArguments(pattern: string, input: unknown): boolean | undefined {
  const conditions = pattern.split(',').map((condition) => /^\s*([\w.-]+)\s*=([^]*)$/.exec(condition))
  if (conditions.some((condition) => condition === null)) return undefined
  return conditions.every((condition) => {
    const [, name = '', expected = ''] = condition ?? []
    const value = typeof input === 'object' && input !== null ? (input as Record<string, unknown>)[name] : undefined
    return ['string', 'number', 'boolean'].includes(typeof value) && matchesGlob(expected.trim(), String(value))
  })
}

const MAX_ALTERNATIVES = 200

export interface GlobPattern {
  readonly negated: boolean
  readonly matches: (path: string) => boolean
}

/**
 * Parses a file name pattern of `.gitignore` and ripgrep: `*`, `?`, `[a-z]`, `{ts,tsx}`, and `**` for any number of folders. Without `/` it matches the name in any folder. A leading
 * `!` negates it.
 */
export function globPattern(pattern: string): GlobPattern {
  const negated = pattern.startsWith('!')
  const alternatives = alternativesOf(negated ? pattern.slice(1) : pattern).map((each) => {
    const path = each.replace(/^\.?\/+/, '')
    const rooted = each.startsWith('/') || path.replace(/\/$/, '').includes('/')
    // A folder pattern matches everything in the folder.
    const whole = path.endsWith('/') ? `${path}**` : path
    return (rooted ? whole : `**/${whole}`).split('/').map((part) => (part === '**' ? part : readTokens(part)))
  })
  return { negated, matches: (path) => alternatives.some((each) => matchesParts(each, path.split('/'), matchesName)) }
}

/** Expands `a{b,c}d` to `abd` and `acd`; braces may be nested. */
function alternativesOf(pattern: string): string[] {
  const done: string[] = []
  const left = [pattern]
  while (left.length > 0 && done.length < MAX_ALTERNATIVES) {
    const next = left.shift() ?? ''
    const braces = innermostBraces(next)
    if (braces === undefined || left.length > MAX_ALTERNATIVES) {
      done.push(next)
      continue
    }
    const [open, close] = braces
    for (const choice of next.slice(open + 1, close).split(',')) left.push(next.slice(0, open) + choice + next.slice(close + 1))
  }
  return done
}

function innermostBraces(pattern: string): [open: number, close: number] | undefined {
  const close = pattern.indexOf('}')
  const open = close === -1 ? -1 : pattern.lastIndexOf('{', close)
  return open === -1 ? undefined : [open, close]
}

type Token = '*' | ((char: string) => boolean)

/** Matches a name. Backtracks only to the last star: earlier tokens need not be matched again. */
function matchesName(tokens: readonly Token[], name: string): boolean {
  const chars = [...name]
  let [at, token, star, from] = [0, 0, -1, 0]
  while (at < chars.length) {
    const current = tokens[token]
    if (current === '*') {
      star = token++
      from = at
    } else if (current?.(chars[at] ?? '') === true) {
      at++
      token++
    } else if (star !== -1) {
      token = star + 1
      at = ++from
    } else return false
  }
  return tokens.slice(token).every((rest) => rest === '*')
}

function readTokens(pattern: string): Token[] {
  const tokens: Token[] = []
  const chars = [...pattern]
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? ''
    const close = char === '[' ? chars.indexOf(']', at + 2) : -1
    if (char === '*') tokens.push('*')
    else if (char === '?') tokens.push(() => true)
    else if (close !== -1) {
      tokens.push(oneOf(chars.slice(at + 1, close)))
      at = close
    } else {
      const literal = char === '\\' ? (chars[++at] ?? '') : char
      tokens.push((other) => other === literal)
    }
  }
  return tokens
}

function oneOf(chars: readonly string[]): (char: string) => boolean {
  const negated = chars[0] === '!' || chars[0] === '^'
  const set = negated ? chars.slice(1) : chars
  return (char) => {
    let found = false
    for (let at = 0; at < set.length; at++) {
      const [first = '', dash, last] = set.slice(at, at + 3)
      if (dash === '-' && last !== undefined) {
        found ||= first <= char && char <= last
        at += 2
      } else found ||= first === char
    }
    return found !== negated
  }
}
