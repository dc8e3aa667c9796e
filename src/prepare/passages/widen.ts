/** Extends found passages by the text around them. */

import type { JsonObject } from '../../core/json.ts'
import type { Chunk, DocumentSource, Surroundings } from '../../core/store.ts'
import { orAborted } from '../../util/promise.ts'
import { toCriaError } from '../../core/error.ts'
import { tokensOfPassage, placeOf } from './choose.ts'
import type { Passage } from './choose.ts'

/** Options for extending passages by the text around them. */
export interface WidenOptions {
  /** Maximum number of chunks before and after a passage; default 1. */
  readonly chunks?: number
  /** Number of best passages to extend; default 5. */
  readonly best?: number
  /** `section` stops at the boundaries of the passage's section, `document` does not. Default `section`. */
  readonly within?: 'section' | 'document'
}

/** Upper limit of `chunks`; more than any section has. */
const MOST_CHUNKS = 50
/** Maximum size of an extended passage in tokens, if the model's window is unknown. */
const UNKNOWN_ROOM = 2000

interface Widening extends WidenOptions {
  /** Room in tokens; `null`: unknown. */
  readonly room: number | null
  readonly signal: AbortSignal
}

export interface Widened {
  readonly passages: readonly Passage[]
  /** Remaining tokens. */
  readonly left: number | null
}

/**
 * Extends the best passages by whole chunks around them, as far as there is room. A passage remains one range of its source, so that
 * citations have a place. Text of another passage is not included twice; a passage contained in a better one is dropped.
 *
 * @throws CriaError `store_failed` if the store fails; an abort is rethrown unchanged.
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

/** Adds one chunk at a time, first after the passage: following text explains more often than preceding text. */
function widest(
  passage: Passage,
  around: Surroundings,
  { within, done, all, left }: Limits,
): { readonly passage: Passage; readonly tokens: number; readonly swallowed: readonly Passage[] } | undefined {
  const { chunk } = passage
  const at = around.chunks.findIndex(({ id }) => id === chunk.id)
  const own = around.chunks[at]
  // The passage was cut, or the store has changed meanwhile.
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

/** Adjusts `page` to the new beginning: subtracts the page breaks in the text that was prepended. */
function withPage({ metadata }: Chunk, before: string): JsonObject {
  const { page } = metadata
  return typeof page === 'number' && before.includes('\f')
    ? { ...metadata, page: page - before.split('\f').length + 1 }
    : metadata
}

/** Returns `true` for the same section or one below it. */
function isWithin(headings: readonly string[], section: readonly string[]): boolean {
  return section.every((heading, level) => headings[level] === heading)
}

function breaks(text: string): number {
  return text.match(/\r\n|\r|\n/g)?.length ?? 0
}
