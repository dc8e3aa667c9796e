/** Writes a unified diff of two texts. */

/** Above this number of comparisons, the differing middle part is shown as replaced as a whole. */
const MOST_WORK = 4_000_000
const CONTEXT = 3

type Edit = readonly [kind: ' ' | '-' | '+', line: string]

/**
 * Returns a unified diff; `''` for equal texts. A last line without a line end is marked as `diff` does.
 *
 * @param name file name in both headers.
 */
export function unifiedDiff(name: string, before: string, after: string): string {
  if (before === after) return ''
  const edits = editsBetween(linesOf(before), linesOf(after))
  const hunks = hunksOf(edits)
  return [`--- ${before === '' ? '/dev/null' : name}`, `+++ ${after === '' ? '/dev/null' : name}`, ...hunks].join('\n')
}

/** Counts the added and removed lines of a diff. */
export function countChanges(diff: string): { readonly added: number; readonly removed: number } {
  const lines = diff.split('\n').slice(2)
  return {
    added: lines.filter((line) => line.startsWith('+')).length,
    removed: lines.filter((line) => line.startsWith('-')).length,
  }
}

const NO_END = '\n\\ No newline at end of file'

function linesOf(text: string): string[] {
  if (text === '') return []
  const lines = text.split('\n')
  const last = lines.pop()
  return last === '' || last === undefined ? lines : [...lines, last + NO_END]
}

function editsBetween(before: readonly string[], after: readonly string[]): Edit[] {
  let start = 0
  const shortest = Math.min(before.length, after.length)
  while (start < shortest && before[start] === after[start]) start++
  let end = 0
  while (end < shortest - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
  const middle = between(before.slice(start, before.length - end), after.slice(start, after.length - end))
  const same = (line: string): Edit => [' ', line]
  return [...before.slice(0, start).map(same), ...middle, ...before.slice(before.length - end).map(same)]
}

/** Computes edits by the longest common subsequence, in a table. */
function between(before: readonly string[], after: readonly string[]): Edit[] {
  const width = after.length + 1
  if ((before.length + 1) * width > MOST_WORK) {
    return [...before.map((line): Edit => ['-', line]), ...after.map((line): Edit => ['+', line])]
  }
  // common[i * width + j]: lines that before from i and after from j have in common.
  const common = new Uint32Array((before.length + 1) * width)
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const here = i * width + j
      common[here] =
        before[i] === after[j] ? (common[here + width + 1] ?? 0) + 1 : Math.max(common[here + width] ?? 0, common[here + 1] ?? 0)
    }
  }
  const edits: Edit[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    const [old, young] = [before[i], after[j]]
    if (old !== undefined && old === young) {
      edits.push([' ', old])
      i++
      j++
    } else if (
      old !== undefined &&
      (young === undefined || (common[(i + 1) * width + j] ?? 0) >= (common[i * width + j + 1] ?? 0))
    ) {
      edits.push(['-', old])
      i++
    } else {
      edits.push(['+', young ?? ''])
      j++
    }
  }
  return edits
}

function hunksOf(edits: readonly Edit[]): string[] {
  const changed = edits.flatMap(([kind], index) => (kind === ' ' ? [] : [index]))
  const spans: [from: number, to: number][] = []
  for (const index of changed) {
    const last = spans.at(-1)
    if (last !== undefined && index - CONTEXT <= last[1]) last[1] = index + CONTEXT + 1
    else spans.push([Math.max(0, index - CONTEXT), index + CONTEXT + 1])
  }
  const lines: string[] = []
  let [at, old, young] = [0, 1, 1]
  for (const [from, to] of spans) {
    // Between hunks both texts are the same.
    old += from - at
    young += from - at
    const hunk = edits.slice(from, to)
    const removed = hunk.filter(([kind]) => kind !== '+').length
    const added = hunk.filter(([kind]) => kind !== '-').length
    const range = (first: number, count: number): string => `${count === 0 ? first - 1 : first},${count}`
    lines.push(`@@ -${range(old, removed)} +${range(young, added)} @@`)
    // One by one: spreading a whole file would exceed the maximum number of arguments.
    for (const [kind, line] of hunk) lines.push(kind + line)
    old += removed
    young += added
    at = from + hunk.length
  }
  return lines
}
