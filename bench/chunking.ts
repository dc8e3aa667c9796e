/**
 * Compares the quality of chunks with those of a recursive splitter (blank lines, lines, spaces).
 *
 *     node bench/chunking.ts DIR...      every .md file below the folders
 */

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { chunkDocument } from '../src/stores/chunk/chunk-document.ts'
import { markdownBlocks } from '../src/text/markdown-blocks.ts'

interface Piece {
  readonly start: number
  readonly text: string
}

type Splitter = (text: string) => Piece[]

const MAX = 2000
const splitters: Record<string, Splitter> = {
  cria: (text) => chunkDocument({ source: 'bench', text, format: 'markdown' }, { maxChars: MAX }),
  recursive: (text) => recursive(text, 0, ['\n\n', '\n', ' ', '']),
}

/** Implements the common recursive splitter: splits at the first separator, merges pieces that fit, splits larger pieces at the next separator. */
function recursive(text: string, offset: number, separators: readonly string[]): Piece[] {
  const [separator = '', ...finer] = separators
  const pieces: Piece[] = []
  let start = -1
  let end = -1
  const flush = (): void => {
    if (start !== -1) pieces.push({ start: offset + start, text: text.slice(start, end) })
    start = -1
  }
  let at = 0
  const parts = separator === '' ? (text.match(new RegExp(`[^]{1,${MAX}}`, 'g')) ?? []) : text.split(separator)
  for (const part of parts) {
    if (start !== -1 && at + part.length - start > MAX) flush()
    if (part.length > MAX && finer.length > 0) pieces.push(...recursive(part, offset + at, finer))
    else if (part.trim() !== '') {
      if (start === -1) start = at
      end = at + part.length
    }
    at += part.length + separator.length
  }
  flush()
  return pieces
}

const texts = process.argv
  .slice(2)
  .flatMap((folder) => globSync('**/*.md', { cwd: folder }).map((file) => join(folder, file)))
  .map((file) => readText(file))
  .filter((text) => text !== '')
const size = texts.reduce((sum, text) => sum + text.length, 0)
console.log(`${texts.length} files, ${(size / 1e6).toFixed(1)} M characters, chunks of at most ${MAX}`)

/** Fences, tables and lists that would fit into a chunk. */
const whole = texts.map((text) =>
  [...markdownBlocks(text, 0, text.length, '\n')].filter(
    ({ kind, start, end }) => (kind === 'fence' || kind === 'table' || kind === 'list') && end - start <= MAX,
  ),
)
const fitting = whole.reduce((sum, blocks) => sum + blocks.length, 0)

for (const [name, split] of Object.entries(splitters)) {
  const counts = { chunks: 0, chars: 0, over: 0, small: 0, midSentence: 0, openFence: 0, headingAlone: 0 }
  const began = performance.now()
  const all = texts.map((text) => split(text))
  const seconds = (performance.now() - began) / 1000
  let torn = 0
  for (const [index, pieces] of all.entries()) {
    const text = texts[index] ?? ''
    for (const { start, text: piece } of pieces) {
      counts.chunks++
      counts.chars += piece.length
      if (piece.length > MAX) counts.over++
      if (piece.length < 60) counts.small++
      if (beginsMidSentence(text, start)) counts.midSentence++
      if ((piece.match(/^[ \t>]*(?:```|~~~)/gm)?.length ?? 0) % 2 === 1) counts.openFence++
      if (/^#{1,6} [^\n]*$/.test(piece.trim())) counts.headingAlone++
    }
    const starts = pieces.map(({ start }) => start)
    torn += (whole[index] ?? []).filter((block) => starts.some((start) => start > block.start && start < block.end)).length
  }
  const share = (count: number): string => `${((100 * count) / counts.chunks).toFixed(2)} %`
  console.log(
    name.padEnd(10),
    `${(size / 1e6 / seconds).toFixed(0)} M/s, ${counts.chunks} chunks of ${Math.round(counts.chars / counts.chunks)}, over limit ${counts.over},`,
    `under 60 ${share(counts.small)}, begin in mid-sentence ${share(counts.midSentence)}, open fence ${share(counts.openFence)},`,
    `heading alone ${share(counts.headingAlone)}, torn although it would fit: ${torn} of ${fitting} fences, tables and lists`,
  )
}

/** Begins with a small letter, and neither a blank line nor the end of a sentence stands before it. */
function beginsMidSentence(text: string, start: number): boolean {
  const before = /(\S?)(\s*)$/.exec(text.slice(Math.max(0, start - 200), start))
  const first = /\S/.exec(text.slice(start, start + 80))?.[0] ?? ''
  return start > 0 && /\p{Ll}/u.test(first) && !/\n\s*\n/.test(before?.[2] ?? '') && !/[.!?:;…>)\]"`*]/.test(before?.[1] ?? '')
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
