import { expect, it } from 'vitest'
import { tool } from '../../test/calls.ts'
import { NoAssistantMessageError } from '../core/error.ts'
import { toMessages } from '../core/message.ts'
import type { ModelPart } from '../core/model.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import type { Script } from '../providers/scripted/scripted-model.ts'
import { extractContent, extractToolCalls, makeResponse, streamChunks, streamTokensForMessages } from './completion.ts'
import { SimpleBot } from './simple-bot.ts'

it('CORE-SIMPLE-022 makes, folds and reads a response', async () => {
  const script: Script = () => ({
    thinking: 'hm',
    text: ['Look', 'ing.'],
    toolCalls: [{ id: 'c', name: 'look', input: { at: 'x' } }],
  })
  const bot = new SimpleBot({ model: new ScriptedModel(script), recorder: false })
  const seen: string[] = []
  const response = await streamChunks(makeResponse(bot, 'Go'), (text) => seen.push(text))
  expect(seen).toEqual(['Look', 'ing.'])
  expect(extractContent(response)).toBe('Looking.')
  expect(extractToolCalls(response)).toMatchObject([{ id: 'c', name: 'look', input: { at: 'x' } }])

  const finalized: string[] = []
  const tokens = streamTokensForMessages(bot, 'Go', { finalize: (message) => void finalized.push(message.content) })
  expect(await Array.fromAsync(tokens)).toEqual(['Look', 'ing.'])
  expect(finalized).toEqual(['Looking.'])
})

it('CORE-SIMPLE-022 streamTokensForMessages waits for finalize, is ended by its signal, and rejects without a message', async () => {
  const order: string[] = []
  const finalize = async (): Promise<void> => {
    await new Promise<void>((resolve) => setImmediate(resolve))
    order.push('finalized')
  }
  const stream = streamTokensForMessages(new SimpleBot({ model: new ScriptedModel(['Hi.']), recorder: false }), 'Go', {
    finalize,
  })
  expect(await stream.next()).toEqual({ done: false, value: 'Hi.' })
  expect(await stream.next()).toMatchObject({ done: true, value: { role: 'assistant', content: 'Hi.' } })
  expect(order).toEqual(['finalized'])

  for (const answer of [
    { parts: [] },
    { parts: [{ type: 'finish', reason: 'stop' }] },
    { text: 'Half', finish: null },
  ] as const) {
    const bot = new SimpleBot({ model: new ScriptedModel([answer]), recorder: false })
    const finalized: unknown[] = []
    const tokens = streamTokensForMessages(bot, 'Go', { finalize: (message) => void finalized.push(message) })
    await expect(Array.fromAsync(tokens)).rejects.toBeInstanceOf(NoAssistantMessageError)
    expect(finalized).toEqual([])
  }

  const model = new ScriptedModel([{ text: ['one', 'two'], hang: { after: 1 } }])
  const leaving = new AbortController()
  const tokens = streamTokensForMessages(new SimpleBot({ model, recorder: false }), 'Go', { signal: leaving.signal })
  expect(await tokens.next()).toEqual({ done: false, value: 'one' })
  const waiting = tokens.next()
  leaving.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
  expect(model.open).toBe(0)
})

it('CORE-SIMPLE-021 extractToolCalls reads calls of the given tools that are written as text', () => {
  const [message] = toMessages({
    role: 'assistant',
    content: '```json\n[{"name":"look","parameters":{"at":"x"}},{"name":"look"}]\n```',
  })
  if (message === undefined) throw new Error('There is one.')
  const look = tool('look', () => 'ok')
  const calls = extractToolCalls(message, [look])
  expect(calls.map(({ name, input }) => [name, input])).toEqual([
    ['look', { at: 'x' }],
    ['look', {}],
  ])
  expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
  expect(extractToolCalls(message)).toEqual([])
  expect(extractToolCalls(message, [tool('other', () => 'ok')])).toEqual([])
})

it('CORE-SIMPLE-022 text from before a restart is not part of the response', async () => {
  const parts: ModelPart[] = [
    { type: 'thinking', text: 'hm' },
    { type: 'text', text: 'Half an ans' },
    { type: 'restart' },
    { type: 'text', text: 'All of it.' },
    { type: 'finish', reason: 'stop' },
  ]
  const { message } = await streamChunks(new ReadableStream({ start: (out) => parts.forEach((part) => out.enqueue(part)) }))
  expect(message.parts).toEqual([{ type: 'text', text: 'All of it.' }])
})

it('CORE-SIMPLE-023 content is never thinking, and empty for a reply of calls', () => {
  const [calls] = toMessages({
    role: 'assistant',
    parts: [
      { type: 'thinking', text: 'hm' },
      { type: 'tool-call', id: 'c', name: 'f', input: {} },
    ],
  })
  expect(calls === undefined ? undefined : extractContent(calls)).toBe('')
})
