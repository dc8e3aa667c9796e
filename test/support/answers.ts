/** Encodes one answer in the four wire APIs, written by hand from their documentation. */

import type { JsonObject } from '../../src/core/json.ts'

export interface Said {
  readonly text?: string
  readonly thinking?: string
  /** Signature that is sent back with the thinking. */
  readonly signature?: string
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[]
  /** Finish reason of the API; default its reason for a normal end. */
  readonly finish?: string
  readonly tokens?: { readonly input: number; readonly output: number }
}

export interface Api {
  /** Name of a provider with this API. */
  readonly provider: string
  readonly model: string
  /** End of its base URL. */
  readonly version: string
  stream(said: Said): string
  whole(said: Said): JsonObject
  error(message: string, code?: string): JsonObject
  /** Encodes an error inside a stream. */
  streamError(message: string, code: string): string
}

const TOKENS = { input: 12, output: 5 }
const MODEL = 'test-model-1'

/** Splits a text into three deltas. */
function pieces(text: string): string[] {
  const letters = [...text]
  const size = Math.max(1, Math.ceil(letters.length / 3))
  return Array.from({ length: Math.ceil(letters.length / size) }, (_, index) =>
    letters.slice(index * size, (index + 1) * size).join(''),
  )
}

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`
const named = (value: { readonly type: string; readonly [member: string]: unknown }): string =>
  `event: ${value.type}\n${data(value)}`

function chat(provider: string): Api {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: MODEL }
  const usageOf = ({ tokens = TOKENS }: Said): JsonObject => ({
    prompt_tokens: tokens.input,
    completion_tokens: tokens.output,
    total_tokens: tokens.input + tokens.output,
  })
  const finishOf = ({ finish, calls }: Said): string => finish ?? (calls === undefined ? 'stop' : 'tool_calls')
  return {
    provider,
    model: `${provider}/gpt-4o`,
    version: 'v1',
    stream(said) {
      const delta = (value: JsonObject, finish_reason: string | null = null): string =>
        data({ ...head, choices: [{ index: 0, delta: value, finish_reason }] })
      return [
        delta({ role: 'assistant', content: '' }),
        ...pieces(said.thinking ?? '').map((reasoning_content) => delta({ reasoning_content })),
        ...pieces(said.text ?? '').map((content) => delta({ content })),
        ...(said.calls ?? []).flatMap(({ id, name, arguments: input }, index) => [
          delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
          ...pieces(input).map((piece) => delta({ tool_calls: [{ index, function: { arguments: piece } }] })),
        ]),
        delta({}, finishOf(said)),
        data({ ...head, choices: [], usage: usageOf(said) }),
        'data: [DONE]\n\n',
      ].join('')
    },
    whole: (said) => ({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: MODEL,
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: said.text ?? null,
            ...(said.thinking === undefined ? {} : { reasoning_content: said.thinking }),
            ...(said.calls === undefined
              ? {}
              : {
                  tool_calls: said.calls.map(({ id, name, arguments: input }) => ({
                    id,
                    type: 'function',
                    function: { name, arguments: input },
                  })),
                }),
          },
          finish_reason: finishOf(said),
        },
      ],
      usage: usageOf(said),
    }),
    error: (message, code) => ({ error: { message, type: 'invalid_request_error', param: null, code: code ?? null } }),
    streamError: (message, code) => data({ error: { message, type: code, param: null, code: null } }),
  }
}

const responses: Api = {
  provider: 'openai',
  model: 'openai/gpt-5-mini',
  version: 'v1',
  stream(said) {
    const output = outputOf(said)
    const response = { id: 'resp_1', object: 'response', created_at: 1, model: MODEL, status: 'in_progress', output: [] }
    const events: string[] = [named({ type: 'response.created', response }), named({ type: 'response.in_progress', response })]
    output.forEach((item, output_index) => {
      const { id: item_id } = item as { id: string }
      const place = { item_id, output_index }
      const empty =
        item['type'] === 'reasoning' ? { summary: [] } : item['type'] === 'message' ? { content: [] } : { arguments: '' }
      events.push(named({ type: 'response.output_item.added', output_index, item: { ...item, ...empty, status: 'in_progress' } }))
      if (item['type'] === 'reasoning') {
        events.push(
          named({
            type: 'response.reasoning_summary_part.added',
            ...place,
            summary_index: 0,
            part: { type: 'summary_text', text: '' },
          }),
        )
        for (const delta of pieces(said.thinking ?? ''))
          events.push(named({ type: 'response.reasoning_summary_text.delta', ...place, summary_index: 0, delta }))
        events.push(
          named({
            type: 'response.reasoning_summary_part.done',
            ...place,
            summary_index: 0,
            part: { type: 'summary_text', text: said.thinking },
          }),
        )
      } else if (item['type'] === 'message') {
        for (const delta of pieces(said.text ?? ''))
          events.push(named({ type: 'response.output_text.delta', ...place, content_index: 0, delta }))
      } else {
        for (const delta of pieces(item['arguments'] as string))
          events.push(named({ type: 'response.function_call_arguments.delta', ...place, delta }))
      }
      events.push(named({ type: 'response.output_item.done', output_index, item }))
    })
    const whole = this.whole(said)
    events.push(named({ type: `response.${said.finish === undefined ? 'completed' : 'incomplete'}`, response: whole }))
    return events.join('')
  },
  whole(said) {
    const { tokens = TOKENS, finish } = said
    return {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      model: MODEL,
      status: finish === undefined ? 'completed' : 'incomplete',
      incomplete_details: finish === undefined ? null : { reason: finish },
      output: outputOf(said),
      usage: {
        input_tokens: tokens.input,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: tokens.output,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: tokens.input + tokens.output,
      },
    }
  },
  error: (message, code) => ({ error: { message, type: 'invalid_request_error', param: null, code: code ?? null } }),
  streamError: (message, code) => named({ type: 'error', sequence_number: 9, code, message, param: null }),
}

function outputOf({ text, thinking, signature, calls = [] }: Said): JsonObject[] {
  return [
    ...(thinking === undefined
      ? []
      : [
          {
            id: 'rs_1',
            type: 'reasoning',
            encrypted_content: signature ?? null,
            summary: [{ type: 'summary_text', text: thinking }],
          },
        ]),
    ...(text === undefined
      ? []
      : [
          {
            id: 'msg_1',
            type: 'message',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text, annotations: [] }],
          },
        ]),
    ...calls.map(({ id, name, arguments: input }, index) => ({
      id: `fc_${index}`,
      type: 'function_call',
      status: 'completed',
      call_id: id,
      name,
      arguments: input,
    })),
  ]
}

const messages: Api = {
  provider: 'anthropic',
  model: 'anthropic/claude-sonnet-4-5',
  version: 'v1',
  stream(said) {
    const { tokens = TOKENS, text, thinking, signature, calls = [] } = said
    const events: string[] = []
    let index = 0
    const block = (content_block: JsonObject, deltas: readonly JsonObject[]): void => {
      events.push(named({ type: 'content_block_start', index, content_block }))
      for (const delta of deltas) events.push(named({ type: 'content_block_delta', index, delta }))
      events.push(named({ type: 'content_block_stop', index }))
      index++
    }
    if (thinking !== undefined) {
      const thoughts = pieces(thinking).map((piece) => ({ type: 'thinking_delta', thinking: piece }))
      block({ type: 'thinking', thinking: '', signature: '' }, [
        ...thoughts,
        { type: 'signature_delta', signature: signature ?? '' },
      ])
    }
    if (text !== undefined)
      block(
        { type: 'text', text: '' },
        pieces(text).map((piece) => ({ type: 'text_delta', text: piece })),
      )
    for (const { id, name, arguments: input } of calls) {
      block(
        { type: 'tool_use', id, name, input: {} },
        pieces(input).map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
      )
    }
    const { content: _, ...message } = this.whole(said)
    return [
      named({
        type: 'message_start',
        message: { ...message, content: [], stop_reason: null, usage: { input_tokens: tokens.input, output_tokens: 1 } },
      }),
      named({ type: 'ping' }),
      ...events,
      named({
        type: 'message_delta',
        delta: { stop_reason: message['stop_reason'] ?? null, stop_sequence: null },
        usage: { output_tokens: tokens.output },
      }),
      named({ type: 'message_stop' }),
    ].join('')
  },
  whole: ({ tokens = TOKENS, text, thinking, signature, calls, finish }) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: MODEL,
    content: [
      ...(thinking === undefined ? [] : [{ type: 'thinking', thinking, signature: signature ?? '' }]),
      ...(text === undefined ? [] : [{ type: 'text', text }]),
      ...(calls ?? []).map(({ id, name, arguments: input }) => ({
        type: 'tool_use',
        id,
        name,
        input: JSON.parse(input) as JsonObject,
      })),
    ],
    stop_reason: finish ?? (calls === undefined ? 'end_turn' : 'tool_use'),
    stop_sequence: null,
    usage: { input_tokens: tokens.input, output_tokens: tokens.output },
  }),
  error: (message, code) => ({ type: 'error', error: { type: code ?? 'invalid_request_error', message } }),
  streamError: (message, code) => named({ type: 'error', error: { type: code, message } }),
}

const gemini: Api = {
  provider: 'google',
  model: 'google/gemini-2.5-flash',
  version: 'v1beta',
  stream(said) {
    const { tokens = TOKENS, text = '', thinking = '', signature, calls = [], finish = 'STOP' } = said
    const parts: JsonObject[] = [
      ...pieces(thinking).map((piece) => ({ text: piece, thought: true })),
      ...pieces(text).map((piece) => ({ text: piece })),
      ...calls.map(({ name, arguments: input }, index) => ({
        functionCall: { name, args: JSON.parse(input) as JsonObject },
        ...(index === 0 && signature !== undefined ? { thoughtSignature: signature } : {}),
      })),
    ]
    return parts
      .map((part, index) => {
        const last = index === parts.length - 1
        const candidate = { content: { role: 'model', parts: [part] }, index: 0, ...(last ? { finishReason: finish } : {}) }
        const usageMetadata = {
          promptTokenCount: tokens.input,
          ...(last ? { candidatesTokenCount: tokens.output, totalTokenCount: tokens.input + tokens.output } : {}),
        }
        return `data: ${JSON.stringify({ candidates: [candidate], usageMetadata, modelVersion: MODEL, responseId: 'r1' })}\r\n\r\n`
      })
      .join('')
  },
  whole: ({ tokens = TOKENS, text, thinking, signature, calls = [], finish = 'STOP' }) => ({
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            ...(thinking === undefined ? [] : [{ text: thinking, thought: true }]),
            ...(text === undefined ? [] : [{ text }]),
            ...calls.map(({ name, arguments: input }, index) => ({
              functionCall: { name, args: JSON.parse(input) as JsonObject },
              ...(index === 0 && signature !== undefined ? { thoughtSignature: signature } : {}),
            })),
          ],
        },
        finishReason: finish,
        index: 0,
      },
    ],
    usageMetadata: {
      promptTokenCount: tokens.input,
      candidatesTokenCount: tokens.output,
      totalTokenCount: tokens.input + tokens.output,
    },
    modelVersion: MODEL,
    responseId: 'r1',
  }),
  error: (message, code) => ({ error: { code: 400, message, status: code ?? 'INVALID_ARGUMENT' } }),
  streamError: (message, code) => data({ error: { code: 503, message, status: code } }),
}

export const APIS: readonly Api[] = [responses, chat('openai-chat'), chat('openai-compatible'), messages, gemini]
