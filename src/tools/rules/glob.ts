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
