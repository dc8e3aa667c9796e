import fc from 'fast-check'
import { expect, it } from 'vitest'
import { pageAt } from '../../core/store.ts'
import type { DocumentStore, ScoredChunk } from '../../core/store.ts'
import { mergePassages, tokensOfPassage } from './choose.ts'
import { widenPassages } from './widen.ts'

/** Chunks of a text, with gaps between them, under headings. */
const documents = fc
  .array(fc.record({ gap: fc.integer({ min: 0, max: 3 }), words: fc.integer({ min: 1, max: 40 }), part: fc.nat(2) }), {
    minLength: 1,
    maxLength: 14,
  })
  .map((pieces) => {
    let text = ''
    const chunks = pieces.map(({ gap, words, part }, at): ScoredChunk => {
      text += gap === 3 ? '\n\f\n' : '\n'.repeat(gap)
      const start = text.length
      text += Array.from({ length: words }, (_, word) => `w${at}x${word}`).join(' ')
      const [id, own, lines] = [`c${at}`, text.slice(start), text.slice(0, start).split('\n').length]
      return {
        id,
        source: 'a.md',
        text: own,
        start,
        end: text.length,
        lines: [lines, lines],
        headings: [`Part ${part}`],
        score: 1,
        metadata: { page: pageOf(text, start) },
      }
    })
    return { text, chunks }
  })

/** 1-based, of an offset into a text whose pages form feeds part. */
function pageOf(text: string, at: number): number {
  return text.slice(0, at).split('\f').length
}

function storeOf(text: string, chunks: readonly ScoredChunk[]): DocumentStore {
  const around: DocumentStore['around'] = (id, options) => {
    const at = chunks.findIndex((chunk) => chunk.id === id)
    const near = chunks.slice(Math.max(0, at - options.chunks), at + options.chunks + 1)
    const start = near[0]?.start ?? 0
    return Promise.resolve({ text: text.slice(start, near.at(-1)?.end), start, chunks: near })
  }
  return { name: 'fake', around } as Partial<DocumentStore> as DocumentStore
}

const { signal } = new AbortController()

it('a widened passage is one range of its source, overlaps no other, keeps its rank and its room', async () => {
  await fc.assert(
    fc.asyncProperty(
      documents,
      fc.array(fc.nat(13), { maxLength: 8 }),
      fc.record({ chunks: fc.nat(6), best: fc.nat(6), within: fc.constantFrom('section' as const, 'document' as const) }),
      fc.option(fc.nat(2000)),
      async ({ text, chunks }, ranks, options, room) => {
        const found = [...new Set(ranks)].flatMap((rank) => chunks[rank] ?? [])
        const passages = mergePassages([found]).lists[0] ?? []
        const before = passages.reduce((sum, passage) => sum + tokensOfPassage(passage), 0)
        const wide = await widenPassages(passages, storeOf(text, chunks), { ...options, room, signal })
        const after = wide.passages.reduce((sum, passage) => sum + tokensOfPassage(passage), 0)
        expect(after - before).toBeLessThanOrEqual(room ?? 2000)
        if (room !== null) expect(wide.left).toBe(room - (after - before))
        const ids = wide.passages.map(({ chunk }) => chunk.id)
        expect(ids).toEqual(found.map(({ id }) => id).filter((id) => ids.includes(id)))
        for (const [at, { chunk }] of wide.passages.entries()) {
          expect(text.slice(chunk.start, chunk.end)).toBe(chunk.text)
          expect(chunk.lines?.[0]).toBe(text.slice(0, chunk.start).split('\n').length)
          for (const at of [0, chunk.text.length]) expect(pageAt(chunk, at)).toBe(pageOf(text, chunk.start + at))
          for (const { chunk: other } of wide.passages.slice(at + 1))
            expect(chunk.start < other.end && other.start < chunk.end).toBe(false)
          if (options.within === 'section')
            for (const inside of chunks)
              if (chunk.start <= inside.start && inside.end <= chunk.end) expect(inside.headings).toEqual(chunk.headings)
        }
        // Nothing that was found is lost.
        for (const { start, end } of found)
          expect(wide.passages.some(({ chunk }) => chunk.start <= start && end <= chunk.end)).toBe(true)
      },
    ),
  )
})

it('an abort ends the wait for a store that never answers, and the error names a store that fails', async () => {
  const passages = mergePassages([[{ id: 'a', source: 'a', text: 'x', start: 0, end: 1, score: 1, metadata: {} }]]).lists[0] ?? []
  const abort = new AbortController()
  const store = (around: DocumentStore['around']): DocumentStore => ({ around }) as Partial<DocumentStore> as DocumentStore
  const waiting = widenPassages(
    passages,
    store(() => new Promise(() => {})),
    { room: null, signal: abort.signal },
  )
  abort.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
  const failing = widenPassages(
    passages,
    store(() => Promise.reject(new Error('broken'))),
    { room: null, signal },
  )
  await expect(failing).rejects.toMatchObject({ code: 'store_failed' })
})
