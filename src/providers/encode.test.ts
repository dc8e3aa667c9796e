/** Tests the paths, headers and bodies of the requests of each API. */

import { describe, expect, test } from 'vitest'
import { ask } from '../../test/support/ask-provider.ts'
import { assistant, system, toolResult, user } from '../core/message.ts'
import type { ModelRequest, RequestMessage } from '../core/model.ts'
import type { ProviderData } from '../core/part.ts'
import { createProviderModel } from './create.ts'

interface Sent {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
  readonly warnings: readonly string[]
}

/** Returns the one request that is made; it gets no answer. */
async function sent(ref: string, request: Partial<ModelRequest> = {}): Promise<Sent> {
  let seen: Omit<Sent, 'warnings'> | undefined
  const fetch = (url: unknown, init?: RequestInit): Promise<Response> => {
    const body = JSON.parse(init?.body as string) as Sent['body']
    seen = { url: String(url), headers: Object.fromEntries(new Headers(init?.headers)), body }
    return Promise.reject(new TypeError('There is no server.'))
  }
  const env = { OPENAI_COMPATIBLE_BASE_URL: 'http://host/v1' }
  const { error, warnings } = await ask(
    createProviderModel(ref, { env, apiKey: 'KEY', headers: { 'x-team': 'blue' }, fetch }),
    request,
  )
  if (seen === undefined) throw error ?? new Error('Nothing was sent.')
  return { ...seen, warnings }
}

const TOOL = { name: 'find', description: 'Finds.', inputSchema: { type: 'object', properties: { q: { type: 'string' } } } }
const STRICT = {
  type: 'object',
  properties: { a: { type: 'string', minLength: 2 }, b: { oneOf: [{ type: 'null' }, { type: 'array', items: { minimum: 1 } }] } },
  required: ['a', 'b'],
  additionalProperties: false,
}
const IMAGE = { type: 'image', mediaType: 'image/png', data: 'AAAA' } as const
const PDF = { type: 'file', mediaType: 'application/pdf', data: 'JVBERi0=', filename: 'a.pdf' } as const
const TEXT_FILE = { type: 'file', mediaType: 'text/plain', data: 'aGVsbG8=' } as const
const at = (data: string): { type: 'image'; mediaType: string; data: string } => ({ ...IMAGE, data: `https://host/${data}` })

/** A step of a tool loop: thinking, a text and a call, and its result. */
function step(ref: string, data: ProviderData, more: readonly RequestMessage[] = []): RequestMessage[] {
  const own = { ...data, cria: { model: ref } }
  return [
    user('q'),
    assistant([
      { type: 'thinking', text: 'Hm.', model: ref, providerData: own },
      { type: 'text', text: 'I look.' },
      { type: 'tool-call', id: 'a', name: 'find', input: { q: 1 }, providerData: own },
      { type: 'opaque', kind: 'x', providerData: { ...own, block: { type: 'ran_there' } } },
    ]),
    toolResult({ id: 'a', name: 'find', content: 'found', attachments: [IMAGE] }),
    ...more,
  ]
}

const SETTINGS: Partial<ModelRequest> = {
  temperature: 0.5,
  maxOutputTokens: 100,
  topP: 0.9,
  topK: 3,
  presencePenalty: 0.1,
  frequencyPenalty: 0.2,
  stopSequences: ['END'],
  seed: 7,
}

describe('Chat Completions', () => {
  test('address, headers, and a streaming request', async () => {
    const { url, headers, body } = await sent('openai-chat/gpt-4o', { messages: [system('Be brief.'), user('q')] })
    expect(url).toBe('https://api.openai.com/v1/chat/completions')
    expect(headers).toEqual({ authorization: 'Bearer KEY', 'content-type': 'application/json', 'x-team': 'blue' })
    expect(body).toEqual({
      model: 'gpt-4o',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'q' },
      ],
      stream: true,
      stream_options: { include_usage: true },
    })
    expect((await sent('openai-chat/gpt-4o', { stream: false })).body).not.toHaveProperty('stream')
  })

  test('settings that a model of OpenAI refuses are left out, with a warning', async () => {
    const all = { temperature: 0.5, top_p: 0.9, frequency_penalty: 0.2, presence_penalty: 0.1, stop: ['END'], seed: 7 }
    expect((await sent('openai-chat/gpt-4o', SETTINGS)).body).toMatchObject({ ...all, max_tokens: 100 })
    expect((await sent('openai-compatible/o3', SETTINGS)).body).toMatchObject({ ...all, max_tokens: 100 })
    const reasoning = await sent('openai-chat/gpt-5-mini', { ...SETTINGS, messages: [system('s'), user('q')] })
    expect(reasoning.body).toMatchObject({
      max_completion_tokens: 100,
      stop: ['END'],
      seed: 7,
      messages: [{ role: 'developer' }, {}],
    })
    for (const name of ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'max_tokens'])
      expect(reasoning.body).not.toHaveProperty(name)
    expect(reasoning.warnings.join()).toMatch(/topK.*temperature.*topP.*frequencyPenalty.*presencePenalty/)
    const without = await sent('openai-chat/gpt-5.2', { thinking: 'off', temperature: 0.5 })
    expect(without.body).toMatchObject({ reasoning_effort: 'none', temperature: 0.5 })
  })

  test.each([
    ['openai-chat/gpt-5-mini', 'off', 'minimal'],
    ['openai-chat/gpt-5.1', 'off', 'none'],
    ['openai-chat/gpt-5-codex', 'off', 'low'],
    ['openai-chat/gpt-5-pro', 'off', 'high'],
    ['openai-chat/gpt-6-astra', 'off', 'low'],
    ['openai-chat/gpt-6-luna', 'off', 'none'],
    ['openai-chat/o3', 'off', 'low'],
    ['openai-compatible/x', 'off', 'none'],
    ['openai-chat/gpt-5-mini', 'high', 'high'],
    ['openai-chat/gpt-5-mini', undefined, undefined],
  ] as const)('%s with thinking %s is sent the effort %s', async (ref, thinking, effort) => {
    const { body } = await sent(ref, thinking === undefined ? {} : { thinking })
    expect(body['reasoning_effort']).toBe(effort)
  })

  test('tools, tool choice, and response format', async () => {
    const { body } = await sent('openai-chat/gpt-4o', {
      tools: [TOOL, { ...TOOL, name: 'a.b', inputSchema: { $schema: 'x', anyOf: [] } }, { ...TOOL, name: 'c', inputSchema: {} }],
      toolChoice: { tool: 'find' },
      responseFormat: { type: 'json', schema: STRICT, name: 'thing' },
    })
    expect(body).toMatchObject({
      tools: [
        { type: 'function', function: { name: 'find', description: 'Finds.', parameters: TOOL.inputSchema } },
        { function: { name: 'a_b', parameters: { anyOf: [] } } },
        { function: { name: 'c', parameters: { type: 'object', properties: {} } } },
      ],
      tool_choice: { type: 'function', function: { name: 'find' } },
      response_format: { type: 'json_schema', json_schema: { name: 'thing', schema: STRICT, strict: true } },
    })
    expect((await sent('openai-chat/gpt-4o', { toolChoice: 'required' })).body).not.toHaveProperty('tool_choice')
    expect((await sent('openai-chat/gpt-4o', { responseFormat: { type: 'json' } })).body).toMatchObject({
      response_format: { type: 'json_object' },
    })
    const loose = { ...STRICT, required: ['a'] }
    const deep = { ...STRICT, properties: { a: { type: 'object', properties: { b: {} } } }, required: ['a'] }
    for (const schema of [loose, deep])
      expect((await sent('openai-chat/gpt-4o', { responseFormat: { type: 'json', schema } })).body).toMatchObject({
        response_format: { json_schema: { name: 'response', strict: false } },
      })
  })

  test('files of all kinds, several in one message', async () => {
    const video = { type: 'file', mediaType: 'video/mp4', data: 'AAAA' } as const
    const audio = { type: 'file', mediaType: 'audio/mpeg', data: 'AAAA' } as const
    const { body } = await sent('openai-chat/gpt-4o', {
      messages: [
        user([
          { type: 'text', text: 'q' },
          IMAGE,
          at('b.png'),
          PDF,
          { ...PDF, filename: undefined as never },
          TEXT_FILE,
          video,
          audio,
        ]),
      ],
    })
    expect(body['messages']).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'q' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          { type: 'image_url', image_url: { url: 'https://host/b.png' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
          { type: 'file', file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
          { type: 'text', text: 'hello' },
          { type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAA' } },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
        ],
      },
    ])
    const url = { ...TEXT_FILE, data: 'https://host/a.txt' }
    expect((await sent('openai-chat/gpt-4o', { messages: [user([url])] })).body['messages']).toMatchObject([
      { content: [{ text: 'https://host/a.txt' }] },
    ])
    for (const file of [
      { ...PDF, data: 'https://host/a.pdf' },
      { ...PDF, mediaType: 'application/zip' },
      { ...audio, data: 'https://host/a.mp3' },
    ])
      await expect(sent('openai-chat/gpt-4o', { messages: [user([file])] })).rejects.toMatchObject({ code: 'invalid_request' })
  })

  test('calls, thinking and results, for OpenAI and for compatible servers', async () => {
    const call = { id: 'a', type: 'function', function: { name: 'find', arguments: '{"q":1}' } }
    const failed = toolResult({ id: 'b', name: 'find', content: 'no', isError: true })
    const own = await sent('openai-chat/gpt-4o', {
      messages: step('openai-chat/gpt-4o', { google: { thoughtSignature: 'SIG' } }, [failed]),
    })
    expect(own.body['messages']).toEqual([
      { role: 'user', content: 'q' },
      { role: 'assistant', content: 'I look.', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'a', content: 'found' },
      { role: 'tool', tool_call_id: 'b', content: '{"error":"no"}' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Returned by the tool find (call a):' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
      },
    ])
    const others = await sent('openai-compatible/m', {
      messages: step('openai-compatible/m', { google: { thoughtSignature: 'SIG' } }, [failed]),
    })
    expect(others.body['messages']).toMatchObject([
      {},
      {
        role: 'assistant',
        reasoning_content: 'Hm.',
        tool_calls: [{ ...call, extra_content: { google: { thought_signature: 'SIG' } } }],
      },
      { content: 'found' },
      { content: 'no' },
      { role: 'assistant', content: '(What the tools have attached follows.)' },
      { role: 'user' },
    ])
    const bare = [
      user('q'),
      assistant([{ type: 'tool-call', id: 'a', name: 'find', input: {} }]),
      toolResult({ id: 'a', name: 'find', content: 'x' }),
    ]
    expect((await sent('openai-chat/gpt-4o', { messages: bare })).body['messages']).toMatchObject([{}, { content: null }, {}])
  })

  test('options of the caller, under any name of the provider, win', async () => {
    const providerOptions = {
      openaiCompatible: { user: 'u', topLogprobs: 2 },
      ollama: { user: 'v', reasoningEffort: 'low', num_ctx: 5, strictJsonSchema: false },
      anthropic: { x: 1 },
    }
    const { body } = await sent('ollama/m', { providerOptions, responseFormat: { type: 'json', schema: STRICT } })
    expect(body).toMatchObject({
      user: 'v',
      top_logprobs: 2,
      reasoning_effort: 'low',
      num_ctx: 5,
      response_format: { json_schema: { strict: false } },
    })
    expect(JSON.stringify(body)).not.toMatch(/strictJson|strict_json|"x"/)
  })
})

describe('Responses', () => {
  test('requests to reasoning models and to others', async () => {
    const { url, body } = await sent('openai/gpt-5-mini', { thinking: 'high', messages: [system('s'), user('q')] })
    expect(url).toBe('https://api.openai.com/v1/responses')
    expect(body).toEqual({
      model: 'gpt-5-mini',
      input: [
        { role: 'developer', content: 's' },
        { role: 'user', content: [{ type: 'input_text', text: 'q' }] },
      ],
      store: false,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'high', summary: 'detailed' },
      stream: true,
    })
    const plain = await sent('openai/gpt-4o', { ...SETTINGS, stream: false })
    expect(plain.body).toMatchObject({ temperature: 0.5, top_p: 0.9, max_output_tokens: 100, store: false })
    for (const name of ['stream', 'include', 'reasoning', 'frequency_penalty', 'text', 'tools'])
      expect(plain.body).not.toHaveProperty(name)
    expect(plain.warnings.join()).toMatch(/topK.*seed.*stopSequences/)
    expect((await sent('openai/gpt-5.2', { thinking: 'off' })).body['reasoning']).toEqual({ effort: 'none' })
  })

  test('own and provider tools, tool choice, and response format', async () => {
    const { body } = await sent('openai/gpt-4o', {
      tools: [TOOL],
      toolChoice: { tool: 'find' },
      responseFormat: { type: 'json', schema: STRICT },
      providerOptions: {
        openai: {
          tools: ['web_search', 'code_execution', { type: 'file_search' }],
          textVerbosity: 'low',
          serviceTier: 'flex',
          reasoningSummary: 'auto',
        },
      },
    })
    expect(body).toMatchObject({
      tools: [
        { type: 'function', name: 'find', description: 'Finds.', parameters: TOOL.inputSchema, strict: false },
        { type: 'web_search' },
        { type: 'code_interpreter', container: { type: 'auto' } },
        { type: 'file_search' },
      ],
      tool_choice: { type: 'function', name: 'find' },
      text: { format: { type: 'json_schema', name: 'response', strict: true, schema: STRICT }, verbosity: 'low' },
      service_tier: 'flex',
      reasoning: { summary: 'auto' },
    })
    const any = await sent('openai/gpt-4o', { tools: [TOOL], toolChoice: 'required', responseFormat: { type: 'json' } })
    expect(any.body).toMatchObject({ tool_choice: 'required', text: { format: { type: 'json_object' } } })
  })

  test('a step of a tool loop is sent back as items', async () => {
    const messages = step(
      'openai/m',
      { openai: { itemId: 'rs', reasoningEncryptedContent: 'ENC', namespace: 'docs', phase: 'x' } },
      [
        toolResult({ id: 'b', name: 'find', content: 'no', isError: true, attachments: [PDF] }),
        toolResult({ id: 'c', name: 'find', content: 'no', isError: true }),
        toolResult({ id: 'd', name: 'find', content: 'yes' }),
      ],
    )
    const { body } = await sent('openai/m', { messages })
    expect(body['input']).toEqual([
      { role: 'user', content: [{ type: 'input_text', text: 'q' }] },
      { type: 'reasoning', id: 'rs', encrypted_content: 'ENC', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      { role: 'assistant', content: 'I look.' },
      { type: 'function_call', call_id: 'a', name: 'find', arguments: '{"q":1}', namespace: 'docs' },
      { type: 'ran_there' },
      {
        type: 'function_call_output',
        call_id: 'a',
        output: [
          { type: 'input_text', text: 'found' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
        ],
      },
      {
        type: 'function_call_output',
        call_id: 'b',
        output: [
          { type: 'input_text', text: 'Error: no' },
          { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
        ],
      },
      { type: 'function_call_output', call_id: 'c', output: '{"error":"no"}' },
      { type: 'function_call_output', call_id: 'd', output: 'yes' },
    ])
  })

  test('parts of a summary are sent back as one item, only with encrypted content', async () => {
    const thought = (text: string, openai: ProviderData): object => ({
      type: 'thinking',
      text,
      model: 'openai/m',
      providerData: { openai, cria: { model: 'openai/m' } },
    })
    const parts = [
      thought('One.', { itemId: 'rs' }),
      thought('', { itemId: 'rs', reasoningEncryptedContent: 'ENC' }),
      thought('Lost.', { itemId: 'other' }),
      { type: 'text', text: 'So.', providerData: { openai: { phase: 'commentary' } } },
    ]
    const { body } = await sent('openai/m', { messages: [user('q'), assistant(parts as never)] })
    expect((body['input'] as object[]).slice(1)).toEqual([
      { type: 'reasoning', id: 'rs', encrypted_content: 'ENC', summary: [{ type: 'summary_text', text: 'One.' }] },
      { role: 'assistant', content: 'So.', phase: 'commentary' },
    ])
  })

  test('files', async () => {
    const { body } = await sent('openai/m', {
      messages: [user([IMAGE, at('b.png'), PDF, { ...PDF, data: 'https://host/a.pdf' }, TEXT_FILE])],
    })
    expect(body['input']).toMatchObject([
      {
        content: [
          { type: 'input_image' },
          { type: 'input_image', image_url: 'https://host/b.png' },
          { type: 'input_file', filename: 'a.pdf' },
          { type: 'input_file', file_url: 'https://host/a.pdf' },
          { type: 'input_text', text: 'hello' },
        ],
      },
    ])
    await expect(sent('openai/m', { messages: [user([{ ...PDF, mediaType: 'application/zip' }])] })).rejects.toMatchObject({
      code: 'invalid_request',
    })
  })
})

describe('Messages', () => {
  test('address, headers, and the required output limit', async () => {
    const { url, headers, body } = await sent('anthropic/claude-sonnet-4-5', { messages: [user('q')] })
    expect(url).toBe('https://api.anthropic.com/v1/messages')
    expect(headers).toEqual({
      'anthropic-version': '2023-06-01',
      'content-type': 'application/json',
      'x-api-key': 'KEY',
      'x-team': 'blue',
    })
    expect(body).toEqual({
      model: 'claude-sonnet-4-5',
      max_tokens: 64_000,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'q' }] }],
      stream: true,
    })
    expect((await sent('anthropic/x', {})).body['max_tokens']).toBe(4096)
    expect((await sent('anthropic/claude-3-haiku-20240307', { maxOutputTokens: 9000 })).body['max_tokens']).toBe(4096)
  })

  test('settings that a model refuses are left out', async () => {
    const taken = await sent('anthropic/claude-sonnet-4-5', SETTINGS)
    expect(taken.body).toMatchObject({ max_tokens: 100, temperature: 0.5, top_k: 3, stop_sequences: ['END'] })
    expect(taken.body).not.toHaveProperty('top_p')
    expect(taken.warnings.join()).toMatch(/seed.*presencePenalty.*frequencyPenalty/)
    expect((await sent('anthropic/x', { topP: 0.9 })).body['top_p']).toBe(0.9)
    const refused = await sent('anthropic/claude-opus-5', SETTINGS)
    for (const name of ['temperature', 'top_k', 'top_p']) expect(refused.body).not.toHaveProperty(name)
    expect((await sent('anthropic/claude-sonnet-4-5', { thinking: 'low', temperature: 1 })).warnings.join()).toContain(
      'while it thinks',
    )
  })

  test.each([
    ['claude-sonnet-4-5', 'high', { thinking: { type: 'enabled', budget_tokens: 38_400 } }],
    ['x', 'low', { thinking: { type: 'enabled', budget_tokens: 1024 } }],
    ['claude-sonnet-4-5', 'off', { thinking: { type: 'disabled' } }],
    ['claude-opus-4-6', 'medium', { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'medium' } }],
    ['claude-opus-5-5', 'off', { output_config: { effort: 'low' } }],
    ['claude-sonnet-5-5', 'off', { thinking: { type: 'between_tools' } }],
  ] as const)('%s asked to think %s', async (model, thinking, expected) => {
    const { body } = await sent(`anthropic/${model}`, { thinking })
    expect({ thinking: body['thinking'], output_config: body['output_config'] }).toEqual({
      thinking: undefined,
      output_config: undefined,
      ...expected,
    })
  })

  test('thinking is left out if a tool loop began without it, or a tool call is forced', async () => {
    const ref = 'anthropic/claude-sonnet-4-5'
    const own = await sent(ref, { messages: step(ref, { anthropic: { signature: 'SIG' } }), tools: [TOOL], thinking: 'low' })
    expect(own.body['thinking']).toMatchObject({ type: 'enabled' })
    const foreign = await sent(ref, { messages: step('openai/m', {}), tools: [TOOL], thinking: 'low' })
    expect(foreign.body).not.toHaveProperty('thinking')
    expect(foreign.warnings.join()).toContain('the earlier tool calls of this turn were made without it')
    const next = await sent(ref, { messages: step('openai/m', {}, [user('And now?')]), tools: [TOOL], thinking: 'low' })
    expect(next.body['thinking']).toMatchObject({ type: 'enabled' })
    for (const toolChoice of ['required', { tool: 'find' }] as const)
      expect((await sent(ref, { tools: [TOOL], toolChoice, thinking: 'low' })).body).not.toHaveProperty('thinking')
    const adaptive = await sent('anthropic/claude-opus-4-6', { messages: step('openai/m', {}), tools: [TOOL], thinking: 'low' })
    expect(adaptive.body['thinking']).toMatchObject({ type: 'adaptive' })
  })

  test('own and provider tools, and tool choices', async () => {
    const own = {
      name: 'find',
      description: 'Finds.',
      input_schema: TOOL.inputSchema,
      eager_input_streaming: true,
      cache_control: { type: 'ephemeral' },
    }
    const { body, headers } = await sent('anthropic/claude-sonnet-4-5', {
      tools: [TOOL],
      toolChoice: { tool: 'find' },
      providerOptions: {
        anthropic: {
          tools: ['web_search', 'code_execution', { type: 'bash_20250124', name: 'bash' }],
          anthropicBeta: ['x-1'],
          disableParallelToolUse: true,
        },
      },
    })
    expect(body['tools']).toEqual([
      own,
      { type: 'web_search_20250305', name: 'web_search' },
      { type: 'code_execution_20250825', name: 'code_execution' },
      { type: 'bash_20250124', name: 'bash' },
    ])
    expect(body['tool_choice']).toEqual({ type: 'tool', name: 'find', disable_parallel_tool_use: true })
    expect(headers['anthropic-beta']).toBe('x-1,code-execution-2025-08-25')
    for (const [toolChoice, type] of [
      ['auto', 'auto'],
      ['none', 'none'],
      ['required', 'any'],
    ] as const)
      expect((await sent('anthropic/claude-sonnet-4-5', { tools: [TOOL], toolChoice, stream: false })).body).toMatchObject({
        tool_choice: { type },
      })
    const unforced = await sent('anthropic/claude-opus-5-5', {
      tools: [TOOL, { ...TOOL, name: 'other' }],
      toolChoice: { tool: 'other' },
    })
    expect(unforced.body).toMatchObject({ tools: [{ name: 'other' }], tool_choice: { type: 'auto' } })
    const one = await sent('anthropic/claude-sonnet-4-5', {
      tools: [TOOL],
      providerOptions: { anthropic: { disableParallelToolUse: true } },
    })
    expect(one.body['tool_choice']).toEqual({ type: 'auto', disable_parallel_tool_use: true })
  })

  test('a response format, with constraints in its description, only for models that take one', async () => {
    const responseFormat = { type: 'json', schema: { ...STRICT, description: 'A thing.', maxProperties: 3 } } as const
    expect((await sent('anthropic/claude-sonnet-4-5', { responseFormat })).body['output_config']).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: {
            a: { type: 'string', description: 'minLength: 2' },
            b: { anyOf: [{ type: 'null' }, { type: 'array', items: { description: 'minimum: 1' } }] },
          },
          required: ['a', 'b'],
          additionalProperties: false,
          description: 'A thing. maxProperties: 3',
        },
      },
    })
    for (const model of ['x', 'claude-3-haiku-20240307'])
      expect((await sent(`anthropic/${model}`, { responseFormat })).body).not.toHaveProperty('output_config')
  })

  test('options of the caller', async () => {
    const anthropic = {
      thinking: { type: 'enabled', budgetTokens: 2000 },
      metadata: { userId: 'u' },
      effort: 'low',
      cacheControl: { type: 'ephemeral', ttl: '1h' },
    }
    expect((await sent('anthropic/claude-sonnet-4-5', { providerOptions: { anthropic } })).body).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: 2000 },
      metadata: { user_id: 'u' },
      output_config: { effort: 'low' },
      cache_control: { type: 'ephemeral', ttl: '1h' },
    })
  })

  test('a step of a tool loop is sent back as blocks, and messages of one role are merged', async () => {
    const ref = 'anthropic/claude-sonnet-4-5'
    const messages = step(ref, { anthropic: { signature: 'SIG', caller: { type: 'c' } } }, [
      toolResult({ id: 'b', name: 'find', content: 'no', isError: true }),
      user('And now?'),
      user([PDF, TEXT_FILE, at('b.png')]),
    ])
    const { body } = await sent(ref, { messages, providerOptions: { anthropic: { cacheControl: false } } })
    expect(body['messages']).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'q' }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 'SIG' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'a', name: 'find', input: { q: 1 }, caller: { type: 'c' } },
          { type: 'ran_there' },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'a',
            content: [
              { type: 'text', text: 'found' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
            ],
          },
          { type: 'tool_result', tool_use_id: 'b', content: 'no', is_error: true },
          { type: 'text', text: 'And now?' },
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' }, title: 'a.pdf' },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'hello' } },
          { type: 'image', source: { type: 'url', url: 'https://host/b.png' } },
        ],
      },
    ])
    await expect(sent(ref, { messages: [user([{ ...PDF, mediaType: 'application/zip' }])] })).rejects.toMatchObject({
      code: 'invalid_request',
    })
  })

  test('redacted thinking is sent back, cache marks of the caller stay, and a final answer does not end in white space', async () => {
    const ref = 'anthropic/claude-sonnet-4-5'
    const own = (anthropic: ProviderData): ProviderData => ({ anthropic, cria: { model: ref } })
    const { body } = await sent(ref, {
      messages: [
        user('q'),
        assistant([
          { type: 'thinking', text: '', model: ref, providerData: own({ redactedData: 'DATA' }) },
          { type: 'text', text: 'One.', providerData: own({ cacheControl: { type: 'ephemeral' } }) },
          { type: 'text', text: 'Two. ' },
        ]),
      ],
    })
    expect((body['messages'] as object[])[1]).toEqual({
      role: 'assistant',
      content: [
        { type: 'redacted_thinking', data: 'DATA' },
        { type: 'text', text: 'One.', cache_control: { type: 'ephemeral' } },
        { type: 'text', text: 'Two.' },
      ],
    })
  })
})

describe('Gemini', () => {
  test('address, headers, settings and instructions', async () => {
    const { url, headers, body } = await sent('google/gemini-2.0-flash', { ...SETTINGS, messages: [system('s'), user('q')] })
    expect(url).toBe('https://generativelanguage.googleapis.com/v1beta/models/gemini-2.0-flash:streamGenerateContent?alt=sse')
    expect(headers).toEqual({ 'content-type': 'application/json', 'x-goog-api-key': 'KEY', 'x-team': 'blue' })
    expect(body).toEqual({
      generationConfig: {
        maxOutputTokens: 100,
        temperature: 0.5,
        topK: 3,
        topP: 0.9,
        frequencyPenalty: 0.2,
        presencePenalty: 0.1,
        stopSequences: ['END'],
        seed: 7,
      },
      contents: [{ role: 'user', parts: [{ text: 'q' }] }],
      systemInstruction: { parts: [{ text: 's' }] },
    })
    const whole = await sent('google/gemini-2.5-flash', { stream: false, presencePenalty: 0.1 })
    expect(whole.url).toMatch(/:generateContent$/)
    expect(whole.body['generationConfig']).toEqual({})
    expect(whole.warnings.join()).toContain('penalties')
  })

  test.each([
    ['gemini-2.5-flash', 'off', { thinkingBudget: 0 }],
    ['gemini-2.5-pro', 'off', { thinkingBudget: 128 }],
    ['gemini-2.5-flash', 'high', { thinkingBudget: 24_576, includeThoughts: true }],
    ['gemini-2.5-pro', 'high', { thinkingBudget: 32_768, includeThoughts: true }],
    ['gemini-2.5-flash', 'low', { thinkingBudget: 6554, includeThoughts: true }],
    ['gemini-3-pro-preview', 'medium', { thinkingLevel: 'medium', includeThoughts: true }],
    ['gemini-3-pro-preview', 'off', { thinkingLevel: 'low' }],
    ['gemini-3-flash', 'off', { thinkingLevel: 'minimal' }],
  ] as const)('%s asked to think %s', async (model, thinking, expected) => {
    expect((await sent(`google/${model}`, { thinking })).body['generationConfig']).toEqual({ thinkingConfig: expected })
  })

  test('own and provider tools, tool choices, and response format', async () => {
    const { body } = await sent('google/gemini-3-pro-preview', {
      tools: [TOOL],
      toolChoice: { tool: 'find' },
      responseFormat: { type: 'json', schema: STRICT },
      providerOptions: {
        google: { tools: ['web_search', { googleMaps: {} }], cachedContent: 'c', responseModalities: ['TEXT'] },
      },
    })
    expect(body).toMatchObject({
      tools: [
        { functionDeclarations: [{ name: 'find', description: 'Finds.', parametersJsonSchema: TOOL.inputSchema }] },
        { googleSearch: {} },
        { googleMaps: {} },
      ],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['find'] } },
      generationConfig: { responseMimeType: 'application/json', responseJsonSchema: STRICT, responseModalities: ['TEXT'] },
      cachedContent: 'c',
    })
    for (const [toolChoice, mode] of [
      ['auto', 'AUTO'],
      ['none', 'NONE'],
      ['required', 'ANY'],
    ] as const)
      expect((await sent('google/gemini-2.5-flash', { tools: [TOOL], toolChoice })).body['toolConfig']).toEqual({
        functionCallingConfig: { mode },
      })
    const refused = await sent('google/gemini-2.5-flash', { tools: [TOOL], responseFormat: { type: 'json' } })
    expect(refused.body['generationConfig']).toEqual({})
    expect(refused.warnings.join()).toContain('together with tools')
  })

  test('a step of a tool loop is sent back as contents', async () => {
    const later = [toolResult({ id: 'b', name: 'find', content: 'no', isError: true }), user([at('b.png')])]
    const ref = 'google/gemini-2.5-flash'
    const own = await sent(ref, { messages: step(ref, { google: { thoughtSignature: 'SIG' } }, later) })
    const response = (id: string, said: object): object => ({
      functionResponse: { id, name: 'find', response: { name: 'find', ...said } },
    })
    const image = { inlineData: { mimeType: 'image/png', data: 'AAAA' } }
    expect(own.body['contents']).toEqual([
      { role: 'user', parts: [{ text: 'q' }] },
      {
        role: 'model',
        parts: [
          { text: 'Hm.', thought: true, thoughtSignature: 'SIG' },
          { text: 'I look.' },
          { functionCall: { id: 'a', name: 'find', args: { q: 1 } }, thoughtSignature: 'SIG' },
          { type: 'ran_there' },
        ],
      },
      { role: 'user', parts: [response('a', { content: 'found' }), image, response('b', { error: 'no' })] },
      { role: 'user', parts: [{ fileData: { mimeType: 'image/png', fileUri: 'https://host/b.png' } }] },
    ])
    const third = await sent('google/gemini-3-pro-preview', { messages: step('openai/m', {}) })
    expect(third.body['contents']).toMatchObject([
      {},
      { parts: [{ text: 'I look.' }, { functionCall: { id: 'a' }, thoughtSignature: 'skip_thought_signature_validator' }] },
      { parts: [{ functionResponse: { id: 'a', parts: [image] } }] },
    ])
  })

  test('a model name with a folder is sent unchanged', async () => {
    expect((await sent('google/tunedModels/mine', {})).url).toContain('/v1beta/tunedModels/mine:streamGenerateContent')
  })

  test('an image that the model generated is sent back to it', async () => {
    const { body } = await sent('google/m', { messages: [user('q'), assistant([IMAGE])] })
    expect(body['contents']).toMatchObject([{}, { role: 'model', parts: [{ inlineData: { mimeType: 'image/png' } }] }])
  })
})
