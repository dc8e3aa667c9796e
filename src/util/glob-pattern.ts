/**
 * Matches file name patterns of `.gitignore` and ripgrep: `*`, `?`, `[a-z]`, `{ts,tsx}`, and `**` for any number of folders. Uses no
 * regular expressions, so the cost is at most the length of the pattern times that of the path.
 */

const MAX_ALTERNATIVES = 200

export interface GlobPattern {
  readonly negated: boolean
  readonly matches: (path: string) => boolean
}

/** Parses a pattern. Without `/` it matches the name in any folder. A leading `!` negates it. */
export function globPattern(pattern: string): GlobPattern {
  const negated = pattern.startsWith('!')
  const alternatives = alternativesOf(negated ? pattern.slice(1) : pattern).map((each) => {
    const path = each.replace(/^\.?\/+/, '')
    const rooted = each.startsWith('/') || path.replace(/\/$/, '').includes('/')
    // A folder pattern matches everything in the folder.
    const whole = path.endsWith('/') ? `${path}**` : path
    return (rooted ? whole : `**/${whole}`).split('/').map((part) => (part === '**' ? part : readTokens(part)))
  })
  return { negated, matches: (path) => alternatives.some((each) => matchesParts(each, path.split('/'))) }
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

function matchesParts(patterns: readonly ('**' | readonly Token[])[], parts: readonly string[]): boolean {
  // reach[j]: the patterns so far match the first j parts.
  let reach = [true, ...parts.map(() => false)]
  for (const pattern of patterns) {
    const next = [pattern === '**' && reach[0] === true]
    for (const [index, part] of parts.entries()) {
      const here =
        pattern === '**' ? reach[index + 1] === true || next[index] === true : reach[index] === true && matchesName(pattern, part)
      next.push(here)
    }
    reach = next
  }
  return reach.at(-1) ?? false
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
