/** Failures of tool calls, and the messages that the model receives. */

import { describe, expect, it } from 'vitest'
import { all, calling, collect, free, idsOf, resultsOf, resultsSentTo, tool } from '../../test/calls.ts'
import type { Json } from '../core/json.ts'
import type { SpanMirror, SpanRecord } from '../core/span.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import { SqliteRecorder } from '../recorders/sqlite/recorder.ts'

const RUBBISH = 'rubbish' as unknown as { type: 'image'; mediaType: string; data: string }

function raise(thrown: unknown): () => never {
  return () => {
    throw thrown
  }
}

describe('failing tool calls', () => {
  it('ENG-TOOL-004 the error for an unknown name lists the tools, with or without a namespace', async () => {
    const search = tool('search', () => 'found')
    const model = calling([{ name: 'no_such_tool' }, { name: '' }, { name: 'serch' }, { name: 'functions.search' }])
    await collect({ model, tools: [search] })
    expect(resultsSentTo(model).map(([, content]) => content)).toEqual([
      'There is no tool called "no_such_tool". The tools are: search.',
      'There is no tool called "". The tools are: search.',
      'There is no tool called "serch". Did you mean search? The tools are: search.',
      'found',
    ])
  })

  it('arguments nested two thousand levels deep break neither the turn nor its session', async () => {
    let input: Json = 1
    for (let level = 0; level < 2000; level++) input = { a: input }
    const recorder = await SqliteRecorder.open({ path: ':memory:' })
    const sessionId = 's'
    const events = await collect({
      model: calling([{ name: 'deep', input }]),
      tools: [tool('deep', () => 'ok')],
      recorder,
      sessionId,
    })
    expect(events.at(-1)?.type).toBe('complete')
    expect(resultsOf(events)).toHaveLength(1)
    const next = await collect({ model: new ScriptedModel(['Yes.']), prompt: 'Still there?', recorder, sessionId })
    expect(next.at(-1)?.type).toBe('complete')
  })

  it('ENG-TOOL-004 invalid arguments are not executed, and the model may try again', async () => {
    let ran = 0
    const strict = tool('strict', () => ++ran, {
      inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'], additionalProperties: false },
    })
    const cut = new ScriptedModel([
      {
        parts: [
          { type: 'tool-call', id: 'a', name: 'strict', input: '{"n":', invalid: 'it is cut off' },
          { type: 'finish', reason: 'tool-calls' },
        ],
      },
      'Done.',
    ])
    expect(resultsOf(await collect({ model: cut, tools: [strict] }))).toEqual([
      'The arguments are not valid JSON (it is cut off). Send the call again with a JSON object.',
    ])
    const inputs: Json[] = ['{"n":1}', null, [1], {}, { n: '1' }, { n: 1, m: 2 }]
    const events = await collect({ model: calling(inputs.map((input) => ({ name: 'strict', input }))), tools: [strict] })
    expect(ran).toBe(0)
    expect(all(events, 'tool_result').every(({ result }) => result.isError)).toBe(true)
    const again = calling([{ name: 'strict', input: { n: '1' } }], [{ name: 'strict', input: { n: 1 } }])
    await collect({ model: again, tools: [strict] })
    expect(resultsSentTo(again, 2).at(-1)).toEqual(['c10', '1'])
  })

  it('ENG-TOOL-004 three steps in a row without a call that could run end the turn with an error', async () => {
    const model = calling(...Array.from({ length: 5 }, (_, n) => [{ name: `nothing${n}` }]))
    const events = await collect({ model, tools: [tool('search', () => '')] })
    expect(model.requests).toHaveLength(3)
    expect(events.at(-1)).toMatchObject({
      type: 'error',
      error: { code: 'tool_failure', message: expect.stringMatching(/3 times in a row.*nothing2/s), hint: expect.any(String) },
    })
    expect(idsOf(events)).toHaveLength(3)
    const mixed = calling(...Array.from({ length: 6 }, (_, n) => [{ name: n % 3 === 2 ? 'search' : `nothing${n}` }]))
    expect((await collect({ model: mixed, tools: [tool('search', () => '')] })).at(-1)?.type).toBe('complete')
  })

  it('ENG-TOOL-004 any Standard Schema checks the input, and the tool receives its output', async () => {
    const { z } = await import('zod')
    const add = {
      name: 'add',
      description: '',
      inputSchema: z.object({ a: z.coerce.number(), b: z.number().default(2) }),
      needsPermission: false,
      call: ({ a, b }: { a: number; b: number }) => a + b,
    }
    const model = calling([
      { name: 'add', input: { a: '1' } },
      { name: 'add', input: { a: 1, b: 'x' } },
    ])
    const events = await collect({ model, tools: [add] })
    expect(resultsOf(events).toSorted()).toEqual(['3', expect.stringMatching(/do not fit the schema of add:\n- b: /)])
    const throwing = tool('bad', () => '', {
      inputSchema: {
        '~standard': {
          version: 1,
          vendor: 'x',
          validate: () => {
            throw new Error('broken')
          },
          jsonSchema: { input: () => ({}) },
        },
      },
    })
    expect(resultsOf(await collect({ model: calling([{ name: 'bad' }]), tools: [throwing] }))).toEqual([
      'The arguments cannot be checked: broken',
    ])
  })

  it.each<[what: string, call: () => unknown, content: RegExp, isError: boolean]>([
    [
      'throws an error',
      () => {
        throw new Error('Broke.')
      },
      /^The tool failed: Broke\.$/,
      true,
    ],
    ['throws a string', raise('a string'), /^The tool failed: a string$/, true],
    ['throws an object', raise({ a: 1 }), /^The tool failed: \{"a":1\}$/, true],
    [
      'throws an error without a message',
      () => {
        throw new TypeError()
      },
      /^The tool failed: TypeError$/,
      true,
    ],
    [
      'throws something that cannot be shown',
      raise({
        get message() {
          throw new Error('no')
        },
      }),
      /cannot be shown/,
      true,
    ],
    ['rejects with null', () => Promise.reject(null), /^The tool failed: null$/, true],
    ['rejects with undefined', () => Promise.reject(undefined), /^The tool failed: undefined$/, true],
    [
      'throws a key',
      () => {
        throw new Error('GET https://x.example/?key=abcdefgh12345 failed')
      },
      /key=\[redacted\] failed/,
      true,
    ],
    ['returns undefined', () => undefined, /^\(no output\)$/, false],
    ['returns null', () => null, /^\(no output\)$/, false],
    ['returns nothing but blanks', () => ' \n ', /^\(no output\)$/, false],
    [
      'returns a circular object',
      () => {
        const a: Record<string, unknown> = { b: 1 }
        a['self'] = [a]
        return a
      },
      /^\{"b":1,"self":\["\(circular\)"\]\}$/,
      false,
    ],
    [
      'returns one object twice',
      () => {
        const a = { n: 1 }
        return [a, a, { a }]
      },
      /^\[\{"n":1\},\{"n":1\},\{"a":\{"n":1\}\}\]$/,
      false,
    ],
    ['returns a BigInt', () => 12n, /^12$/, false],
    ['returns a BigInt inside', () => ({ n: 12n }), /^\{"n":"12"\}$/, false],
    ['returns a function', () => () => 1, /returned a function, which cannot be shown/, true],
    ['returns a symbol', () => Symbol('x'), /returned a symbol/, true],
    ['returns a function inside', () => ({ f: () => 1 }), /^\{"f":"\(a function\)"\}$/, false],
    ['returns an error', () => new Error('Returned.'), /^Returned\.$/, true],
    ['returns a number', () => 0, /^0$/, false],
    ['returns false', () => false, /^false$/, false],
    ['returns a map and a set', () => ({ m: new Map([['a', 1]]), s: new Set([1]) }), /^\{"m":\{"a":1\},"s":\[1\]\}$/, false],
    [
      'returns a map in itself',
      () => {
        const m = new Map<string, unknown>()
        m.set('m', m)
        return m
      },
      /^\{"m":"\(circular\)"\}$/,
      false,
    ],
    [
      'returns what cannot be written',
      () => ({
        toJSON: () => {
          throw new Error('never')
        },
      }),
      /cannot be shown as JSON: never/,
      false,
    ],
    [
      'returns something too deep',
      () => {
        let a: unknown = 1
        for (let i = 0; i < 100_000; i++) a = [a]
        return a
      },
      /cannot be shown as JSON/,
      false,
    ],
    ['returns lone surrogates', () => 'a\ud800b', /^a\ufffdb$/, false],
    ['returns NUL bytes', () => 'a\0b', /^\(not shown: binary output of 3 characters\)$/, false],
    ['returns bytes of text', () => new TextEncoder().encode('héllo'), /^héllo$/, false],
    ['returns binary data', () => new Uint8Array([0xff, 0xfe, 0, 1]), /^\(not shown: binary data, 4 bytes\)$/, false],
    ['returns bytes inside', () => ({ b: new Uint8Array(3) }), /^\{"b":"\(binary data, 3 bytes\)"\}$/, false],
    [
      'returns decoded binary data',
      () => new TextDecoder().decode(new Uint8Array(1000).map((_, i) => (i * 37) % 255 || 1)),
      /^\(not shown: binary output/,
      false,
    ],
    ['returns the text of an empty object', () => '{}', /^\{\}$/, false],
    ['returns an empty map', () => new Map(), /^\{\}$/, false],
    ['returns a response', () => new Response('text'), /^The tool returned a Response, which cannot be shown\.$/, true],
    [
      'returns an object of a class without a name',
      () => new (class extends EventTarget {})(),
      /^The tool returned an object, which cannot be shown\.$/,
      true,
    ],
    [
      'returns an object whose prototype has no constructor',
      () => Object.create(Object.create(null) as object) as object,
      /^The tool returned an object, which cannot be shown\.$/,
      true,
    ],
    [
      'returns an object whose constructor cannot be looked at',
      () => Object.create(Object.defineProperty({}, 'constructor', { get: raise(new Error('gone')) })) as object,
      /^The tool returned an object, which cannot be shown\.$/,
      true,
    ],
    [
      'returns an object whose class has a name that is not a string',
      () => Object.create({ constructor: { name: 5 } }) as object,
      /^The tool returned an object, which cannot be shown\.$/,
      true,
    ],
    ['returns an error object', () => new AggregateError([]), /AggregateError/, true],
    ['returns an empty object without a prototype', () => Object.create(null) as object, /^\{\}$/, false],
    [
      'returns a text that cannot be looked at',
      () => ({
        get content() {
          throw new Error('gone')
        },
      }),
      /^What the tool returned cannot be read \(gone\)\. Its effects are unknown/,
      true,
    ],
    [
      'returns a buffer that it has handed on',
      () => {
        const bytes = new Uint8Array(8)
        structuredClone(bytes, { transfer: [bytes.buffer] })
        return bytes
      },
      /^What the tool returned cannot be read/,
      true,
    ],
    [
      'throws what cannot be looked at',
      () => {
        const { proxy, revoke } = Proxy.revocable({}, {})
        revoke()
        return Promise.reject(proxy)
      },
      /^What the tool threw cannot be read/,
      true,
    ],
    [
      'returns attachments that are none',
      () => ({
        content: 'Here.',
        attachments: [
          { type: 'image', mediaType: 'image/png', data: 'http://[' },
          { type: 'file', mediaType: 'text/plain', data: 'QQ==', filename: 5 },
          { type: 'image', mediaType: 'image/png', data: 'QQ==', width: 5n },
        ],
      }),
      /^Here\.\n\(2 of 3 attachments left out/,
      false,
    ],
    ['reports a failure', () => ({ content: 'No such file.', isError: true }), /^No such file\.$/, true],
    ['returns text with empty content', () => ({ content: '' }), /^\(no output\)$/, false],
    ['returns JSON with a content that is not text', () => ({ content: 1 }), /^\{"content":1\}$/, false],
    [
      'returns a promise of a generator',
      async () =>
        (async function* () {
          return 'late'
        })(),
      /^late$/,
      false,
    ],
    [
      'returns a plain iterator',
      () =>
        (function* () {
          yield 'x'
          return 'sync'
        })(),
      /^sync$/,
      false,
    ],
  ])('ENG-TOOL-004 a tool that %s', async (_what, call, content, isError) => {
    const model = calling([{ name: 'odd' }])
    const events = await collect({ model, tools: [tool('odd', call as never)] })
    expect(all(events, 'tool_result')).toMatchObject([{ result: { content: expect.stringMatching(content), isError } }])
    expect(events.at(-1)?.type).toBe('complete')
    expect(resultsSentTo(model)).toHaveLength(1)
    expect(JSON.parse(JSON.stringify(events))).toEqual(events)
  })

  it('ENG-TOOL-004 oversized output keeps head and tail, and reports the omitted length', async () => {
    const text = `BEGIN${'é'.repeat(5_000_000)}END`
    const big = tool('big', () => text)
    const small = tool('small', () => text, { maxResultChars: 200 })
    const emoji = tool('emoji', () => '😀'.repeat(1000), { maxResultChars: 301 })
    const model = calling([{ name: 'big' }, { name: 'small' }, { name: 'emoji' }])
    const [first = '', second = '', third = ''] = resultsOf(await collect({ model, tools: [big, small, emoji] }))
    expect(first.length).toBeLessThanOrEqual(30_000)
    expect(first).toMatch(/^BEGIN.*\n\[… 4,9\d\d,\d\d\d of 5,000,008 characters left out.*\]\n.*END$/su)
    expect(second.length).toBeLessThanOrEqual(200)
    expect(third.isWellFormed()).toBe(true)
    expect(third).not.toContain('\ufffd')
  })

  it('ENG-TOOL-004 the results of a step are bounded together', async () => {
    const big = tool('big', () => 'x'.repeat(100_000), free)
    const model = calling(Array.from({ length: 100 }, () => ({ name: 'big' })))
    const results = resultsOf(await collect({ model, tools: [big] }))
    expect(results).toHaveLength(100)
    expect(results.join('').length).toBeLessThanOrEqual(400_000)
  })

  it('ENG-TOOL-004 images become attachments, up to a limit', async () => {
    const png = Buffer.from('89504e470d0a1a0a00000000', 'hex')
    const shot = tool('shot', () => png as never)
    const many = tool('many', () => ({
      content: 'Here.',
      attachments: [
        ...Array.from({ length: 12 }, () => ({ type: 'image' as const, mediaType: 'image/png', data: 'AAAA' })),
        RUBBISH,
      ],
    }))
    const model = calling([{ name: 'shot' }, { name: 'many' }])
    const events = await collect({ model, tools: [shot, many] })
    expect(resultsOf(events)).toEqual([
      '(attached: image/png, 12 bytes)',
      'Here.\n(3 of 13 attachments left out: too many, too large, or no attachments)',
    ])
    const parts = (model.requests[1]?.messages ?? []).flatMap((message) =>
      message.parts.filter((part) => part.type === 'tool-result'),
    )
    expect(parts.map((part) => part.attachments?.length)).toEqual([1, 10])
    expect(parts[0]?.attachments?.[0]).toEqual({ type: 'image', mediaType: 'image/png', data: png.toString('base64') })
  })

  it('ENG-TOOL-004 neither a tool nor a permission checker can change the history through the input', async () => {
    const vandal = tool(
      'vandal',
      (input) => {
        input['deep'] = 'changed'
        return 'ok'
      },
      { needsPermission: true },
    )
    const model = calling([{ name: 'vandal', input: { deep: { n: 1 } } }])
    const events = await collect({
      model,
      tools: [vandal],
      hasPermissionsToUseTool: (requests) => {
        for (const { input } of requests) Object.assign(input as object, { deep: 'changed' })
        return true
      },
    })
    expect(all(events, 'tool_request')[0]?.tool.input).toEqual({ deep: { n: 1 } })
    expect(model.requests[1]?.messages.find(({ role }) => role === 'assistant')?.toolCalls?.[0]?.input).toEqual({
      deep: { n: 1 },
    })
  })

  it('ENG-TOOL-004 a call that is cancelled while its rules are evaluated does not run', async () => {
    const cancel = new AbortController()
    let looks = 0
    let ran = 0
    const reader = tool('read_file', () => ++ran, {
      subjects: () => {
        // Called first to judge the call, then to find its closed paths.
        if (++looks === 2) cancel.abort()
        return [{ kind: 'path', path: '/docs/open.md' }]
      },
    })
    const model = calling([{ name: 'read_file' }])
    const rules = { deny: ['read_file(/docs/closed/**)'] }
    const events = await collect({ model, tools: [reader], rules, abortSignal: cancel.signal })
    expect([looks, ran]).toEqual([2, 0])
    expect(resultsOf(events)).toEqual(['Cancelled before it began: it has done nothing.'])
    expect(events.at(-1)?.type).toBe('cancelled')
  })

  it('ENG-TOOL-004 calls that share an id are distinguished, and each has its result when the turn ends between them', async () => {
    const cancel = new AbortController()
    const last = (): string => {
      cancel.abort()
      return 'Done.'
    }
    const alone = tool('alone', last, { resources: () => ({ writes: ['it'] }) })
    const model = calling([
      { id: 'same', name: 'alone' },
      { id: 'same', name: 'alone' },
    ])
    const events = await collect({ model, tools: [alone], abortSignal: cancel.signal })
    const asked = all(events, 'tool_request').map(({ tool: { id } }) => id)
    expect(new Set(asked).size).toBe(2)
    expect(asked[0]).toBe('same')
    expect(idsOf(events)).toEqual(asked)
    expect(resultsOf(events)).toEqual(['Done.', 'Not run: the turn ended before.'])
  })

  it('ENG-TOOL-004 a secret in an error of a tool is not in any span', async () => {
    const spans: SpanRecord[] = []
    const leaky = tool('leaky', raise(new Error('GET https://x.example/?key=abcdefgh12345 failed')))
    const spanMirror: SpanMirror = {
      start: () => ({ run: (work) => work(), end: (record) => void spans.push(record) }),
    }
    await collect({ model: calling([{ name: 'leaky' }]), tools: [leaky], spanMirror })
    const failed = spans.find(({ name }) => name === 'execute_tool')
    expect(failed).toMatchObject({ status: 'error', error: 'GET https://x.example/?key=[redacted] failed' })
  })

  it('ENG-DEGR-001 a failed tool and a refused permission do not end the turn', async () => {
    const broken = tool('broken', () => Promise.reject(new Error('Out of order.')), free)
    const forbidden = tool('forbidden', () => 'never', { needsPermission: true })
    const fine = tool('fine', () => 'fine', free)
    const model = calling([{ name: 'broken' }, { name: 'forbidden' }, { name: 'fine' }], [{ name: 'fine' }])
    const events = await collect({ model, tools: [broken, forbidden, fine], hasPermissionsToUseTool: () => false })
    expect(events.at(-1)).toMatchObject({ type: 'complete', result: { steps: 3, text: 'Done.' } })
    expect(resultsSentTo(model).map(([, content]) => content)).toEqual([
      'The tool failed: Out of order.',
      expect.stringMatching(/^Permission denied: .* Try another way/),
      'fine',
    ])
  })
})
