/** Patterns with `*` in them, matched in time that is linear in the text for each star: a pattern cannot hold up the process. */

/** Whether `pattern` describes all of `text`; `*` stands for any number of characters, everything else for itself. */
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

/** As `matchesGlob`, over the parts of a path: `**` stands for any number of parts, `*` stays inside one. */
export function matchesPath(pattern: string, path: string): boolean {
  const patterns = pattern.split('/')
  const parts = path.split('/')
  // reach[j]: the patterns so far describe the first j parts.
  let reach = [true, ...parts.map(() => false)]
  for (const each of patterns) {
    const next = [each === '**' && (reach[0] ?? false)]
    for (const [index, part] of parts.entries()) {
      next.push(
        each === '**'
          ? (reach[index + 1] ?? false) || (next[index] ?? false)
          : (reach[index] ?? false) && matchesGlob(each, part),
      )
    }
    reach = next
  }
  return reach.at(-1) ?? false
}

/** Whether a prohibition means a path. It does not look at case nor at how a letter is composed, as some file systems do not. */
export function isClosed(path: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => matchesPath(folded(pattern), folded(path)))
}

export function folded(path: string): string {
  return path.normalize('NFC').toLowerCase()
}

/** `https://example.org/docs/*`, or a host alone: `*.example.org`. `undefined` for a pattern that is neither. */
export function matchesUrl(pattern: string, url: URL): boolean | undefined {
  const parts = /^(?:(https?):\/\/)?([^/?#]*[^/?#:])(\/.*)?$/i.exec(pattern)
  if (parts === null) return undefined
  const [, protocol, host = '', path] = parts
  if (protocol !== undefined && `${protocol.toLowerCase()}:` !== url.protocol) return false
  const named = host.includes(':') && !host.endsWith(']') ? url.host : url.hostname
  if (!matchesGlob(host.toLowerCase(), named.replace(/\.$/, ''))) return false
  return path === undefined || matchesGlob(path, url.pathname + url.search)
}

/** For tools that do not say what they act on: `env=staging, region=eu-*`. `undefined` for a pattern of another form. */
export function matchesArguments(pattern: string, input: unknown): boolean | undefined {
  const conditions = pattern.split(',').map((condition) => /^\s*([\w.-]+)\s*=([^]*)$/.exec(condition))
  if (conditions.some((condition) => condition === null)) return undefined
  return conditions.every((condition) => {
    const [, name = '', expected = ''] = condition ?? []
    const value = typeof input === 'object' && input !== null ? (input as Record<string, unknown>)[name] : undefined
    return ['string', 'number', 'boolean'].includes(typeof value) && matchesGlob(expected.trim(), String(value))
  })
}
