/** Adds the text around a passage that was found. */

import type { JsonObject } from '../../core/json.ts'
import type { Chunk, DocumentSource, Surroundings } from '../../core/store.ts'
import { orAborted } from '../../util/promise.ts'
import { toCriaError } from '../../core/error.ts'
import { tokensOfPassage } from './pack.ts'
import { placeOf } from './merge.ts'
import type { Passage } from './merge.ts'

/** How passages grow by the text around them. */
export interface WidenOptions {
  /** Chunks before and after a passage, at most; default 1. */
  readonly chunks?: number
  /** How many of the best passages are widened; default 5. */
  readonly best?: number
  /** `section` stops where a heading begins or ends that the passage stands under, `document` does not. Default `section`. */
  readonly within?: 'section' | 'document'
}

/** More than any section has, for whoever wants the whole of it. */
const MOST_CHUNKS = 50
/** Where nobody knows how much a model can read, one passage becomes this many times as long at most, in tokens. */
const UNKNOWN_ROOM = 2000

interface Widening extends WidenOptions {
  /** Tokens; `null` when nobody knows. */
  readonly room: number | null
  readonly signal: AbortSignal
}

export interface Widened {
  readonly passages: readonly Passage[]
  /** Tokens that are left. */
  readonly left: number | null
}

/**
 * The best passages, each with the whole chunks around it that have room. A passage remains one range of its source, so that whatever is cited
 * in it has a place. What another passage holds already is not taken in twice; a passage that a better one has come to hold is left out.
 *
 * @throws CriaError `store_failed` when the store fails; an abort is passed on as it is.
 */
export async function widenPassages(
  passages: readonly Passage[],
  store: DocumentSource,
  { chunks = 1, best = 5, within = 'section', room, signal }: Widening,
): Promise<Widened> {
  const done: Passage[] = []
  const held: Passage[] = [...passages]
  let left = room ?? UNKNOWN_ROOM
  for (const passage of passages) {
    if (!held.includes(passage)) continue
    const around = done.length < best ? await surroundings(store, passage, Math.min(chunks, MOST_CHUNKS), signal) : undefined
    const wide = around === undefined ? undefined : widest(passage, around, { within, done, left, all: held })
    if (wide === undefined) {
      done.push(passage)
      continue
    }
    left -= wide.tokens
    for (const swallowed of wide.swallowed) held.splice(held.indexOf(swallowed), 1)
    done.push(wide.passage)
  }
  return { passages: done, left: room === null ? null : left }
}

async function surroundings(
  store: DocumentSource,
  { chunk }: Passage,
  chunks: number,
  signal: AbortSignal,
): Promise<Surroundings | undefined> {
  try {
    return await orAborted(Promise.resolve(store.around?.(chunk.id, { chunks, signal })), signal)
  } catch (thrown) {
    if (signal.aborted) throw signal.reason
    throw toCriaError(thrown, 'store_failed')
  }
}

interface Limits {
  readonly within: 'section' | 'document'
  readonly done: readonly Passage[]
  readonly all: readonly Passage[]
  readonly left: number
}

/** Grows by one chunk at a time, after the passage first: what follows explains more often than what precedes. */
function widest(
  passage: Passage,
  around: Surroundings,
  { within, done, all, left }: Limits,
): { readonly passage: Passage; readonly tokens: number; readonly swallowed: readonly Passage[] } | undefined {
  const { chunk } = passage
  const at = around.chunks.findIndex(({ id }) => id === chunk.id)
  const own = around.chunks[at]
  // A passage that was cut, or a store that has changed meanwhile.
  if (own === undefined || own.start !== chunk.start || own.end !== chunk.end) return undefined
  const isOpen = (index: number): boolean => {
    const next = around.chunks[index]
    if (next === undefined || next.source !== chunk.source) return false
    if (within === 'section' && !isWithin(next.headings ?? [], own.headings ?? [])) return false
    return !done.some(({ chunk: other }) => other.source === chunk.source && other.start < next.end && next.start < other.end)
  }
  let result: { passage: Passage; tokens: number; swallowed: readonly Passage[] } | undefined
  let [from, to] = [at, at]
  let [isBack, isForth] = [true, true]
  while (isBack || isForth) {
    for (const forward of [true, false]) {
      const next = forward ? to + 1 : from - 1
      const grown = (forward ? isForth : isBack) && isOpen(next) ? grownTo(forward ? [from, next] : [next, to]) : undefined
      if (grown === undefined || grown.tokens > left) {
        if (forward) isForth = false
        else isBack = false
        continue
      }
      result = grown
      if (forward) to = next
      else from = next
    }
  }
  return result

  function grownTo([first, last]: readonly [number, number]): typeof result {
    const start = around.chunks[first]?.start ?? chunk.start
    const end = around.chunks[last]?.end ?? chunk.end
    const swallowed = all.filter(
      (other) => other !== passage && other.chunk.source === chunk.source && start <= other.chunk.start && other.chunk.end <= end,
    )
    const text = around.text.slice(start - around.start, end - around.start)
    const lines = chunk.lines
    const before = around.text.slice(start - around.start, chunk.start - around.start)
    const firstLine = lines === undefined ? undefined : lines[0] - breaks(before)
    const grown: Passage = {
      ...passage,
      chunk: {
        ...chunk,
        text,
        start,
        end,
        metadata: withPage(chunk, before),
        ...(firstLine === undefined ? {} : { lines: [firstLine, firstLine + breaks(text)] }),
      },
      alsoIn: [...passage.alsoIn, ...swallowed.flatMap(({ chunk: other, alsoIn }) => [placeOf(other), ...alsoIn])],
    }
    const freed = swallowed.reduce((sum, other) => sum + tokensOfPassage(other), 0)
    return { passage: grown, tokens: tokensOfPassage(grown) - tokensOfPassage(passage) - freed, swallowed }
  }
}

/** The page is that of the beginning: fewer by those that begin in what was put before. */
function withPage({ metadata }: Chunk, before: string): JsonObject {
  const { page } = metadata
  return typeof page === 'number' && before.includes('\f')
    ? { ...metadata, page: page - before.split('\f').length + 1 }
    : metadata
}

/** The same section, or one below it. */
function isWithin(headings: readonly string[], section: readonly string[]): boolean {
  return section.every((heading, level) => headings[level] === heading)
}

function breaks(text: string): number {
  return text.match(/\r\n|\r|\n/g)?.length ?? 0
}
