/** Tests turns with unusual answers: early ends, truncated tool calls, hidden thinking. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createId } from '../../../src/core/id.ts'
import { ScriptedModel } from '../../../src/providers/scripted/scripted-model.ts'
import type { Reply } from '../../support/wire-server.ts'
import type { Api } from '../../support/answers.ts'
import { countingTool, journal, play } from './played.ts'
import { ALL_APIS, answering, CALLS, SAID, startWire } from './wire.ts'
import type { Wire } from './wire.ts'

let wire: Wire
beforeAll(async () => {
  wire = await startWire()
})
afterAll(() => wire[Symbol.asyncDispose]())

const AT_THE_LIMIT: Readonly<Record<string, string>> = {
  openai: 'max_output_tokens',
  anthropic: 'max_tokens',
  google: 'MAX_TOKENS',
}
const lengthOf = ({ provider }: Api): string => AT_THE_LIMIT[provider] ?? 'length'

describe.each(ALL_APIS)('$provider', (api) => {
  test.each([true, false])('a call in an answer that was cut at its limit is not run (stream: %s)', async (stream) => {
    const { tool, runs } = countingTool()
    const cut = { ...CALLS, finish: lengthOf(api) }
    const first: Reply = stream
      ? answering(api, cut)
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(api.whole(cut)) }
    const { model, requests } = wire.model(api, [first, answering(api, SAID)])
    const sessionId = createId('ses')
    const turn = await play({ model, tools: [tool], stream, sessionId })
    expect(turn.last).toMatchObject({ type: 'complete', result: { finishReason: 'length', steps: 1, text: CALLS.text } })
    expect(runs).toEqual([])
    expect(turn.of('tool_request')).toEqual([])
    expect(requests).toHaveLength(1)

    // The conversation can continue: every call that a provider receives has a result.
    const next = await play({ model, tools: [tool], sessionId, prompt: 'And now?' })
    expect(next.last).toMatchObject({ type: 'complete', result: { text: SAID.text } })
    const history = (await journal()).read.history(sessionId)
    const asked = history.flatMap((message) => (message.toolCalls ?? []).map(({ id }) => id))
    const answered = history.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [part.id] : [])))
    expect(answered).toEqual(asked)
  })

  test('ENG-STREAM-003 text, thinking, calls and usage become events of their types; a finish for tools ends only the step', async () => {
    const { tool, runs } = countingTool()
    const { model } = wire.model(api, [answering(api, { ...SAID, ...CALLS }), answering(api, { text: 'Done.' })])
    const turn = await play({ model, tools: [tool] })
    const kinds = turn.events.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1])
    expect(kinds).toEqual([
      'start',
      'thinking',
      'text_delta',
      // Google sends the arguments of a call at once.
      ...(api.provider === 'google' ? [] : ['tool_input_delta']),
      'usage',
      'message',
      'tool_request',
      'tool_result',
      'text_delta',
      'usage',
      'message',
      'complete',
    ])
    expect(turn.of('tool_request').map(({ tool: { name, input } }) => [name, input])).toEqual([
      ['get_weather', { city: 'Zürich' }],
      ['get_weather', { city: 'Bern' }],
    ])
    expect(turn.of('usage').map(({ step, usage }) => [step, usage.inputTokens, usage.outputTokens])).toEqual([
      [1, 12, 5],
      [2, 12, 5],
    ])
    expect(turn.of('message').map(({ step, message }) => [step, message.toolCalls?.length ?? 0])).toEqual([
      [1, 2],
      [2, 0],
    ])
    expect(runs).toHaveLength(2)
    expect(turn.last).toMatchObject({ type: 'complete', result: { steps: 2, finishReason: 'stop' } })
  })

  test('ENG-THINK-001 a fallback in a later step receives text and tool calls, but no thinking of another model', async () => {
    const { tool, runs } = countingTool()
    const other = ALL_APIS[(ALL_APIS.indexOf(api) + 1) % ALL_APIS.length] ?? api
    const primary = wire.model(api, [answering(api, { ...SAID, ...CALLS }), { status: 503 }])
    const backup = wire.model(other, [answering(other, { text: 'Done.' })])
    const turn = await play({
      model: primary.model,
      fallbackModels: [backup.model],
      tools: [tool],
      enableThinking: true,
      retry: { maxRetries: 0 },
    })
    expect(turn.last).toMatchObject({ type: 'complete', result: { text: 'Done.', model: other.model, steps: 2 } })
    expect(runs).toHaveLength(2)
    const sent = JSON.stringify(backup.requests[0]?.body)
    for (const said of [CALLS.text, 'Zürich', 'Bern', 'Result 1.', 'Result 2.']) expect(sent).toContain(said)
    expect(sent).not.toContain(SAID.thinking)
    expect(sent).not.toContain(SAID.signature)
  })

  test('ENG-THINK-002 hidden thinking is not yielded, but kept, recorded and sent back', async () => {
    const both = await Promise.all(
      [true, false].map(async (showThinking) => {
        const { tool } = countingTool()
        const { model, requests } = wire.model(api, [answering(api, { ...SAID, ...CALLS }), answering(api, { text: 'Done.' })])
        const turn = await play({ model, tools: [tool], showThinking, enableThinking: true })
        const detail = (await journal()).read.turn(turn.last.turnId)
        return { turn, requests, messages: detail?.messages.map(({ role, parts }) => ({ role, parts })) }
      }),
    )
    const [shown, hidden] = both
    expect(shown?.turn.of('thinking').length).toBeGreaterThan(0)
    expect(hidden?.turn.of('thinking')).toEqual([])
    expect(plain(hidden?.requests.map(({ body }) => body))).toEqual(plain(shown?.requests.map(({ body }) => body)))
    expect(plain(hidden?.messages)).toEqual(plain(shown?.messages))
    expect(plain(hidden?.turn.of('message'))).toEqual(plain(shown?.turn.of('message')))
    expect(JSON.stringify(hidden?.messages)).toContain(SAID.thinking)
    if (['openai', 'anthropic', 'google'].includes(api.provider))
      expect(JSON.stringify(hidden?.requests[1]?.body)).toContain(SAID.signature)
    const rest = (played: typeof shown): string[] | undefined =>
      played?.turn.events
        .map(({ type }) => type)
        .filter((type) => type !== 'thinking')
        // The number of deltas depends on their arrival times.
        .filter((type, index, types) => type !== 'text_delta' || types[index - 1] !== type)
    expect(rest(hidden)).toEqual(rest(shown))
  })
})

/** Removes members that differ between turns: times and generated ids. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, member: unknown) =>
      /^(id|seq|at|turnId|sessionId|toolCallId|createdAt)$/.test(name) ? name : member,
    ),
  )
}

test('a tool call in a filtered answer is not run', async () => {
  const { tool, runs } = countingTool()
  const model = new ScriptedModel([{ text: 'I', toolCalls: [{ name: 'get_weather', input: {} }], finish: 'content-filter' }])
  const turn = await play({ model, tools: [tool] })
  expect(turn.last).toMatchObject({ type: 'complete', result: { finishReason: 'content-filter' } })
  expect(runs).toEqual([])
})

test('text that was held back as a possible tool call is shown when the stream breaks', async () => {
  const { tool } = countingTool()
  const model = new ScriptedModel([
    { text: ['{"city": ', '"Bern"'], finish: null },
    { text: ['[1, 2', ', 3]'], finish: null },
  ])
  const turn = await play({ model, tools: [tool], retry: { maxRetries: 1 } })
  expect(turn.last).toMatchObject({ type: 'error', error: { code: 'stream_interrupted' } })
  expect(turn.of('reset')).toHaveLength(1)
  expect(turn.text).toBe('[1, 2, 3]')
})
