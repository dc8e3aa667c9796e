/** Tests feedback from the request for two answers to the preference data set. */

import { describe, expect, it } from 'vitest'
import { tool } from '../../test/calls.ts'
import { journalForEach } from '../../test/support/journal.ts'
import { CriaError } from '../core/error.ts'
import type { Recorder } from '../core/recorder.ts'
import { preferencePairs, preferenceStats } from '../eval/port.ts'
import { ResponseCache } from '../model/response-cache.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import type { SqliteRecorder } from '../recorders/sqlite/recorder.ts'
import { collectFeedback } from './feedback.ts'
import type { BlindPair, Chosen, FeedbackOptions, Side } from './feedback.ts'
import { query } from './query.ts'

let recorder: SqliteRecorder
journalForEach((opened) => {
  recorder = opened
})

const saying = (ref: string, ...answers: string[]): ScriptedModel => new ScriptedModel(answers, { ref })
/** Shows the models in the order given. */
const inOrder = (): number => 0
const swapped = (): number => 0.9

const base = (choose: () => Chosen, more: Partial<FeedbackOptions> = {}): FeedbackOptions => ({
  query: { prompt: 'Why?', system: 'Be brief.' },
  models: [saying('a/one', 'Because.'), saying('b/two', 'So.')],
  choose,
  recorder,
  random: inOrder,
  now: () => 5,
  ...more,
})

describe('collectFeedback', () => {
  it('ENG-FEED-001 records both answers, their order, the choice and its reason', async () => {
    const seen: [string, Side | undefined][] = []
    let pair: BlindPair | undefined
    const feedback = await collectFeedback({
      ...base(() => undefined),
      random: swapped,
      onEvent: (event, side) => seen.push([event.type, side]),
      choose: (given) => {
        pair = given
        return { choice: 'second', comment: 'It gives a reason.' }
      },
    })
    expect(pair).toMatchObject({ question: 'Why?', first: { text: 'So.' }, second: { text: 'Because.' } })
    // Blind: the pair must not reveal the models.
    expect(JSON.stringify(pair)).not.toMatch(/a\/one|b\/two/)
    expect(feedback).toMatchObject({ choice: 'second', first: { model: 'b/two' }, second: { model: 'a/one' } })
    const { first, second } = feedback
    expect(feedback.event).toEqual({
      type: 'feedback',
      choice: 'second',
      preferred: second.turnId,
      rejected: first.turnId,
      comment: 'It gives a reason.',
    })
    expect(recorder.read.feedback()).toEqual([
      {
        at: 5,
        choice: 'second',
        first: first.turnId,
        second: second.turnId,
        question: 'Why?',
        details: {
          verdict: 'second',
          models: { first: 'b/two', second: 'a/one' },
          order: 'random',
          comment: 'It gives a reason.',
        },
      },
    ])
    expect(recorder.read.turn(first.turnId)?.turn).toMatchObject({ status: 'done', text: 'So.' })
    expect(seen.at(-1)).toEqual(['feedback', undefined])
    for (const side of ['first', 'second'] as const)
      expect(seen.filter((each) => each[1] === side).map(([type]) => type)).toEqual([
        'start',
        'text_delta',
        'usage',
        'message',
        'complete',
      ])
  })

  it('ENG-FEED-001 requests both answers at the same time', async () => {
    const { promise: bothAsked, resolve } = Promise.withResolvers<void>()
    let asked = 0
    const before = (): Promise<void> => {
      if (++asked === 2) resolve()
      return bothAsked
    }
    const model = (ref: string): ScriptedModel =>
      new ScriptedModel([{ text: 'Hm.', before: (part) => (part === 0 ? before() : undefined) }], { ref })
    await collectFeedback(base(() => 'tie', { models: [model('a/one'), model('b/two')] }))
    expect(asked).toBe(2)
  })

  it('ENG-FEED-001 two samples of one model are two requests, even with a cache', async () => {
    const model = saying('a/one', 'One.', 'Two.')
    const cache = new ResponseCache()
    for await (const _ of query({ prompt: 'Why?', model: saying('a/one', 'One.'), cache })) void _
    const { models: _, ...options } = base(() => 'tie')
    const feedback = await collectFeedback({ ...options, samples: { model } })
    expect(model.requests).toHaveLength(2)
    expect([feedback.first.text, feedback.second.text].toSorted()).toEqual(['One.', 'Two.'])
    expect(feedback.event).toMatchObject({ choice: 'none', reason: 'tie', preferred: null, rejected: null })
  })

  it('ENG-FEED-001 runs read-only tools, but no others', async () => {
    const ran: string[] = []
    const look = tool('look', () => (ran.push('look'), 'seen'), { isReadOnly: true })
    const write = tool('write', () => (ran.push('write'), 'written'))
    const model = (): ScriptedModel =>
      new ScriptedModel(
        [
          {
            toolCalls: [
              { name: 'look', input: {} },
              { name: 'write', input: {} },
            ],
          },
          'Done.',
        ],
        { ref: 'a/one' },
      )
    const models = [model(), model()] as const
    await collectFeedback(
      base(() => 'both_bad', {
        query: { prompt: 'Go', tools: [look, write], rules: { allow: ['write'] }, hasPermissionsToUseTool: () => true },
        models,
      }),
    )
    expect(ran).toEqual(['look', 'look'])
    expect(JSON.stringify(models[0].requests[1]?.messages)).toContain('Permission denied')
  })

  it('ENG-FEED-001 reads a session, and adds neither answer to it', async () => {
    for await (const _ of query({ prompt: 'My name is Ida.', model: saying('a/one', 'Hello.'), recorder, sessionId: 's' })) void _
    const models = [saying('a/one', 'Ida.'), saying('b/two', 'No idea.')] as const
    await collectFeedback(base(() => 'first', { query: { prompt: 'Who am I?', sessionId: 's' }, models }))
    for (const { requests } of models)
      expect(requests[0]?.messages.map(({ content }) => content)).toEqual(['My name is Ida.', 'Hello.', 'Who am I?'])
    expect(recorder.read.history('s')).toHaveLength(2)
  })

  it('ENG-FEED-001 a failed answer aborts the other, and no choice is recorded', async () => {
    const failing = new ScriptedModel([{ fail: { after: 0, error: new CriaError('auth', 'No key.') } }], { ref: 'a/one' })
    const hanging = new ScriptedModel([{ text: ['Half'], hang: { after: 1 } }], { ref: 'b/two' })
    await expect(collectFeedback(base(() => 'first', { models: [failing, hanging] }))).rejects.toMatchObject({ code: 'auth' })
    expect(hanging.open).toBe(0)
    expect(recorder.read.feedback()).toEqual([])
    expect(
      recorder.read
        .turns()
        .turns.map(({ status }) => status)
        .toSorted(),
    ).toEqual(['cancelled', 'failed'])
  })

  it('ENG-FEED-001 records nothing without a choice, and rejects an invalid choice', async () => {
    expect(await collectFeedback(base(() => undefined))).toMatchObject({ choice: null, event: null })
    await expect(
      collectFeedback(base(() => 'left' as never, { models: [saying('a/one', '1'), saying('b/two', '2')] })),
    ).rejects.toThrow('`choose` must return one of first, second, tie, both_bad, but returned "left".')
    expect(recorder.read.feedback()).toEqual([])
  })

  it.each([new Error('Lunch.'), 'Lunch.', new DOMException('Lunch.', 'AbortError')])(
    'ENG-FEED-001 rejects with a CriaError when the caller aborts during the choice: %s',
    async (reason) => {
      const stop = new AbortController()
      const choose = (): Promise<Chosen> => {
        stop.abort(reason)
        return new Promise(() => {})
      }
      const query = { prompt: 'Why?', abortSignal: stop.signal }
      await expect(collectFeedback({ ...base(() => 'tie'), choose, query })).rejects.toMatchObject({
        name: 'AbortError',
        code: 'aborted',
        message: 'Lunch.',
      })
      expect(recorder.read.feedback()).toEqual([])
    },
  )

  it.each<[string, object, RegExp]>([
    ['a model in the query', { query: { prompt: 'Why?', model: 'a/b' } }, /`query\.model` cannot be compared/],
    ['a cache', { query: { prompt: 'Why?', cache: true } }, /`query\.cache` cannot be compared/],
    ['one model', { models: ['a/b'] }, /must hold two models/],
    ['models and samples', { samples: {} }, /exclude each other/],
    ['no function for the choice', { choose: undefined }, /needs `choose`/],
    ['an unknown option', { model: 'a/b' }, /has no option `model`/],
  ])('ENG-FEED-001 %s is refused before any request', async (_, change, message) => {
    await expect(collectFeedback({ ...base(() => 'tie'), ...change })).rejects.toThrow(message)
    expect(recorder.read.turns().turns).toEqual([])
  })
})

/** Records these choices: winner, loser, and whether the winner was shown first. */
async function chosen(choices: readonly [winner: string, loser: string, first: boolean][]): Promise<void> {
  for (const [winner, loser, first] of choices) {
    await collectFeedback(
      base(() => (first ? 'first' : 'second'), {
        models: [saying(winner, 'Good.'), saying(loser, 'Bad.')],
        random: first ? inOrder : swapped,
      }),
    )
  }
}

describe('preferences', () => {
  it('ENG-FEED-001 are exported as pairs, with the whole prompt', async () => {
    await chosen([['a/one', 'b/two', false]])
    await collectFeedback(base(() => 'tie'))
    const pairs = await Array.fromAsync(preferencePairs(recorder.read))
    expect(pairs).toMatchObject([
      {
        prompt: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Why?' },
        ],
        chosen: [{ role: 'assistant', content: 'Good.' }],
        rejected: [{ role: 'assistant', content: 'Bad.' }],
        chosenModel: 'a/one',
        rejectedModel: 'b/two',
        chosenFirst: false,
      },
    ])
  })

  it('ENG-FEED-001 are added up by model and prompt, with intervals and position bias', async () => {
    await chosen([
      ['a/one', 'b/two', true],
      ['a/one', 'b/two', true],
      ['a/one', 'b/two', false],
      ['b/two', 'a/one', true],
      ['a/one', 'a/one', true],
    ])
    await collectFeedback(base(() => 'tie'))
    await collectFeedback(base(() => 'both_bad'))
    const stats = await preferenceStats(recorder.read)
    expect(stats).toMatchObject({ choices: 7, ties: 1, bothBad: 1, missing: 0 })
    expect(stats.models).toMatchObject([
      { model: 'a/one', wins: 3, losses: 1, ties: 1, bothBad: 1, winRate: 0.75 },
      { model: 'b/two', wins: 1, losses: 3, ties: 1, bothBad: 1, winRate: 0.25 },
    ])
    expect(stats.models[0]?.promptHash).toMatch(/^[0-9a-f]{64}$/)
    // A pair of answers of one model counts only for the position.
    expect(stats.position).toMatchObject({ choices: 5, firstChosen: 4, share: 0.8, p: 0.375 })
  })

  it('ENG-FEED-001 a choice whose turns were deleted is counted as missing', async () => {
    const record: Parameters<Recorder['feedback']>[0] = { at: 1, choice: 'first', first: 'gone', second: 'too', question: 'Why?' }
    await recorder.feedback(record)
    expect(await preferenceStats(recorder.read)).toMatchObject({ choices: 1, missing: 1, models: [] })
    const pairs = preferencePairs(recorder.read)
    expect(await pairs.next()).toEqual({ done: true, value: { missing: 1 } })
  })
})
