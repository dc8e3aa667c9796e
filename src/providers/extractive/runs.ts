/** Builds runs: adjacent pieces of one section that may be shown as one block. */

import type { MatchedPiece, Reading } from './match.ts'
import type { Section } from './passage.ts'

export interface Run {
  readonly reading: Reading
  readonly section: Section
  readonly pieces: readonly MatchedPiece[]
  /** Index of its first piece in the passage. */
  readonly first: number
}

/** The size limit of a block. */
export interface Room {
  readonly words: number
  readonly lines: number
}

const ROOM: Room = { words: 110, lines: 18 }
/** Most pieces of a run; tables of figures have many short rows. */
const MOST_PIECES = 12
/** Words of prose per line on a page of ordinary width. */
const WORDS_PER_LINE = 14
/** Beginnings of sentences that refer to the previous text. */
const LEANS =
  /^(?:It|Its|This|That|These|Those|They|Their|He|She|His|Her|Such|But|However|Otherwise|Then|Also|Instead|Therefore|Thus|In this case|For example|As a result|Doing so)\b/

/** Returns all runs of a passage within the limit. A run with a bad start or end is left out if a better one fits. */
export function runsOf(reading: Reading): Run[] {
  const runs: Run[] = []
  const { pieces, passage } = reading
  for (const [first, start] of pieces.entries()) {
    const { section } = start.piece
    const room = new Filling(ROOM)
    for (let last = first; last < Math.min(pieces.length, first + MOST_PIECES); last++) {
      const end = pieces[last]
      if (end === undefined || end.piece.section !== section || (!room.takes(end) && last > first)) break
      room.add(end)
      if (!leansBack(first, room) && !leadsOn(last, room))
        runs.push({ reading, section, pieces: pieces.slice(first, last + 1), first })
    }
  }
  return runs

  /** Reports whether a piece needs the one before it: code, an item or a row its introduction, a pronoun its referent. */
  function leansBack(at: number, room: Filling): boolean {
    const [before, own] = [pieces[at - 1], pieces[at]]
    if (before === undefined || own === undefined || before.piece.section !== own.piece.section) return false
    const { kind, start } = own.piece
    return (before.piece.leadsIn || (kind === 'prose' && LEANS.test(passage.text.slice(start, start + 40)))) && room.takes(before)
  }

  function leadsOn(at: number, room: Filling): boolean {
    const [own, next] = [pieces[at], pieces[at + 1]]
    return own?.piece.leadsIn === true && next?.piece.section === own.piece.section && room.takes(next)
  }
}

/** Extends a run with the next pieces, then the previous ones, within the limit: in its own section and those below it. */
export function grown({ reading, section, pieces, first }: Run, limit: Room): Run {
  const all = reading.pieces
  const room = new Filling(limit)
  for (const piece of pieces) room.add(piece)
  let [from, to] = [first, first + pieces.length]
  for (;;) {
    const [next, before] = [all[to], all[from - 1]]
    if (next !== undefined && isWithin(next.piece.section, section) && room.takes(next)) {
      room.add(next)
      to++
    } else if (before?.piece.section === section && room.takes(before)) {
      room.add(before)
      from--
    } else break
  }
  // Drops trailing pieces that introduce a piece not shown.
  while (to > first + pieces.length && all[to - 1]?.piece.leadsIn === true) to--
  return { reading, section, pieces: all.slice(from, to), first: from }
}

function isWithin(section: Section, outer: Section): boolean {
  return (
    section === outer ||
    (section.headings.length > outer.headings.length && outer.headings.every((one, at) => section.headings[at] === one))
  )
}

export function overlap(a: Run, b: Run): boolean {
  return (
    a.reading.passage.marker === b.reading.passage.marker &&
    a.first < b.first + b.pieces.length &&
    b.first < a.first + a.pieces.length
  )
}

export function wordsOf(pieces: readonly MatchedPiece[]): number {
  return pieces.reduce((sum, { piece }) => sum + piece.words, 0)
}

class Filling {
  readonly #room: Room
  #words = 0
  #lines = 0

  constructor(room: Room) {
    this.#room = room
  }

  takes(piece: MatchedPiece): boolean {
    return this.#words + piece.piece.words <= this.#room.words && this.#lines + linesOf(piece) <= this.#room.lines
  }

  add(piece: MatchedPiece): void {
    this.#words += piece.piece.words
    this.#lines += linesOf(piece)
  }
}

function linesOf({ piece }: MatchedPiece): number {
  return piece.kind === 'code' ? piece.lines : Math.max(1, Math.ceil(piece.words / WORDS_PER_LINE))
}
