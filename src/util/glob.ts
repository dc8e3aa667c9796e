/** Matches patterns with `*` in time linear in the text for each star, so that a pattern cannot block the process. */

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
  const patterns = pattern.split('/')
  const parts = path.split('/')
  // reach[j]: the patterns so far match the first j parts.
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
