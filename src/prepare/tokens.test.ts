import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it } from 'vitest'
import { assistant, toolResult, user } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import {
  countMessageTokens,
  estimateMessageTokens,
  estimateTokens,
  leastTokens,
  loadTokenCounter,
  offeredTokens,
  withoutLongRuns,
} from './tokens.ts'

const TEXTS: Readonly<Record<string, string>> = {
  prose:
    'The keeper of the lighthouse wrote down the weather every morning, and every evening he crossed out what had not come true. '.repeat(
      40,
    ),
  german: 'Die Straßenbahn fährt heute über die Brücke, weil der Tunnel für größere Ausbesserungen gesperrt worden ist. '.repeat(
    40,
  ),
  code: `export function clamp(value: number, least: number, most: number): number {
  if (Number.isNaN(value)) throw new RangeError(\`not a number: \${value}\`)
  return Math.min(most, Math.max(least, value)) // both ends belong to it
}
`.repeat(40),
  json: JSON.stringify(
    Array.from({ length: 80 }, (_, id) => ({ id, name: `sensor-${id}`, celsius: id * 1.25, tags: ['a', 'b'] })),
  ),
  chinese: '灯塔看守人每天早晨记录天气，每天傍晚划掉没有应验的预报。海上的雾很大，船只慢慢地驶向港口。'.repeat(40),
  japanese: '灯台守は毎朝、天気を書き留め、夕方には当たらなかった予報に線を引いた。霧の中を船がゆっくりと港へ向かう。'.repeat(40),
  korean: '등대지기는 매일 아침 날씨를 적고, 저녁마다 맞지 않은 예보를 지웠다. 안개 속에서 배가 천천히 항구로 들어온다. '.repeat(
    40,
  ),
}

describe('counting tokens', () => {
  it.each(Object.entries(TEXTS))('ENG-CTX-001 comes within 5 %% of the reference: %s', async (_, text) => {
    const count = await loadTokenCounter()
    const reference = encode(text).length
    expect(Math.abs(count(text) - reference) / reference).toBeLessThan(0.05)
  })

  it.each(Object.entries(TEXTS))('ENG-CTX-001 the estimate is never below 60 %% of the reference: %s', (_, text) => {
    expect(estimateTokens(text)).toBeGreaterThan(0.6 * encode(text).length)
  })

  it('ENG-CTX-001 counts special tokens as the text that they are', async () => {
    expect((await loadTokenCounter())('<|endoftext|>')).toBeGreaterThan(1)
  })

  it('ENG-CTX-001 cuts only long runs without spaces, between whole characters', () => {
    expect([...withoutLongRuns(`ab ${'x'.repeat(25)} cd`, 10)]).toEqual([
      `ab ${'x'.repeat(10)}`,
      'x'.repeat(10),
      `${'x'.repeat(5)} cd`,
    ])
    const faces = `a${'😀'.repeat(20)}`
    const pieces = [...withoutLongRuns(faces, 10)]
    expect(pieces.join('')).toBe(faces)
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true)
    expect([...withoutLongRuns(TEXTS['prose'] ?? '', 100)]).toHaveLength(1)
  })
})

describe('the size of a message', () => {
  const count = (text: string): number => text.length

  it('ENG-CTX-001 is counted once', () => {
    let calls = 0
    const counting = (text: string): number => (calls++, text.length)
    const message = user('Count me.')
    const { parts, content } = message
    expect(countMessageTokens(message, counting)).toBe(countMessageTokens({ parts, content }, counting))
    expect(calls).toBe(1)
  })

  it('ENG-CTX-001 counts calls, results, images and files by rule', () => {
    const image = { type: 'image', mediaType: 'image/png', data: 'AAAA' } as const
    const pdf = (bytes: number) => ({ type: 'file', mediaType: 'application/pdf', data: 'A'.repeat((bytes * 4) / 3) }) as const
    const of = (message: Message): number => countMessageTokens(message, count) - countMessageTokens(user(''), count)
    expect(of(assistant([{ type: 'tool-call', id: 'a', name: 'look', input: { at: 1 } }]))).toBe('look{"at":1}'.length)
    expect(of(toolResult({ id: 'a', name: 'look', content: 'seen', attachments: [image] }))).toBe(4 + 1600)
    expect(of(user([image]))).toBe(1600)
    expect(of(user([pdf(30_000)]))).toBe(2000)
    expect(of(user([pdf(120_000)]))).toBe(6000)
    expect(of(user([{ type: 'file', mediaType: 'application/pdf', data: 'https://example.com/a.pdf' }]))).toBe(2000)
    expect(of(user([{ type: 'file', mediaType: 'text/plain', data: 'A'.repeat(2800) }]))).toBe(600)
    expect(estimateMessageTokens(user([image]))).toBeGreaterThanOrEqual(1600)
  })

  it('ENG-CTX-001 tools and schemas are part of each request', () => {
    expect(offeredTokens({})).toBe(0)
    expect(offeredTokens({ tools: [] })).toBe(0)
    expect(offeredTokens({ tools: [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }] })).toBeGreaterThan(
      10,
    )
    expect(offeredTokens({ responseFormat: { type: 'json', schema: { type: 'object' } } })).toBeGreaterThan(3)
  })
})

it('counts the text of a message once across steps', () => {
  const counted: string[] = []
  const count = (text: string): number => counted.push(text) && text.length
  const messages = [user('one'), user('three')]
  expect(leastTokens(messages, count)).toBe(8)
  expect(leastTokens([...messages.map((message) => ({ ...message })), user('seven')], count)).toBe(13)
  expect(counted).toEqual(['one', 'three', 'seven'])
})
