import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Yielded } from '../../core/context.ts'
import { assistant, fromParts, retrieved, system, toolResult, user } from '../../core/message.ts'
import type { Message } from '../../core/message.ts'
import { compact } from './compact.ts'
import type { CompactContext, Compacted, Complete } from './compact.ts'
import { trim, unitsOf } from './plan.ts'
import type { Goal } from './plan.ts'
import { checkCompaction, outputReserve } from './room.ts'
import { shortened, withoutMiddle, transcripts } from './shorten.ts'

/** One token a character, and ten for a message. */
const tokensOf = ({ parts }: Message): number =>
  parts.reduce(
    (sum, part) => sum + ('text' in part ? part.text : 'content' in part ? part.content : JSON.stringify(part)).length,
    10,
  )
const size = (messages: readonly Message[]): number => messages.reduce((sum, message) => sum + tokensOf(message), 0)

let ids = 0
const scribe = (notes: string): Complete => ({ contextWindow: 10_000, ask: () => Promise.resolve(notes) })
const contextOf = (complete?: Complete): CompactContext =>
  ({
    createId: (kind: string) => `${kind}_${ids++}`,
    signal: new AbortController().signal,
    complete: () => complete,
  }) as unknown as CompactContext

async function compacted(
  messages: readonly Message[],
  goal: Partial<Goal> & Pick<Goal, 'target'>,
  turn: readonly Message[] = [],
  complete: Complete | undefined = scribe('Notes.'),
): Promise<{ readonly result: Compacted | undefined; readonly bodies: readonly Yielded[] }> {
  const station = compact(
    { messages, turn: new Set(turn.map(({ id }) => id)) },
    { limit: goal.target * 1.6, most: goal.limit ?? goal.target * 1.6, keepTurns: 2, ...goal },
    tokensOf,
    contextOf(complete),
  )
  const bodies: Yielded[] = []
  for (;;) {
    const next = await station.next()
    if (next.done === true) return { result: next.value, bodies }
    bodies.push(next.value)
  }
}

const call = (id: string) => ({ type: 'tool-call', id, name: 'look', input: {} }) as const
const result = (id: string, chars: number): Message => toolResult({ id, name: 'look', content: 'x'.repeat(chars) })
const passage = (marker: string): Message =>
  fromParts('user', [{ type: 'text', text: `Passage ${marker} ${'p'.repeat(300)}` }], {
    retrieved: retrieved({
      marker,
      origin: 'docstore',
      store: 's',
      chunk: { id: marker, text: '', source: 's', start: 0, end: 0, metadata: {}, score: 1 },
    }).retrieved,
  })

describe('compact', () => {
  it('ENG-CTX-002 keeps the first request, pinned messages and the last turns unchanged, and summarises the rest in its place', async () => {
    const pinned = fromParts('assistant', [{ type: 'text', text: `Pinned ${'a'.repeat(100)}` }], { pinned: true })
    const old = Array.from({ length: 6 }, (_, at) => [user(`Old ${at} ${'q'.repeat(100)}`), assistant('r'.repeat(300))]).flat()
    const last = [user('Before last?'), assistant('Yes.'), user('Last?'), assistant('No.')]
    const [rules, first, question] = [system('Rules.'), user('First.'), user('Now?')]
    const { result: made } = await compacted([rules, first, pinned, ...old, ...last, question], { target: 900 }, [
      rules,
      question,
    ])
    expect(made?.strategy).toBe('summarise')
    const kept = made?.messages.filter((message) => !message.summary)
    expect(kept?.slice(0, 3)).toEqual([rules, first, pinned])
    expect(kept?.slice(-5)).toEqual([...last, question])
    expect(made?.summary?.role).toBe('user')
    expect(made?.summary?.content).toContain('Notes.')
  })

  it('ENG-CTX-002 drops passages that were not cited, worst first, and never the question', async () => {
    const question = user(`Why? ${'q'.repeat(200)}`)
    const passages = ['1', '2', '3', '4'].map(passage)
    const called = [assistant([{ type: 'text', text: 'So says [2].' }, call('a')]), result('a', 20)]
    const { result: made } = await compacted([...passages, question, ...called], { target: 500, limit: 1000 }, [
      ...passages,
      question,
    ])
    expect(made?.messages).toEqual([passages[0], passages[1], question, ...called])
    const { result: most } = await compacted([...passages, question, ...called], { target: 10, limit: 10 }, [
      ...passages,
      question,
    ])
    expect(most?.messages).toEqual([passages[1], question, ...called])
  })

  it('ENG-CTX-002 asks for the summary in pieces that fit the model, and encloses summaries as data', async () => {
    const asked: string[] = []
    const complete: Complete = {
      contextWindow: 500,
      ask: (messages) => {
        asked.push(messages.at(-1)?.content ?? '')
        return Promise.resolve(`Notes ${asked.length}.`)
      },
    }
    const old = Array.from({ length: 8 }, (_, at) => assistant(`Fact ${at}. ${'f'.repeat(200)}`))
    const { result: made } = await compacted([user('First.'), ...old, user('Now?')], { target: 300 }, [], complete)
    expect(asked.length).toBeGreaterThan(1)
    for (const fact of [0, 3, 5]) expect(asked.join('\n')).toContain(`Fact ${fact}.`)
    // The notes hold text of tools and documents: they are data, like the transcript.
    expect(asked[1]).toMatch(/<<<([0-9a-f]+)\nNotes 1\.\n\1>>>[^]*<<<([0-9a-f]+)\n[^]*Fact [^]*\2>>>$/)
    expect(made?.summary?.content).toContain(`Notes ${asked.length}.`)
    expect(made?.summary?.content).toContain('is data')
  })

  it('ENG-CTX-002 drops recent messages before the summary of older ones', () => {
    const messages = [
      user('First.'),
      fromParts('user', [{ type: 'text', text: 'Summary so far.' }], { summary: true }),
      ...Array.from({ length: 4 }, (_, at) => assistant(`Recent ${at} ${'r'.repeat(200)}`)),
      user('Now?'),
    ]
    const units = unitsOf(messages, new Set(), tokensOf)
    const trimmed = trim({ units, recent: 2 }, { target: 100, limit: 320, most: 400, keepTurns: 0 }, tokensOf)
    const kept = trimmed.units.flatMap((unit) => unit.messages.map(({ content }) => content.slice(0, 8)))
    expect(kept).toContain('Summary ')
    expect(kept).not.toContain('Recent 0')
    expect(kept.at(-1)).toBe('Now?')
  })

  it('ENG-CTX-002 does not use a summary that is longer than the messages', async () => {
    const messages = [user('First.'), ...Array.from({ length: 6 }, () => assistant('short')), user('Now?')]
    const { result: made } = await compacted(messages, { target: 60, limit: 1000 }, [], scribe('long '.repeat(100)))
    expect(made).toBeUndefined()
  })

  it('ENG-CTX-002 asks for a summary only once the messages are longer than a summary may be', async () => {
    let asked = 0
    const complete: Complete = { contextWindow: 10_000, ask: () => Promise.resolve(`Notes ${++asked}.`) }
    const opening = user(`Read this: ${'o'.repeat(3000)}`)
    const question = user('And now?')
    const goal = { target: 1700, limit: 2700, most: 3900 }
    let said: Message[] = [opening]
    const sizes: number[] = []
    for (let turn = 0; turn < 40; turn++) {
      const { result: made } = await compacted([...said, question], goal, [question], complete)
      if (made !== undefined) sizes.push(made.messages.filter(({ summary }) => summary).length)
      if (made !== undefined) said = made.messages.slice(0, -1)
      said.push(user(`Question ${turn}?`), assistant('A short answer.'))
    }
    // The messages that stay exceed the limit but can be sent, so all of them are in each turn.
    expect(said[0]).toBe(opening)
    expect(asked).toBe(sizes.length)
    expect(asked).toBeGreaterThan(1)
    expect(asked).toBeLessThan(6)
  })

  describe('ENG-CTX-002 the opening message', () => {
    const opening = user(`Begin. ${'o'.repeat(5000)} End.`)
    const talk = [assistant('Read.'), user('Second?'), assistant('Yes.')]
    const question = user('And now?')
    const goal = { target: 2000, limit: 2700, most: 3500 }

    it('loses its middle if it could not be sent otherwise, and nothing else is dropped', async () => {
      const { result: made } = await compacted([system('Rules.'), opening, ...talk, question], goal, [question])
      const [rules, cut, ...rest] = made?.messages ?? []
      expect(made?.strategy).toBe('shorten')
      expect(made?.summary).toBeUndefined()
      expect(rules?.content).toBe('Rules.')
      expect(rest).toEqual([...talk, question])
      expect(cut?.id).toBe(opening.id)
      const [, head = '', left, tail = ''] =
        /^(Begin\. o+)\n\[… (\d+) characters of this message were left out to make room …\]\n(o+ End\.)$/.exec(
          cut?.content ?? '',
        ) ?? []
      expect(head.length + Number(left) + tail.length).toBe(opening.content.length)
      expect(size(made?.messages ?? [])).toBeLessThanOrEqual(goal.target)
      expect(size(made?.messages ?? [])).toBeGreaterThan(goal.target / 2)
    })

    it.each([
      ['it is pinned', [fromParts('user', opening.parts, { pinned: true }), ...talk, question], [question]],
      ['it is the question', [opening], [opening]],
      ['it can be sent', [user('o'.repeat(3000)), ...talk, question], [question]],
      ['it would not help', [opening, ...talk, user('q'.repeat(4000))], undefined],
    ])('stays as it is when %s', async (_, messages, turn) => {
      const last = messages.slice(-1)
      const { result: made } = await compacted(messages, goal, turn ?? last)
      const first = (made?.messages ?? messages)[0]
      expect(first).toBe(messages[0])
      expect((made?.messages ?? messages).slice(-1)).toEqual(last)
    })

    it('can lose more of it later, and still says how much is missing', () => {
      const twice = withoutMiddle(withoutMiddle(opening, 4000), 1500)
      expect(twice.content).toBe(withoutMiddle(opening, 1500).content)
      const parts = [...opening.parts, { type: 'image', mediaType: 'image/png', data: 'AAAA' } as const, ...opening.parts]
      const several = withoutMiddle(fromParts('user', parts), 2000)
      expect(several.content.match(/were left out/g)).toHaveLength(2)
      expect(several.parts[1]).toBe(parts[1])
      expect(withoutMiddle(several, 2000)).toBe(several)
      expect(withoutMiddle(opening, 5000)).toBe(opening)
    })
  })

  it('ENG-CTX-002 shrinks or stops, keeps calls with their results, and changes nothing the second time', async () => {
    const message: fc.Arbitrary<readonly Message[]> = fc.oneof(
      fc.nat(400).map((chars) => [user(`u${'u'.repeat(chars)}`)]),
      fc.nat(400).map((chars) => [assistant(`a${'a'.repeat(chars)}`)]),
      fc.tuple(fc.integer({ min: 1, max: 3 }), fc.nat(5000)).map(([calls, chars]) => {
        const made = Array.from({ length: calls }, () => call(`call_${ids++}`))
        return [assistant(made), ...made.map(({ id }) => result(id, chars))]
      }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(message, { maxLength: 12 }),
        fc.integer({ min: 50, max: 5000 }),
        fc.boolean(),
        fc.record({ chars: fc.nat(9000), pinned: fc.boolean(), most: fc.integer({ min: 50, max: 9000 }) }),
        async (said, target, writes, { chars, pinned, most }) => {
          const question = user('The question?')
          const opening = fromParts('user', [{ type: 'text', text: `o${'o'.repeat(chars)}` }], pinned ? { pinned } : {})
          const limit = Math.min(target * 1.6, most)
          const compactedTo = (given: readonly Message[]): ReturnType<typeof compacted> =>
            compacted(given, { target, limit, most }, [question], scribes)
          const messages = [system('Rules.'), opening, ...said.flat(), question]
          const scribes = writes ? scribe('Notes.') : undefined
          const { result: once } = await compactedTo(messages)
          if (once === undefined) return
          expect(size(once.messages)).toBeLessThan(size(messages))
          expect(once.messages).toContain(question)
          expect(once.messages[0]).toBe(messages[0])
          const [, beginning] = once.messages
          expect(beginning?.id).toBe(opening.id)
          if (pinned || size([opening, question]) + tokensOf(system('Rules.')) <= most) expect(beginning).toBe(opening)
          else if (beginning !== opening) {
            expect(size(once.messages.filter(({ summary }) => summary !== true))).toBeLessThanOrEqual(most)
          }
          for (const { messages: own } of unitsOf(once.messages, new Set(), tokensOf)) {
            const calls = own[0]?.toolCalls?.map(({ id }) => id) ?? []
            const results = own.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [part.id] : [])))
            expect(results).toEqual(calls)
          }
          let rounds = 0
          for (let next: Compacted | undefined = once; next !== undefined; rounds++) {
            const before: number = size(next.messages)
            next = (await compactedTo(next.messages)).result
            if (next !== undefined) expect(size(next.messages)).toBeLessThan(before)
          }
          expect(rounds).toBeLessThan(6)
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe('the parts of compaction', () => {
  it('ENG-CTX-002 tool output in outline keeps its beginning and its end, and files are named', () => {
    const long = toolResult({
      id: 'a',
      name: 'look',
      content: `begin ${'x'.repeat(5000)} end`,
      attachments: [{ type: 'image', mediaType: 'image/png', data: 'AAAA' }],
    })
    const { content, id } = shortened(long)
    expect(content).toMatch(
      /^begin x+\n\[… \d+ characters were left out to make room; call the tool again if you need them …\]\nx+ end\n\[1 attached/,
    )
    expect(content.length).toBeLessThan(1300)
    expect(id).toBe(long.id)
    const short = result('b', 900)
    expect(shortened(short)).toBe(short)
  })

  it('ENG-CTX-002 cuts a transcript between messages, and within a message only if it is longer than a piece', () => {
    const pieces = transcripts([user('a'.repeat(50)), assistant('b'.repeat(50)), user('c'.repeat(500))], 140)
    expect(pieces).toHaveLength(2)
    expect(pieces.every((piece) => piece.length <= 140)).toBe(true)
    expect(pieces[1]).toMatch(/^user: c+\n\[…\]\nc+$/)
  })

  it('ENG-CTX-002 reserves the requested output, else a share of the window, never more than half', () => {
    const unknown = { maxOutputTokens: null }
    expect(outputReserve({}, unknown, 100_000)).toBe(4096)
    expect(outputReserve({}, unknown, 8000)).toBe(2000)
    expect(outputReserve({}, { maxOutputTokens: 1000 }, 100_000)).toBe(1000)
    expect(outputReserve({ maxOutputTokens: 20_000 }, unknown, 100_000)).toBe(20_000)
    expect(outputReserve({ maxOutputTokens: 20_000 }, unknown, 30_000)).toBe(15_000)
  })

  it.each([{ at: 0 }, { at: 1.1 }, { to: 0.9 }, { at: 0.5, to: 0.6 }, { keepTurns: -1 }, { keepTurns: 0.5 }, { window: 0 }])(
    'ENG-CTX-002 refuses %o',
    (options) => {
      expect(() => checkCompaction(options)).toThrow(/context\.compaction/)
    },
  )
})
