import { describe, expect, it } from 'vitest'
import { fromParts, user } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import { UNKNOWN_USAGE } from '../core/usage.ts'
import type { Usage } from '../core/usage.ts'
import { conversationOf } from './conversation.ts'
import { countedSize, EMPTY_TALLY, estimatedSize, startedAnew, withCounts, withEstimates, withReported } from './tally.ts'

const FIXED = 20
const messages = Array.from({ length: 6 }, (_, at) => user(`${at}`.repeat(9996)))
/** 9,996 characters and 4 tokens around them. */
const PER_MESSAGE = 10_000
const count = (text: string): number => text.length
const reporting = (inputTokens: number | null): Usage => ({
  ...UNKNOWN_USAGE,
  inputTokens,
  exactness: inputTokens === null ? 'unknown' : 'exact',
})

describe('the size of a conversation', () => {
  it('ENG-CTX-001 is estimated from bytes, then counted', () => {
    const tally = withEstimates(EMPTY_TALLY, messages)
    expect(estimatedSize(tally, 'a/model', FIXED)).toEqual({ known: 0, guessed: FIXED + 6 * (Math.ceil(9996 / 3.5) + 4) })
    expect(countedSize(withCounts(tally, messages, count, FIXED), 'a/model', FIXED)).toBe(FIXED + 6 * PER_MESSAGE)
  })

  it('ENG-CTX-001 is the count of the provider, with ours of later messages', () => {
    const sent = withCounts(withEstimates(EMPTY_TALLY, messages.slice(0, 4)), messages.slice(0, 4), count, FIXED)
    const tally = withReported(sent, reporting(50_020), 'a/model', FIXED)
    // The provider counts about 1.2 times our count, also for new messages.
    const scale = 48_020 / 40_020
    const grown = withCounts(withEstimates(tally, messages), messages, count, FIXED)
    expect(countedSize(grown, 'a/model', FIXED)).toBe(Math.ceil(50_020 + (48_020 / 40_020) * 2 * PER_MESSAGE))
    // Unknown for another model; the factor is the best estimate.
    expect(countedSize(grown, 'b/model', FIXED)).toBe(Math.ceil(2000 + scale * (FIXED + 6 * PER_MESSAGE)))
    expect(countedSize(withCounts(startedAnew(grown), messages.slice(0, 2), count, FIXED), 'a/model', FIXED)).toBe(
      Math.ceil(2000 + scale * (FIXED + 2 * PER_MESSAGE)),
    )
  })

  it('ENG-CTX-001 a count reported far from the limit corrects counts near it', () => {
    const tally = withReported(withEstimates(EMPTY_TALLY, messages.slice(0, 4)), reporting(50_020), 'a/model', FIXED)
    expect(estimatedSize(withEstimates(tally, messages), 'a/model', FIXED)).toEqual({ known: 50_020, guessed: 2 * 2860 })
    expect(countedSize(withCounts(tally, messages, count, FIXED), 'a/model', FIXED)).toBe(
      Math.ceil(50_020 + (48_020 / 40_020) * 2 * PER_MESSAGE),
    )
  })

  it('ENG-CTX-001 does not take the overhead of a small request for a factor', () => {
    const [small] = [user('Hi.')]
    const sent = withCounts(withEstimates(EMPTY_TALLY, [small]), [small], count, 0)
    const tally = withReported(sent, reporting(700), 'a/model', 0)
    const grown = withCounts(withEstimates(tally, [small, ...messages]), [small, ...messages], count, 0)
    expect(countedSize(grown, 'a/model', 0)).toBe(700 + 6 * PER_MESSAGE)
  })

  it('ENG-CTX-001 ignores a provider that reports nothing, or only uncached tokens', () => {
    const sent = withEstimates(EMPTY_TALLY, messages)
    for (const tokens of [null, 0, 3000]) {
      const { known } = estimatedSize(withReported(sent, reporting(tokens), 'a/model', FIXED), 'a/model', FIXED)
      expect(known).toBe(0)
    }
    const estimated: Usage = { ...reporting(50_020), exactness: 'estimated' }
    expect(withReported(sent, estimated, 'a/model', FIXED).reported).toBeUndefined()
  })

  it('ENG-CTX-001 counts no message twice', () => {
    const counted: string[] = []
    const counting = (text: string): number => (counted.push(text), text.length)
    const fresh = Array.from({ length: 50 }, (_, at) => user(`message ${at}`))
    let tally = EMPTY_TALLY
    for (let length = 1; length <= fresh.length; length++) {
      const said = fresh.slice(0, length)
      tally = withReported(
        withCounts(withEstimates(tally, said), said, counting, FIXED),
        reporting(length * 10),
        'a/model',
        FIXED,
      )
    }
    expect(counted).toHaveLength(fresh.length)
  })

  it('ENG-CTX-001 counts a message of a session once, however often it is read from the journal', () => {
    const counted: string[] = []
    const watched = (text: string): number => counted.push(text) && text.length
    const said = [user('one'), user('second'), user('and a third')]
    const turn = (history: readonly Message[]): number => {
      const { messages: sent } = conversationOf(structuredClone(history))
      return countedSize(withCounts(EMPTY_TALLY, sent, watched, 0), 'a/model', 0)
    }
    expect(turn(said.slice(0, 2))).toBe(3 + 6 + 2 * 4)
    expect(turn(said)).toBe(3 + 6 + 11 + 3 * 4)
    expect(counted).toEqual(['one', 'second', 'and a third'])
    // A shortened message has another size, and ids from elsewhere may occur again.
    expect(turn([fromParts('user', [{ type: 'text', text: 'o' }], said[0])])).toBe(1 + 4)
    const named = (text: string): Message => fromParts('user', [{ type: 'text', text }], { id: '1' })
    turn([named('mine')])
    turn([named('thine'), named('his')])
    expect(counted.slice(3)).toEqual(['o', 'mine', 'thine', 'his'])
  })
})
