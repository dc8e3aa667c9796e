/**
 * Tests codecs with small recordings of documented answers and of known oddities of servers. Every branch of every codec has at least one, so that
 * all are tested without the larger recordings outside the repository.
 */

import { describe, expect, test } from 'vitest'
import { decodeStream, decodeWhole } from '../../test/support/decode.ts'
import type { Frames } from '../../test/support/decode.ts'
import { CUTS } from '../../test/support/wire-server.ts'
import type { JsonObject } from '../core/json.ts'
import type { ApiName } from './api.ts'

type Streamed = readonly [what: string, frames: Frames, expected: readonly string[]]
type Whole = readonly [what: string, body: JsonObject, expected: readonly string[]]

const DONE = 'data: [DONE]\n\n'

const piece = (delta: object, finish: string | null = null): object => ({
  id: 'c1',
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
})
const calls = (...tool_calls: object[]): object => piece({ tool_calls })
const CHAT_STREAMS: Streamed[] = [
  [
    'calls distinguished by their position in the list, in two events',
    [
      calls({ function: { name: 'find', arguments: '{"q":' } }, { function: { name: 'now', arguments: '' } }),
      calls({ function: { arguments: '1}' } }, { function: { arguments: '{}' } }),
      piece({}, 'tool_calls'),
      DONE,
    ],
    [
      'response c1 m',
      'input own_1 find "{\\"q\\":"',
      'input own_2 now ""',
      'input own_1 find "1}"',
      'input own_2 now "{}"',
      'call own_1 find {"q":1}',
      'call own_2 now {}',
      'finish tool-calls tool_calls',
      'usage - - - - - -',
    ],
  ],
  [
    'new ids under one number, with arguments that are whole',
    [
      calls({ index: 0, id: 'a', function: { name: 'find', arguments: '{}' } }),
      calls({ index: 0, id: 'b', function: { name: 'find', arguments: '{}' } }),
      piece({}, 'tool_calls'),
      DONE,
    ],
    [
      'response c1 m',
      'input a find "{}"',
      'input b find "{}"',
      'call a find {}',
      'call b find {}',
      'finish tool-calls tool_calls',
      'usage - - - - - -',
    ],
  ],
  [
    'text, usage and a reason',
    [
      piece({ role: 'assistant', content: '' }),
      piece({ content: 'It ' }),
      piece({ content: 'is.' }),
      piece({}, 'stop'),
      {
        id: 'c1',
        model: 'm',
        choices: [],
        usage: {
          prompt_tokens: 3,
          completion_tokens: 2,
          total_tokens: 5,
          prompt_tokens_details: { cached_tokens: 1, cache_write_tokens: 1 },
          completion_tokens_details: { reasoning_tokens: 1 },
        },
      },
      DONE,
    ],
    ['response c1 m', 'text "It is."', 'finish stop stop', 'usage 3 2 5 1 1 1'],
  ],
  [
    'an end mark without a reason',
    [piece({ content: 'Yes.' }), DONE],
    ['response c1 m', 'text "Yes."', 'finish other', 'usage - - - - - -'],
  ],
  [
    'no end mark, and a reason',
    [piece({ content: 'Yes.' }), piece({}, 'length')],
    ['response c1 m', 'text "Yes."', 'finish length length', 'usage - - - - - -'],
  ],
  [
    'neither an end mark nor a reason',
    [piece({ content: 'Yes.' })],
    ['response c1 m', 'text "Yes."', 'error stream_interrupted test: the answer broke off: interrupted'],
  ],
  [
    'an empty reason',
    [piece({ content: 'Yes.' }, ''), DONE],
    ['response c1 m', 'text "Yes."', 'finish other', 'usage - - - - - -'],
  ],
  [
    'what comes after the end mark',
    [piece({ content: 'Yes.' }, 'stop'), DONE, piece({ content: 'More.' })],
    ['response c1 m', 'text "Yes."', 'finish stop stop', 'usage - - - - - -'],
  ],
  [
    'an end mark without an empty line after it',
    [piece({ content: 'Yes.' }, 'stop'), 'data: [DONE]\ndata: {"choices":[]}\n\n'],
    ['response c1 m', 'text "Yes."', 'finish stop stop', 'usage - - - - - -'],
  ],
  [
    'reasoning under its first name',
    [piece({ reasoning_content: 'Hm.' }), piece({ content: 'Yes.' }), piece({}, 'stop'), DONE],
    ['response c1 m', 'thinking "Hm."', 'thinking-end', 'text "Yes."', 'finish stop stop', 'usage - - - - - -'],
  ],
  [
    'reasoning under its second name, the first one empty',
    [piece({ reasoning_content: '', reasoning: 'Hm.' }), piece({ content: 'Yes.' }), piece({}, 'stop'), DONE],
    ['response c1 m', 'thinking "Hm."', 'thinking-end', 'text "Yes."', 'finish stop stop', 'usage - - - - - -'],
  ],
  [
    'thinking and text as lists of parts',
    [
      piece({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] }),
      piece({ content: [{ type: 'text', text: 'Yes.' }] }),
      piece({}, 'stop'),
      DONE,
    ],
    ['response c1 m', 'thinking "Hm."', 'thinking-end', 'text "Yes."', 'finish stop stop', 'usage - - - - - -'],
  ],
  [
    'a refusal',
    [piece({ refusal: 'I cannot.' }), piece({}, 'stop'), DONE],
    ['response c1 m', 'text "I cannot."', 'finish content-filter stop', 'usage - - - - - -'],
  ],
  [
    'usage in the last choice and in x_groq',
    [
      piece({ content: 'Yes.' }),
      {
        id: 'c1',
        choices: [
          { index: 0, delta: {}, finish_reason: 'stop', usage: { prompt_tokens: 3, completion_tokens: 2, cached_tokens: 2 } },
        ],
        x_groq: { usage: { total_tokens: 5, prompt_cache_hit_tokens: 0 } },
      },
      DONE,
    ],
    ['response c1 m', 'text "Yes."', 'finish stop stop', 'usage 3 2 5 2 - -'],
  ],
  [
    'a whole message in place of pieces',
    [
      {
        id: 'c1',
        model: 'm',
        choices: [
          {
            index: 0,
            message: { content: 'Yes.', tool_calls: [{ id: 'a', function: { name: 'find', arguments: '{}' } }] },
            finish_reason: 'tool_calls',
          },
        ],
      },
      DONE,
    ],
    ['response c1 m', 'text "Yes."', 'input a find "{}"', 'call a find {}', 'finish tool-calls tool_calls', 'usage - - - - - -'],
  ],
  [
    'an empty chunk before the first, without id and model',
    [{ id: '', model: '', choices: [], prompt_filter_results: [] }, piece({ content: 'Yes.' }, 'stop'), DONE],
    ['response c1 m', 'text "Yes."', 'finish stop stop', 'usage - - - - - -'],
  ],
  [
    'several answers in turn',
    [
      { choices: [{ index: 1, delta: { content: 'B' } }] },
      {
        choices: [
          { index: 0, delta: { content: 'A' } },
          { index: 1, delta: { content: 'b' } },
        ],
      },
      { choices: [{ index: 0, delta: {}, finish_reason: 'length' }] },
      { choices: [{ index: 1, delta: {}, finish_reason: 'stop' }] },
      DONE,
    ],
    ['text "Bb"', 'finish stop stop', 'usage - - - - - -'],
  ],
  [
    'a call in pieces',
    [
      calls({ index: 0, id: 'a', function: { name: 'find', arguments: '' } }),
      calls({ index: 0, function: { arguments: '{"q":' } }),
      calls({ index: 0, function: { arguments: '1}' } }),
      piece({}, 'tool_calls'),
      DONE,
    ],
    ['response c1 m', 'input a find "{\\"q\\":1}"', 'call a find {"q":1}', 'finish tool-calls tool_calls', 'usage - - - - - -'],
  ],
  [
    'an id that is taken, and one that is missing',
    [
      calls(
        { index: 0, id: 'taken', function: { name: 'find', arguments: '{}' } },
        { index: 1, function: { name: 'find', arguments: '{}' } },
      ),
      piece({}, 'tool_calls'),
      DONE,
    ],
    [
      'response c1 m',
      'input own_1 find "{}"',
      'input own_2 find "{}"',
      'call own_1 find {}',
      'call own_2 find {}',
      'finish tool-calls tool_calls',
      'usage - - - - - -',
    ],
  ],
  [
    'arguments as an object, a number for an id, a text for an index',
    [calls({ index: '0', id: 7, function: { name: 'find', arguments: { q: 1 } } }), piece({}, 'tool_calls'), DONE],
    ['response c1 m', 'input 7 find "{\\"q\\":1}"', 'call 7 find {"q":1}', 'finish tool-calls tool_calls', 'usage - - - - - -'],
  ],
  [
    'no arguments, name beside the id',
    [calls({ id: 'a', name: 'find' }), piece({}, 'tool_calls'), DONE],
    ['response c1 m', 'input a find ""', 'call a find {}', 'finish tool-calls tool_calls', 'usage - - - - - -'],
  ],
  [
    'a name that arrives after its arguments',
    [
      calls({ index: 0, id: 'a', function: { arguments: '{"q"' } }),
      calls({ index: 0, function: { name: 'find', arguments: ':1}' } }),
      piece({}, 'tool_calls'),
      DONE,
    ],
    ['response c1 m', 'input a find "{\\"q\\":1}"', 'call a find {"q":1}', 'finish tool-calls tool_calls', 'usage - - - - - -'],
  ],
  [
    'no name at all',
    [calls({ index: 0, id: 'a', function: { arguments: '{}' } }), piece({}, 'tool_calls'), DONE],
    ['response c1 m', 'input a _ "{}"', 'call a _ {}', 'finish tool-calls tool_calls', 'usage - - - - - -'],
  ],
  [
    'arguments that are not JSON',
    [calls({ index: 0, id: 'a', function: { name: 'find', arguments: '{"q": tru' } }), piece({}, 'length'), DONE],
    [
      'response c1 m',
      'input a find "{\\"q\\": tru"',
      'call a find "{\\"q\\": tru" invalid',
      'finish length length',
      'usage - - - - - -',
    ],
  ],
  [
    'the older function call',
    [piece({ function_call: { name: 'find', arguments: '{"q":1}' } }), piece({}, 'function_call'), DONE],
    [
      'response c1 m',
      'input own_1 find "{\\"q\\":1}"',
      'call own_1 find {"q":1}',
      'finish tool-calls function_call',
      'usage - - - - - -',
    ],
  ],
  [
    'an empty function call',
    [piece({ content: 'Yes.', function_call: { name: '', arguments: '' } }), piece({}, 'stop'), DONE],
    ['response c1 m', 'text "Yes."', 'finish stop stop', 'usage - - - - - -'],
  ],
  [
    'a call that Gemini signs over this API',
    [
      calls({
        index: 0,
        id: 'a',
        function: { name: 'find', arguments: '{}' },
        extra_content: { google: { thought_signature: 'SIG' } },
      }),
      piece({}, 'tool_calls'),
      DONE,
    ],
    [
      'response c1 m',
      'input a find "{}"',
      'call a find {} {"google":{"thoughtSignature":"SIG"}}',
      'finish tool-calls tool_calls',
      'usage - - - - - -',
    ],
  ],
  [
    'the whole call again after its pieces',
    [
      calls({ index: 0, id: 'a', function: { name: 'find', arguments: '' } }),
      calls({ index: 0, function: { arguments: '{"q":1}' } }),
      calls({ index: 0, id: 'a', function: { name: 'find', arguments: '{"q":1}' } }),
      piece({}, 'tool_calls'),
      DONE,
    ],
    ['response c1 m', 'input a find "{\\"q\\":1}"', 'call a find {"q":1}', 'finish tool-calls tool_calls', 'usage - - - - - -'],
  ],
  [
    'an error inside a choice',
    [piece({ content: 'Y' }), { choices: [{ index: 0, delta: {}, error: { code: 502, message: 'Boom.' } }] }],
    ['response c1 m', 'text "Y"', 'error overloaded test answered 502: Boom.'],
  ],
  [
    'an error inside a choice without a message',
    [{ choices: [{ index: 0, error: {} }] }],
    ['error overloaded test reported an error: The upstream of the provider failed.'],
  ],
  [
    'an error in the stream',
    [piece({ content: 'Y' }), { error: { message: 'Boom.', code: 503 } }, DONE],
    ['response c1 m', 'text "Y"', 'error overloaded test answered 503: Boom.'],
  ],
  [
    'a list of errors',
    [piece({ content: 'Y' }), { errors: [{ message: 'Boom.' }] }, DONE],
    ['response c1 m', 'text "Y"', 'error overloaded test reported an error: Boom.'],
  ],
  [
    'an error in a field of its own',
    [piece({ content: 'Y' }), 'error: {"code":500,"message":"Boom."}\n\n'],
    ['response c1 m', 'text "Y"', 'error overloaded test answered 500: Boom.'],
  ],
  [
    'an empty error beside the answer',
    [{ error: null, ...piece({ content: 'Yes.' }, 'stop') }, DONE],
    ['response c1 m', 'text "Yes."', 'finish stop stop', 'usage - - - - - -'],
  ],
  [
    'an event that is not JSON',
    [piece({ content: 'Y' }), 'data: {"choices"\n\n'],
    ['response c1 m', 'text "Y"', 'error stream_interrupted test: event 2 of the stream is not JSON: "{\\"choices\\"".'],
  ],
  [
    'events without content',
    [
      'data:\n\n',
      'data: null\n\n',
      'data: "ping"\n\n',
      ': comment\n\n',
      piece({ content: 'Yes.' }, 'stop'),
      { type: 'vendor.note', message: 'x' },
      DONE,
    ],
    ['response c1 m', 'text "Yes."', 'finish stop stop', 'usage - - - - - -'],
  ],
  [
    'an unfinished last event',
    [piece({ content: 'Yes.' }, 'stop'), 'data: {"choices":[{"del'],
    ['response c1 m', 'text "Yes."', 'finish stop stop', 'usage - - - - - -'],
  ],
  [
    'half a surrogate pair in each of two deltas',
    [piece({ content: 'a\uD83D' }), piece({ content: '\uDE00b' }), piece({}, 'stop'), DONE],
    ['response c1 m', 'text "a😀b"', 'finish stop stop', 'usage - - - - - -'],
  ],
  [
    'half a surrogate pair alone',
    [piece({ content: 'a\uD83D' }), piece({ reasoning: '\uDE00' }), piece({ content: '\uD83D' }), piece({}, 'stop'), DONE],
    [
      'response c1 m',
      'text "a\\ud83d"',
      'thinking "\\ude00"',
      'thinking-end',
      'text "\\ud83d"',
      'finish stop stop',
      'usage - - - - - -',
    ],
  ],
]
const CHAT_WHOLE: Whole[] = [
  [
    'an answer with everything',
    {
      id: 'c1',
      model: 'm',
      choices: [
        {
          message: {
            content: 'Yes.',
            reasoning: 'Hm.',
            tool_calls: [
              {
                id: 'a',
                function: { name: 'find', arguments: '{"q":1}' },
                extra_content: { google: { thought_signature: 'SIG' } },
              },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 3, completion_tokens: 2 },
    },
    [
      'response c1 m',
      'thinking "Hm."',
      'thinking-end',
      'text "Yes."',
      'call a find {"q":1} {"google":{"thoughtSignature":"SIG"}}',
      'finish tool-calls tool_calls',
      'usage 3 2 - - - -',
    ],
  ],
  [
    'a refusal, without a reason',
    { choices: [{ message: { content: null, refusal: 'No.' } }] },
    ['text "No."', 'finish content-filter', 'usage - - - - - -'],
  ],
  [
    'the older function call',
    { choices: [{ message: { function_call: { name: 'find', arguments: '{}' } }, finish_reason: 'function_call' }] },
    ['call own_1 find {}', 'finish tool-calls function_call', 'usage - - - - - -'],
  ],
  [
    'an error inside the choice',
    { choices: [{ error: { message: 'Boom.', code: 429 } }] },
    ['error rate_limited test answered 429: Boom.'],
  ],
  ['nothing', { choices: [] }, ['finish other', 'usage - - - - - -']],
]

const added = (output_index: number, item: object): object => ({ type: 'response.output_item.added', output_index, item })
const ended = (output_index: number, item: object): object => ({ type: 'response.output_item.done', output_index, item })
const said = (delta: string, output_index = 0): object => ({
  type: 'response.output_text.delta',
  output_index,
  item_id: 'i',
  delta,
})
const summary = (delta: string, summary_index = 0): object => ({
  type: 'response.reasoning_summary_text.delta',
  output_index: 0,
  item_id: 'rs',
  summary_index,
  delta,
})
const completed = (more: object = {}, type = 'response.completed'): object => ({
  type,
  response: {
    id: 'r1',
    model: 'm-1',
    status: type.slice('response.'.length),
    usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
    output: [],
    ...more,
  },
})
/** `CALL`, streamed, at the end of a response. */
const CALLED = [
  'input a find "{\\"q\\":1}"',
  'call a find {"q":1}',
  'response r1 m-1',
  'finish tool-calls completed',
  'usage 3 2 5 - - -',
]
const CALL: JsonObject = { id: 'fc', type: 'function_call', call_id: 'a', name: 'find', arguments: '{"q":1}' }
/** `CALL`, begun, with these pieces of its arguments. */
const written = (...deltas: readonly string[]): object[] => [
  added(0, { ...CALL, arguments: '' }),
  ...deltas.map((delta) => ({ type: 'response.function_call_arguments.delta', output_index: 0, delta })),
]
const message = (text: string, more: JsonObject = {}): JsonObject => ({
  id: 'i',
  type: 'message',
  content: [{ type: 'output_text', text }],
  ...more,
})
const RESPONSES_STREAMS: Streamed[] = [
  [
    'a call and a text that the end repeats',
    [said('Yes.'), ended(1, CALL), completed({ output: [message('Yes.'), CALL] })],
    ['text "Yes."', 'call a find {"q":1}', 'response r1 m-1', 'finish tool-calls completed', 'usage 3 2 5 - - -'],
  ],
  [
    'deltas under another number than their item',
    [said('Yes.', 3), ended(0, message('Yes.')), completed()],
    ['text "Yes."', 'response r1 m-1', 'finish stop completed', 'usage 3 2 5 - - -'],
  ],
  [
    'text, and a model that is named more exactly at the end',
    [
      { type: 'response.created', response: { id: 'r1', model: 'm' } },
      added(0, message('')),
      said('It '),
      said('is.'),
      ended(0, message('It is.')),
      completed(),
    ],
    ['response r1 m', 'text "It is."', 'response - m-1', 'finish stop completed', 'usage 3 2 5 - - -'],
  ],
  [
    'an item that is longer than its deltas',
    [said('It '), ended(0, message('It is.')), completed({ output: [message('It is.')] })],
    ['text "It is."', 'response r1 m-1', 'finish stop completed', 'usage 3 2 5 - - -'],
  ],
  [
    'an item whose text is another one',
    [said('It was.'), ended(0, message('It is not so.')), completed()],
    ['text "It was."', 'response r1 m-1', 'finish stop completed', 'usage 3 2 5 - - -'],
  ],
  [
    'text in whole items only',
    [ended(0, message('It ')), ended(1, message('is.')), completed()],
    ['text "It is."', 'response r1 m-1', 'finish stop completed', 'usage 3 2 5 - - -'],
  ],
  [
    'text with the end of the response only',
    [completed({ output: [message('It is.')] })],
    ['text "It is."', 'response r1 m-1', 'finish stop completed', 'usage 3 2 5 - - -'],
  ],
  [
    'a call with the end of the response only',
    [completed({ output: [CALL] })],
    ['call a find {"q":1}', 'response r1 m-1', 'finish tool-calls completed', 'usage 3 2 5 - - -'],
  ],
  [
    'a call with the end of a response that was cut',
    [said('It'), completed({ output: [CALL], incomplete_details: { reason: 'max_output_tokens' } }, 'response.incomplete')],
    ['text "It"', 'response r1 m-1', 'finish length max_output_tokens', 'usage 3 2 5 - - -'],
  ],
  [
    'a phase that goes back',
    [said('So.'), ended(0, message('So.', { phase: 'commentary' })), completed()],
    ['text "So."', 'text "" {"openai":{"phase":"commentary"}}', 'response r1 m-1', 'finish stop completed', 'usage 3 2 5 - - -'],
  ],
  [
    'a refusal in deltas',
    [{ type: 'response.refusal.delta', output_index: 0, delta: 'No.' }, completed()],
    ['text "No."', 'response r1 m-1', 'finish content-filter completed', 'usage 3 2 5 - - -'],
  ],
  [
    'a refusal in an item',
    [ended(0, { type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] }), completed()],
    ['text "No."', 'response r1 m-1', 'finish content-filter completed', 'usage 3 2 5 - - -'],
  ],
  ['a call in pieces', [...written('{"q":', '1}'), ended(0, CALL), completed()], CALLED],
  ['a call whose arguments are longer than its pieces', [...written('{"q":'), ended(0, CALL), completed()], CALLED],
  ['a call whose item has no arguments', [...written('{"q":1}'), ended(0, { ...CALL, arguments: '' }), completed()], CALLED],
  [
    'a call that is never ended',
    [...written('{}'), completed()],
    ['input a find "{}"', 'response r1 m-1', 'call a find {}', 'finish tool-calls completed', 'usage 3 2 5 - - -'],
  ],
  [
    'a call without ids, with a namespace',
    [ended(0, { type: 'function_call', name: 'find', arguments: { q: 1 }, namespace: 'docs' }), completed()],
    [
      'call own_1 find {"q":1} {"openai":{"namespace":"docs"}}',
      'response r1 m-1',
      'finish tool-calls completed',
      'usage 3 2 5 - - -',
    ],
  ],
  [
    'calls whose pieces are distinguished by their item',
    [
      { type: 'response.output_item.added', item: { ...CALL, arguments: '' } },
      { type: 'response.function_call_arguments.delta', item_id: 'fc', delta: '{"q":1}' },
      { type: 'response.output_item.done', item: CALL },
      completed(),
    ],
    CALLED,
  ],
  [
    'a summary of the reasoning in two parts',
    [
      summary('One.'),
      summary('Two.', 1),
      ended(0, { id: 'rs', type: 'reasoning', encrypted_content: 'ENC', summary: [{ text: 'One.' }, { text: 'Two.' }] }),
      said('Yes.', 1),
      completed(),
    ],
    [
      'thinking "One."',
      'thinking-end {"openai":{"itemId":"rs"}}',
      'thinking "Two."',
      'thinking-end {"openai":{"itemId":"rs","reasoningEncryptedContent":"ENC"}}',
      'text "Yes."',
      'response r1 m-1',
      'finish stop completed',
      'usage 3 2 5 - - -',
    ],
  ],
  [
    'a summary in its item only',
    [
      ended(0, { id: 'rs', type: 'reasoning', encrypted_content: 'ENC', summary: [{ text: 'One.' }, { text: 'Two.' }] }),
      completed(),
    ],
    [
      'thinking "One."',
      'thinking-end {"openai":{"itemId":"rs"}}',
      'thinking "Two."',
      'thinking-end {"openai":{"itemId":"rs","reasoningEncryptedContent":"ENC"}}',
      'response r1 m-1',
      'finish stop completed',
      'usage 3 2 5 - - -',
    ],
  ],
  [
    'a summary that is longer than its deltas',
    [summary('One'), ended(0, { id: 'rs', type: 'reasoning', summary: [{ text: 'One.' }] }), completed()],
    [
      'thinking "One."',
      'thinking-end {"openai":{"itemId":"rs"}}',
      'response r1 m-1',
      'finish stop completed',
      'usage 3 2 5 - - -',
    ],
  ],
  [
    'the reasoning itself, and a summary of it, which is not read',
    [
      { type: 'response.reasoning_text.delta', output_index: 0, item_id: 'rs', delta: 'Hm.' },
      summary('One.'),
      { type: 'response.reasoning.delta', output_index: 0, item_id: 'rs', delta: { text: ' So.' } },
      ended(0, { id: 'rs', type: 'reasoning', content: [{ text: 'Hm. So.' }] }),
      completed(),
    ],
    [
      'thinking "Hm. So."',
      'thinking-end {"openai":{"itemId":"rs"}}',
      'response r1 m-1',
      'finish stop completed',
      'usage 3 2 5 - - -',
    ],
  ],
  [
    'encrypted reasoning without words',
    [ended(0, { id: 'rs', type: 'reasoning', encrypted_content: 'ENC', summary: [] }), said('Yes.', 1), completed()],
    [
      'thinking-end {"openai":{"itemId":"rs","reasoningEncryptedContent":"ENC"}}',
      'text "Yes."',
      'response r1 m-1',
      'finish stop completed',
      'usage 3 2 5 - - -',
    ],
  ],
  [
    'a tool that ran at the provider',
    [
      ended(0, { id: 'ws', type: 'web_search_call', status: 'completed' }),
      ended(1, { id: 'cp', type: 'compaction' }),
      said('Yes.', 2),
      completed(),
    ],
    [
      'opaque tool-call:web_search {"block":{"id":"ws","type":"web_search_call","status":"completed"}}',
      'opaque compaction {"block":{"id":"cp","type":"compaction"}}',
      'text "Yes."',
      'response r1 m-1',
      'finish stop completed',
      'usage 3 2 5 - - -',
    ],
  ],
  [
    'calls that we never offer, and an item without a type',
    [ended(0, { type: 'local_shell_call', call_id: 'x' }), ended(1, { id: 'y' }), said('Yes.', 2), completed()],
    ['text "Yes."', 'response r1 m-1', 'finish stop completed', 'usage 3 2 5 - - -'],
  ],
  [
    'a response that failed',
    [said('Y'), completed({ error: { code: 'server_error', message: 'Boom.' } }, 'response.failed')],
    ['text "Y"', 'error overloaded test reported an error (server_error): Boom.'],
  ],
  [
    'a response that failed without an error',
    [said('Y'), completed({ error: null }, 'response.failed')],
    ['text "Y"', 'response r1 m-1', 'finish error failed', 'usage 3 2 5 - - -'],
  ],
  [
    'an error event',
    [said('Y'), { type: 'error', code: 'rate_limit_exceeded', message: 'Boom.', sequence_number: 3 }],
    ['text "Y"', 'error rate_limited test reported an error (rate_limit_exceeded): Boom.'],
  ],
  [
    'what comes after the end',
    [said('Yes.'), completed(), said('More.')],
    ['text "Yes."', 'response r1 m-1', 'finish stop completed', 'usage 3 2 5 - - -'],
  ],
  ['no end', [said('Yes.')], ['text "Yes."', 'error stream_interrupted test: the answer broke off: interrupted']],
]
const RESPONSES_WHOLE: Whole[] = [
  [
    'an answer with everything',
    {
      id: 'r1',
      model: 'm',
      status: 'completed',
      output: [
        { id: 'rs', type: 'reasoning', encrypted_content: 'ENC', summary: [{ text: 'Hm.' }] },
        message('Yes.'),
        CALL,
        { type: 'web_search_call', id: 'ws' },
      ],
      usage: {
        input_tokens: 3,
        output_tokens: 2,
        input_tokens_details: { cached_tokens: 1, cache_write_tokens: 0 },
        output_tokens_details: { reasoning_tokens: 1 },
      },
    },
    [
      'response r1 m',
      'thinking "Hm."',
      'thinking-end {"openai":{"itemId":"rs","reasoningEncryptedContent":"ENC"}}',
      'text "Yes."',
      'call a find {"q":1}',
      'opaque tool-call:web_search {"block":{"type":"web_search_call","id":"ws"}}',
      'finish tool-calls completed',
      'usage 3 2 - 1 0 1',
    ],
  ],
  [
    'one that was cut',
    { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output: [message('Ye')] },
    ['text "Ye"', 'finish length max_output_tokens', 'usage - - - - - -'],
  ],
  [
    'one that failed',
    { status: 'failed', error: { code: 'server_error', message: 'Boom.' }, output: [] },
    ['error overloaded test reported an error (server_error): Boom.'],
  ],
  [
    'one that is not finished',
    { status: 'in_progress', output: [message('Ye')] },
    ['text "Ye"', 'finish error in_progress', 'usage - - - - - -'],
  ],
]

const head = (more: object = {}): object => ({
  type: 'message_start',
  message: {
    id: 'm1',
    model: 'm',
    content: [],
    usage: { input_tokens: 3, output_tokens: 1, cache_read_input_tokens: 2 },
    ...more,
  },
})
const begin = (content_block: object, index = 0): object => ({ type: 'content_block_start', index, content_block })
const delta = (given: object, index = 0): object => ({ type: 'content_block_delta', index, delta: given })
const halt = (index = 0): object => ({ type: 'content_block_stop', index })
const word = (text: string, index = 0): object => delta({ type: 'text_delta', text }, index)
const end = (stop_reason: string | null = 'end_turn', usage: object | null = { output_tokens: 2 }): object => ({
  type: 'message_delta',
  delta: { stop_reason },
  usage,
})
const over = { type: 'message_stop' }
/** An answer of Messages after signed thinking. */
const SIGNED = [
  'response m1 m',
  'thinking "Hm."',
  'thinking-end {"anthropic":{"signature":"SIG"}}',
  'text "Yes."',
  'finish stop end_turn',
  'usage 5 2 - 2 - -',
]
const MESSAGES_STREAMS: Streamed[] = [
  [
    'text',
    [head(), { type: 'ping' }, begin({ type: 'text', text: '' }), word('It '), word('is.'), halt(), end(), over],
    ['response m1 m', 'text "It is."', 'finish stop end_turn', 'usage 5 2 - 2 - -'],
  ],
  [
    'thinking with its signature',
    [
      head(),
      begin({ type: 'thinking', thinking: '' }),
      delta({ type: 'thinking_delta', thinking: 'Hm.' }),
      delta({ type: 'signature_delta', signature: 'SIG' }),
      halt(),
      begin({ type: 'text', text: '' }, 1),
      word('Yes.', 1),
      halt(1),
      end(),
      over,
    ],
    SIGNED,
  ],
  [
    'redacted thinking',
    [
      head(),
      begin({ type: 'redacted_thinking', data: 'DATA' }),
      halt(),
      begin({ type: 'text' }, 1),
      word('Yes.', 1),
      halt(1),
      end(),
      over,
    ],
    [
      'response m1 m',
      'thinking-end {"anthropic":{"redactedData":"DATA"}}',
      'text "Yes."',
      'finish stop end_turn',
      'usage 5 2 - 2 - -',
    ],
  ],
  [
    'blocks that start with text',
    [
      head(),
      begin({ type: 'thinking', thinking: 'Hm.', signature: 'SIG' }),
      halt(),
      begin({ type: 'text', text: 'Yes.' }, 1),
      halt(1),
      end(),
      over,
    ],
    SIGNED,
  ],
  [
    'a call in pieces',
    [
      head(),
      begin({ type: 'tool_use', id: 'a', name: 'find', input: {} }),
      delta({ type: 'input_json_delta', partial_json: '{"q":' }),
      delta({ type: 'input_json_delta', partial_json: '1}' }),
      halt(),
      end('tool_use'),
      over,
    ],
    ['response m1 m', 'input a find "{\\"q\\":1}"', 'call a find {"q":1}', 'finish tool-calls tool_use', 'usage 5 2 - 2 - -'],
  ],
  [
    'a call that begins with its arguments, made by code that ran there',
    [
      head(),
      begin({
        type: 'tool_use',
        id: 'a',
        name: 'find',
        input: { q: 1 },
        caller: { type: 'code_execution_20250825', tool_id: 't' },
      }),
      halt(),
      end('tool_use'),
      over,
    ],
    [
      'response m1 m',
      'input a find ""',
      'call a find {"q":1} {"anthropic":{"caller":{"type":"code_execution_20250825","tool_id":"t"}}}',
      'finish tool-calls tool_use',
      'usage 5 2 - 2 - -',
    ],
  ],
  [
    'direct calls of the model, one without an end',
    [head(), begin({ type: 'tool_use', id: 'a', name: 'find', input: {}, caller: { type: 'direct' } }), end('tool_use'), over],
    ['response m1 m', 'input a find ""', 'call a find {}', 'finish tool-calls tool_use', 'usage 5 2 - 2 - -'],
  ],
  [
    'tools that ran at the provider',
    [
      head(),
      begin({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
      delta({ type: 'input_json_delta', partial_json: '{"query":"x"}' }),
      halt(),
      begin({ type: 'web_search_tool_result', tool_use_id: 's', content: [] }, 1),
      halt(1),
      begin({ type: 'mcp_tool_use', id: 'p', name: 'echo', input: {} }, 2),
      halt(2),
      begin({ type: 'container_upload', file_id: 'f' }, 3),
      end('pause_turn'),
      over,
    ],
    [
      'response m1 m',
      'opaque tool-call:web_search {"block":{"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"x"}}}',
      'opaque tool-result:web_search {"block":{"type":"web_search_tool_result","tool_use_id":"s","content":[]}}',
      'opaque tool-call:echo {"block":{"type":"mcp_tool_use","id":"p","name":"echo","input":{}}}',
      'opaque container_upload {"block":{"type":"container_upload","file_id":"f"}}',
      'finish stop pause_turn',
      'usage 5 2 - 2 - -',
    ],
  ],
  [
    'citations, unknown deltas and unknown events',
    [
      head(),
      begin({ type: 'text', text: '' }),
      word('Yes.'),
      delta({ type: 'citations_delta', citation: {} }),
      { type: 'vendor.note' },
      halt(),
      end(),
      over,
    ],
    ['response m1 m', 'text "Yes."', 'finish stop end_turn', 'usage 5 2 - 2 - -'],
  ],
  [
    'an answer that restarts',
    [
      head(),
      begin({ type: 'text' }),
      word('No'),
      begin({ type: 'tool_use', id: 'a', name: 'find' }, 1),
      head({ id: 'm2' }),
      begin({ type: 'text' }),
      word('Yes.'),
      halt(),
      end(),
      over,
    ],
    ['response m2 m', 'text "Yes."', 'finish stop end_turn', 'usage 5 2 - 2 - -'],
  ],
  [
    'its head twice',
    [head(), begin({ type: 'text' }), word('Ye'), head(), word('s.'), halt(), end(), over],
    ['response m1 m', 'text "Yes."', 'finish stop end_turn', 'usage 5 2 - 2 - -'],
  ],
  [
    'content in the head',
    [head({ content: [{ type: 'text', text: 'Yes.' }] }), end(), over],
    ['response m1 m', 'text "Yes."', 'finish stop end_turn', 'usage 5 2 - 2 - -'],
  ],
  [
    'no end mark, and a reason',
    [head(), begin({ type: 'text' }), word('Yes.'), end('max_tokens')],
    ['response m1 m', 'text "Yes."', 'finish length max_tokens', 'usage 5 2 - 2 - -'],
  ],
  [
    'neither',
    [head(), begin({ type: 'text' }), word('Yes.')],
    ['response m1 m', 'text "Yes."', 'usage 5 - - 2 - -', 'error stream_interrupted test: the answer broke off: interrupted'],
  ],
  [
    'no usage at the end',
    [head(), begin({ type: 'text' }), word('Yes.'), halt(), end('end_turn', null), over],
    ['response m1 m', 'text "Yes."', 'finish stop end_turn', 'usage 5 - - 2 - -'],
  ],
  [
    'what comes after the end',
    [head(), begin({ type: 'text' }), word('Yes.'), halt(), end(), over, word('More.')],
    ['response m1 m', 'text "Yes."', 'finish stop end_turn', 'usage 5 2 - 2 - -'],
  ],
  [
    'an error event',
    [head(), word('Y'), { type: 'error', error: { type: 'overloaded_error', message: 'Boom.' } }],
    ['response m1 m', 'text "Y"', 'usage 5 - - 2 - -', 'error overloaded test reported an error (overloaded_error): Boom.'],
  ],
  [
    'an error in another format',
    [head(), { detail: 'Boom.' }],
    ['response m1 m', 'usage 5 - - 2 - -', 'error overloaded test reported an error: Boom.'],
  ],
]
const MESSAGES_WHOLE: Whole[] = [
  [
    'an answer with everything',
    {
      id: 'm1',
      model: 'm',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'SIG' },
        { type: 'redacted_thinking', data: 'DATA' },
        { type: 'text', text: 'Yes.' },
        { type: 'tool_use', id: 'a', name: 'find', input: { q: 1 } },
        { type: 'server_tool_use', id: 's', name: 'web_fetch', input: {} },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 3, output_tokens: 2, cache_creation_input_tokens: 4 },
    },
    [
      'response m1 m',
      'thinking "Hm."',
      'thinking-end {"anthropic":{"signature":"SIG"}}',
      'thinking-end {"anthropic":{"redactedData":"DATA"}}',
      'text "Yes."',
      'call a find {"q":1}',
      'opaque tool-call:web_fetch {"block":{"type":"server_tool_use","id":"s","name":"web_fetch","input":{}}}',
      'finish tool-calls tool_use',
      'usage 7 2 - - 4 -',
    ],
  ],
  [
    'arguments as text',
    { content: [{ type: 'tool_use', id: 'a', name: 'find', input: '{"q":1}' }], stop_reason: 'tool_use' },
    ['call a find {"q":1}', 'finish tool-calls tool_use', 'usage - - - - - -'],
  ],
  [
    'a refusal',
    { content: [{ type: 'text', text: 'No.' }], stop_reason: 'refusal' },
    ['text "No."', 'finish content-filter refusal', 'usage - - - - - -'],
  ],
]

const candidate = (parts: readonly object[], more: object = {}): object => ({
  responseId: 'g1',
  modelVersion: 'm',
  candidates: [{ content: { role: 'model', parts }, ...more }],
})
const STOP = { finishReason: 'STOP' }
const GEMINI_STREAMS: Streamed[] = [
  [
    'text, and usage piecemeal',
    [
      { ...candidate([{ text: 'It ' }]), usageMetadata: { promptTokenCount: 3 } },
      {
        ...candidate([{ text: 'is.' }], STOP),
        usageMetadata: { candidatesTokenCount: 2, thoughtsTokenCount: 1, totalTokenCount: 6, cachedContentTokenCount: 1 },
      },
    ],
    ['response g1 m', 'text "It is."', 'finish stop STOP', 'usage 3 3 6 1 - 1'],
  ],
  [
    'thinking, and a signature on a text without characters',
    [
      candidate([{ text: 'Hm.', thought: true }]),
      candidate([{ text: 'Yes.' }]),
      candidate([{ text: '', thoughtSignature: 'SIG' }], STOP),
    ],
    [
      'response g1 m',
      'thinking "Hm."',
      'thinking-end',
      'text "Yes."',
      'text "" {"google":{"thoughtSignature":"SIG"}}',
      'finish stop STOP',
      'usage - - - - - -',
    ],
  ],
  [
    'thinking that is signed',
    [candidate([{ text: 'Hm.', thought: true, thoughtSignature: 'SIG' }, { text: 'Yes.' }], STOP)],
    [
      'response g1 m',
      'thinking "Hm."',
      'thinking-end {"google":{"thoughtSignature":"SIG"}}',
      'text "Yes."',
      'finish stop STOP',
      'usage - - - - - -',
    ],
  ],
  [
    'calls, one signed, and one without id and arguments',
    [
      candidate(
        [{ functionCall: { id: 'a', name: 'find', args: { q: 1 } }, thoughtSignature: 'SIG' }, { functionCall: { name: 'now' } }],
        STOP,
      ),
    ],
    [
      'response g1 m',
      'call a find {"q":1} {"google":{"thoughtSignature":"SIG"}}',
      'call own_1 now {}',
      'finish tool-calls STOP',
      'usage - - - - - -',
    ],
  ],
  [
    'a call whose arguments come piece by piece',
    [
      candidate([{ functionCall: { name: 'find', willContinue: true }, thoughtSignature: 'SIG' }]),
      candidate([
        {
          functionCall: {
            partialArgs: [{ jsonPath: '$.list[0].name', stringValue: 'a', willContinue: true }],
            willContinue: true,
          },
        },
      ]),
      candidate([
        {
          functionCall: {
            partialArgs: [
              { jsonPath: '$.list[0].name', stringValue: 'b' },
              { jsonPath: "$['list'][1]", numberValue: 2 },
              { jsonPath: '$.yes', boolValue: true },
              { jsonPath: '$.no', nullValue: 'NULL_VALUE' },
              { jsonPath: '$.list[9999999]', numberValue: 1 },
              { jsonPath: '$.yes.deeper', numberValue: 1 },
              { jsonPath: '$.__proto__.polluted', boolValue: true },
              { jsonPath: '$' },
            ],
            willContinue: true,
          },
        },
      ]),
      candidate([{ functionCall: {} }], STOP),
    ],
    [
      'response g1 m',
      'call own_1 find {"list":[{"name":"ab"},2],"yes":true,"no":null,"__proto__":{"polluted":true}} {"google":{"thoughtSignature":"SIG"}}',
      'finish tool-calls STOP',
      'usage - - - - - -',
    ],
  ],
  [
    'tools that ran at Google, an image, and an unknown part',
    [
      candidate(
        [
          { executableCode: { code: '1' } },
          { codeExecutionResult: { output: '1' } },
          { toolCall: { toolType: 'SEARCH' } },
          { toolResponse: { toolType: 'SEARCH' } },
          { inlineData: { mimeType: 'image/png', data: 'AA==' } },
          { thought: true, videoThing: {} },
        ],
        STOP,
      ),
    ],
    [
      'response g1 m',
      'opaque tool-call:code_execution {"block":{"executableCode":{"code":"1"}}}',
      'opaque tool-result:code_execution {"block":{"codeExecutionResult":{"output":"1"}}}',
      'opaque tool-call:SEARCH {"block":{"toolCall":{"toolType":"SEARCH"}}}',
      'opaque tool-result:SEARCH {"block":{"toolResponse":{"toolType":"SEARCH"}}}',
      'opaque file {"block":{"inlineData":{"mimeType":"image/png","data":"AA=="}}}',
      'opaque videoThing {"block":{"thought":true,"videoThing":{}}}',
      'finish stop STOP',
      'usage - - - - - -',
    ],
  ],
  [
    'several answers in turn',
    [
      { candidates: [{ content: { parts: [{ text: 'A' }] } }] },
      { candidates: [{ index: 1, content: { parts: [{ text: 'B' }] } }] },
      {
        candidates: [
          { index: 1, finishReason: 'STOP' },
          { content: { parts: [{ text: 'a' }] }, finishReason: 'MAX_TOKENS' },
        ],
      },
    ],
    ['text "Aa"', 'finish length MAX_TOKENS', 'usage - - - - - -'],
  ],
  [
    'what comes after the reason',
    [candidate([{ text: 'Yes.' }]), candidate([], STOP), candidate([{ text: 'More.' }])],
    ['response g1 m', 'text "Yes."', 'finish stop STOP', 'usage - - - - - -'],
  ],
  [
    'a reason in every chunk, and the last one twice',
    [candidate([{ text: 'Ye' }], STOP), candidate([{ text: 's.' }], STOP), candidate([{ text: 's.' }], STOP)],
    ['response g1 m', 'text "Yes."', 'finish stop STOP', 'usage - - - - - -'],
  ],
  [
    'a prompt that is blocked',
    [{ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: { promptTokenCount: 3 } }],
    ['finish content-filter PROHIBITED_CONTENT', 'usage 3 0 - - - -'],
  ],
  [
    'a prompt that is blocked for another reason',
    [{ promptFeedback: { blockReason: 'OTHER' } }],
    ['finish content-filter OTHER', 'usage - - - - - -'],
  ],
  [
    'an unspecified reason',
    [{ promptFeedback: { blockReason: 'BLOCK_REASON_UNSPECIFIED' } }, candidate([{ text: 'Yes.' }], STOP)],
    ['response g1 m', 'text "Yes."', 'finish stop STOP', 'usage - - - - - -'],
  ],
  [
    'a call that could not be read',
    [candidate([], { finishReason: 'MALFORMED_FUNCTION_CALL' })],
    ['response g1 m', 'finish error MALFORMED_FUNCTION_CALL', 'usage - - - - - -'],
  ],
  [
    'no reason',
    [candidate([{ text: 'Yes.' }])],
    ['response g1 m', 'text "Yes."', 'error stream_interrupted test: the answer broke off: interrupted'],
  ],
  [
    'an error in the stream',
    [candidate([{ text: 'Y' }]), { error: { code: 503, status: 'UNAVAILABLE', message: 'Boom.' } }],
    ['response g1 m', 'text "Y"', 'error overloaded test answered 503 (UNAVAILABLE): Boom.'],
  ],
]
const GEMINI_WHOLE: Whole[] = [
  [
    'an answer with everything',
    {
      ...candidate(
        [
          { text: 'Hm.', thought: true },
          { text: 'Yes.', thoughtSignature: 'SIG' },
          { functionCall: { name: 'find', args: { q: 1 } } },
        ],
        STOP,
      ),
      usageMetadata: { promptTokenCount: 3, totalTokenCount: 3 },
    },
    [
      'response g1 m',
      'thinking "Hm."',
      'thinking-end',
      'text "Yes."',
      'text "" {"google":{"thoughtSignature":"SIG"}}',
      'call own_1 find {"q":1}',
      'finish tool-calls STOP',
      'usage 3 0 3 - - -',
    ],
  ],
  [
    'a prompt that is blocked',
    { promptFeedback: { blockReason: 'SAFETY' } },
    ['finish content-filter SAFETY', 'usage - - - - - -'],
  ],
  [
    'an answer without a reason',
    candidate([{ text: 'Yes.' }]) as JsonObject,
    ['response g1 m', 'text "Yes."', 'finish other', 'usage - - - - - -'],
  ],
]

const RECORDED: readonly (readonly [ApiName, readonly Streamed[], readonly Whole[]])[] = [
  ['chat', CHAT_STREAMS, CHAT_WHOLE],
  ['responses', RESPONSES_STREAMS, RESPONSES_WHOLE],
  ['messages', MESSAGES_STREAMS, MESSAGES_WHOLE],
  ['gemini', GEMINI_STREAMS, GEMINI_WHOLE],
]

describe.each(RECORDED)('%s', (api, streams, wholes) => {
  test.each(streams)('ENG-STREAM-002 a stream of %s', async (_, frames, expected) => {
    for (const cut of Object.keys(CUTS)) expect(await decodeStream(api, frames, cut)).toEqual(expected)
  })

  test.each(wholes)('ENG-STREAM-002 whole: %s', async (_, body, expected) => {
    expect(await decodeWhole(api, body)).toEqual(expected)
  })
})

test('an answer inside an unclosed think tag is also text, unless it was cut', async () => {
  const frames = (finish: string): Frames => [piece({ content: '<think>It is 4.' }), piece({}, finish), DONE]
  expect(await decodeStream('chat', frames('stop'), 'whole', true)).toContain('text "It is 4."')
  expect(await decodeStream('chat', frames('length'), 'whole', true)).not.toContain('text "It is 4."')
})

test('think tags are split if the option is set', async () => {
  const frames = [piece({ content: ' <think>H' }), piece({ content: 'm.</think> Yes.' }), piece({}, 'stop'), DONE]
  for (const cut of Object.keys(CUTS))
    expect(await decodeStream('chat', frames, cut, true)).toEqual([
      'response c1 m',
      'thinking "Hm."',
      'thinking-end',
      'text "Yes."',
      'finish stop stop',
      'usage - - - - - -',
    ])
})
