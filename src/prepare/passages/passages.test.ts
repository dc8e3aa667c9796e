import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { user } from '../../core/message.ts'
import type { ScoredChunk } from '../../core/store.ts'
import { choosePassages, composeRag } from '../compose.ts'
import { estimateMessageTokens } from '../tokens.ts'
import { mergePassages } from './choose.ts'

const chunk = (id: string, text: string, more: Partial<ScoredChunk> = {}): ScoredChunk => ({
  id,
  text,
  source: `${id}.md`,
  start: 0,
  end: text.length,
  score: 1,
  metadata: {},
  ...more,
})
const LONG =
  'The water mill beside the river was built by the town in the spring of the year 1874, and it ground the flour of all bakers of the valley until the great flood took its wheel and half of the wall.'
const idsOf = (chunks: readonly ScoredChunk[]): string[] =>
  mergePassages([chunks])
    .lists.flat()
    .map(({ chunk: { id } }) => id)

describe('mergePassages', () => {
  it('keeps the best of several passages with the same words, with the places of the others', () => {
    const { lists, merged } = mergePassages([
      [chunk('a', LONG), chunk('b', LONG.toUpperCase()), chunk('c', 'Something else.')],
      [chunk('m', `**${LONG}**`), chunk('a', LONG)],
    ])
    expect(lists.map((list) => list.map((passage) => passage.chunk.id))).toEqual([['a', 'c'], []])
    expect(lists[0]?.[0]?.alsoIn.map(({ source }) => source)).toEqual(['b.md', 'm.md'])
    expect(merged).toBe(2)
  })

  it.each<[what: string, a: ScoredChunk, b: ScoredChunk, kept: string]>([
    ['a part of a better one', chunk('a', `${LONG} More of it.`), chunk('b', LONG), 'a'],
    ['more than a better one', chunk('a', LONG), chunk('b', `${LONG} More of it.`), 'a,b'],
    ['another number', chunk('a', LONG), chunk('b', LONG.replace('1874', '1875')), 'a,b'],
    ['another word', chunk('a', LONG), chunk('b', LONG.replace('flood', 'storm')), 'a,b'],
    ['a short one under the same heading', chunk('a', 'See below.'), chunk('b', 'See below.'), 'a'],
    ['a short one under another', chunk('a', 'See below.', { headings: ['Cost'] }), chunk('b', 'See below.'), 'a,b'],
    ['a short part', chunk('a', LONG), chunk('b', 'the great flood'), 'a,b'],
    ['what was said', chunk('a', LONG, { spokenBy: 'user' }), chunk('b', LONG, { spokenBy: 'user' }), 'a,b'],
    ['signs alone', chunk('a', '---'), chunk('b', '***'), 'a,b'],
    ['Chinese', chunk('a', '我家的猫喜欢睡觉。'), chunk('b', '我家的猫 喜欢睡觉'), 'a'],
  ])('%s', (_, a, b, kept) => {
    expect(idsOf([a, b]).join()).toBe(kept)
  })

  it('merges thousands of duplicates', () => {
    const copies = Array.from({ length: 5000 }, (_, at) => chunk(`c${at}`, at % 2 === 0 ? LONG : `${LONG} Number ${at}.`))
    expect(idsOf(copies)).toHaveLength(2501)
  })
})

const texts = fc.array(fc.constantFrom('mill', 'river', 'flour', 'the', 'wheel', '1874', 'flood', 'Bruges'), { maxLength: 120 })
const chunks = fc
  .array(fc.tuple(texts, fc.constantFrom([], ['Cost'])), { maxLength: 25 })
  .map((all) => all.map(([words, headings], at) => chunk(`c${at}`, words.join(' '), { headings, score: 100 - at })))

describe('passages', () => {
  it('merging is idempotent and loses no text', () => {
    fc.assert(
      fc.property(chunks, chunks, (documents, memories) => {
        const { lists, merged } = mergePassages([documents, memories.map((each) => ({ ...each, id: `m${each.id}` }))])
        const again = mergePassages(lists.map((list) => list.map((passage) => passage.chunk)))
        expect(again.lists.map((list) => list.map((passage) => passage.chunk))).toEqual(
          lists.map((list) => list.map((passage) => passage.chunk)),
        )
        expect(again.merged).toBe(0)
        const places = lists.flat().flatMap((passage) => [passage.chunk.id, ...passage.alsoIn.map(({ id }) => id)])
        expect(places).toHaveLength(documents.length + memories.length)
        expect(new Set(places).size).toBe(places.length)
        expect(merged + lists.flat().length).toBe(places.length)
      }),
    )
  })

  it('QRY-RAG-014 never exceed their room, and have the markers 1 to n in order of rank', () => {
    fc.assert(
      fc.property(chunks, chunks, fc.integer({ min: 0, max: 3000 }), (documents, memories, room) => {
        const remembered = memories.map((each) => ({ ...each, id: `m${each.id}` }))
        const input = {
          system: '',
          history: [],
          question: user('Why?'),
          documents: { store: 'docs', chunks: documents },
          memories: { store: 'notes', chunks: remembered },
          passageTokens: room,
        }
        const chosen = choosePassages(input)
        const { processedMessages, grounding, documentsSent, memoriesSent, dropped } = composeRag(input)
        const passages = processedMessages.filter(({ retrieved }) => retrieved !== undefined)
        expect(passages.reduce((sum, message) => sum + estimateMessageTokens(message), 0)).toBeLessThanOrEqual(room)
        expect(grounding.passages.map(({ marker }) => marker)).toEqual(passages.map((_, at) => String(at + 1)))
        for (const [origin, all] of [
          ['docstore', documents],
          ['memory', remembered],
        ] as const) {
          const ids = grounding.passages.filter((passage) => passage.origin === origin).map((passage) => passage.chunk.id)
          expect(ids).toEqual(all.map(({ id }) => id).filter((id) => ids.includes(id)))
        }
        for (const { chunk: sent } of grounding.passages) {
          const source = [...documents, ...remembered].find(({ id }) => id === sent.id)?.text ?? ''
          expect(source.slice(sent.start, sent.end)).toBe(sent.text)
        }
        expect(documentsSent + memoriesSent + dropped + chosen.merged).toBe(documents.length + memories.length)
      }),
    )
  })

  it('QRY-RAG-014 a near duplicate of a better passage is placed after the others', () => {
    const found = [
      chunk('a', LONG),
      chunk('b', LONG.replace('flood', 'storm')),
      chunk('c', 'Bread is baked before dawn, from rye that grows behind the chapel, by three sisters who never speak at work.'),
    ]
    const kept = (passageTokens: number | null): string[] =>
      choosePassages({ documents: { store: 'd', chunks: found }, passageTokens }).documents.map((passage) => passage.chunk.id)
    expect(kept(null)).toEqual(['a', 'b', 'c'])
    expect(kept(1000)).toEqual(['a', 'b', 'c'])
    expect(kept(200)).toEqual(['a', 'c'])
    expect(kept(110)).toEqual(['a'])
  })

  it('QRY-RAG-014 sends the beginning of the best passage if not even that one fits', () => {
    const text = `${'line of words\n'.repeat(400)}end`
    const documents = { store: 'd', chunks: [chunk('a', text, { start: 10, end: 10 + text.length, lines: [5, 405] })] }
    const { documents: kept, dropped } = choosePassages({ documents, passageTokens: 200 })
    const [cut] = kept
    expect(dropped).toBe(0)
    expect(text.startsWith(cut?.chunk.text ?? 'none')).toBe(true)
    expect(cut?.chunk).toMatchObject({ start: 10, end: 10 + (cut?.chunk.text.length ?? 0), lines: [5, expect.any(Number)] })
    expect(cut?.chunk.text.length).toBeGreaterThan(300)
    expect(choosePassages({ documents, passageTokens: 20 }).documents).toEqual([])
  })
})
