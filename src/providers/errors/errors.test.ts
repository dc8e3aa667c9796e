import { describe, expect, it } from 'vitest'
import type { ErrorCode } from '../../core/error.ts'
import { classify, isOverflow } from './classify.ts'
import { short, toProviderError } from './errors.ts'
import type { Reported } from './reported.ts'
import { ReportedError, retryAfter, retryAfterInBody } from './reported.ts'

const reported = (said: Partial<Reported>): Reported => ({
  message: '',
  status: undefined,
  codes: [],
  retryAfterMs: undefined,
  shouldRetry: undefined,
  requestId: undefined,
  quotas: [],
  foreign: false,
  ...said,
})

describe('ENG-ERR-003 a full context window', () => {
  it.each([
    'prompt is too long: 210000 tokens > 200000 maximum',
    'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again',
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens (139000 in the messages, 1000 in the completion).",
    'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.',
    'The input token count (1250074) exceeds the maximum number of tokens allowed (1048576).',
    'Input is too long for requested model.',
    'Please reduce the length of the messages or completion.',
    'Request too large for model `llama-3.3-70b` in organization `org` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size and try again.',
    "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
    'the request exceeds the available context size, try increasing it',
    'The number of tokens to keep from the initial prompt is greater than the context length.',
    'prompt too long; exceeded max context length by 500 tokens',
    'Your request exceeded model token limit: 131072',
    'invalid params, context window exceeds limit',
    "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
    'Requested tokens (5000) exceed context window of 4096',
    'too many tokens: total number of tokens in the prompt cannot exceed 4081',
    'context_length_exceeded',
    "You passed 9001 input tokens and requested 100 output tokens. However, the model's context length is only 8192 tokens.",
    'The decoder prompt (length 9000) is longer than the maximum model length of 8192.',
    '`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 20 `max_new_tokens`',
    'Input validation error: `inputs` must have less than 4095 tokens. Given: 5000',
    'Trying to keep the first 5000 tokens when context the overflows.',
    'Range of input length should be [1, 30720]',
    'tokens in request more than max tokens allowed: 100000',
    'The prompt exceeds the maximum number of tokens.',
    'input tokens (5000) exceed the model limit',
  ])('is recognised in: %s', (message) => {
    expect(isOverflow(message, 413)).toBe(true)
  })

  it.each([
    'Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.',
    'Too many tokens, please wait before trying again.',
    'max_tokens is too large: 5000. This model supports at most 4096 completion tokens.',
    'max_tokens: 300000 > 8192, which is the maximum allowed number of output tokens',
    'The context of your question is unclear.',
    'messages: at least one message is required',
  ])('is not recognised in: %s', (message) => {
    expect(isOverflow(message, 400)).toBe(false)
  })
})

describe('ENG-ERR-003 an event of another shape', () => {
  const context = { provider: 'openai', ref: 'openai/x', secrets: [] }
  const unexpected = (value: unknown): Error =>
    Object.assign(new Error('Type validation failed'), {
      name: 'AI_TypeValidationError',
      value,
      cause: new Error('[ { "code": "invalid_union" } ]'),
    })

  it.each([[{ choices: 'x' }], [{ type: 'response.created', response: 5 }], [null], [[]]])(
    'is not an error report: %j',
    (value) => {
      const error = toProviderError(unexpected(value), context, 'stream')
      expect(error).toMatchObject({ code: 'invalid_response', retryable: true })
      expect(error.message).toBe(`openai: the answer is not what this API sends: ${JSON.stringify(value)}`)
    },
  )

  it.each([
    [{ error: { message: 'Overloaded' } }],
    [{ message: 'Overloaded' }],
    [{ response: { error: { message: 'Overloaded' } } }],
  ])('is an error report if it holds an error: %j', (value) => {
    expect(toProviderError(unexpected(value), context, 'stream')).toMatchObject({ code: 'overloaded' })
  })
})

describe('an error of an AI SDK package', () => {
  it.each([
    ['AI_JSONParseError', 'request', {}, 'invalid_response', 'openai: It failed.'],
    ['AI_JSONParseError', 'stream', {}, 'stream_interrupted', 'openai: It failed.'],
    ['AI_LoadAPIKeyError', 'request', {}, 'auth', 'openai: It failed.'],
    ['AI_UnsupportedFunctionalityError', 'request', {}, 'invalid_request', 'openai does not take this: It failed.'],
    [
      'AI_APICallError',
      'request',
      { statusCode: 503, responseBody: 'Gone fishing' },
      'overloaded',
      'openai answered 503: Gone fishing',
    ],
    ['AI_APICallError', 'request', { statusCode: 404, responseBody: '' }, 'invalid_response', 'openai answered 404: It failed.'],
    [
      'AI_APICallError',
      'request',
      { statusCode: 200 },
      'invalid_response',
      'openai: the answer is not what this API sends: It failed.',
    ],
    ['AI_EmptyResponseBodyError', 'stream', {}, 'invalid_response', 'openai: the answer is not what this API sends: It failed.'],
  ] as const)('%s in a %s with %j has the code %s', (name, where, members, code, message) => {
    const error = Object.assign(new Error('It failed.'), { name, ...members })
    expect(toProviderError(error, { provider: 'openai', ref: 'openai/x', secrets: [] }, where)).toMatchObject({ code, message })
  })
})

describe('classify', () => {
  it.each<readonly [ErrorCode, Partial<Reported>]>([
    ['rate_limited', { status: 429, message: 'Rate limit reached' }],
    ['rate_limited', { status: 400, codes: ['rate_limit_exceeded'] }],
    [
      'rate_limited',
      { status: 429, message: 'Quota exceeded for quota metric', quotas: ['GenerateRequestsPerMinutePerProject'] },
    ],
    ['rate_limited', { status: 429, message: 'You exceeded your current quota, please check your plan', retryAfterMs: 30_000 }],
    ['overloaded', { status: 429, message: 'The engine is currently overloaded, please try again later' }],
    ['quota', { status: 429, codes: ['insufficient_quota'] }],
    ['quota', { status: 402, message: 'Insufficient credits' }],
    ['quota', { status: 400, message: 'Your credit balance is too low to access the API.' }],
    ['quota', { status: 429, message: 'You exceeded your current quota, please check your plan and billing details.' }],
    [
      'quota',
      {
        status: 429,
        message: 'You exceeded your current quota',
        quotas: ['GenerateRequestsPerDayPerProjectPerModel-FreeTier'],
        retryAfterMs: 20_000,
      },
    ],
    ['quota', { status: 429, message: 'You have hit your weekly limit; it resets in 3 days.' }],
    ['quota', { status: 429, message: 'Usage limit reached. Please try again in 5 days.' }],
    ['quota', { status: 429, message: 'The usage limit has been reached', codes: ['usage_limit_reached'] }],
    ['quota', { status: 400, message: 'You have reached your API usage limits. You will regain access on 2026-12-01.' }],
    ['quota', { status: 429, message: 'Rate limit exceeded: free-models-per-day.' }],
    ['quota', { status: 429, message: 'Your prepayment credits are depleted.', codes: ['RESOURCE_EXHAUSTED'] }],
    ['quota', { status: 403, message: 'Key limit exceeded (total limit).' }],
    ['rate_limited', { status: 429, message: 'Rate limit reached on requests per day (RPD): Limit 200.', retryAfterMs: 432_000 }],
    ['auth', { status: 401, message: 'No' }],
    ['auth', { status: 403, message: 'Forbidden' }],
    [
      'auth',
      { status: 400, message: 'API key not valid. Please pass a valid API key.', codes: ['INVALID_ARGUMENT', 'API_KEY_INVALID'] },
    ],
    ['model_unavailable', { status: 404, codes: ['model_not_found'] }],
    ['model_unavailable', { status: 400, message: "The requested model 'gpt-9' does not exist." }],
    ['model_unavailable', { status: 404, message: 'model "llama9" not found, try pulling it first' }],
    [
      'model_unavailable',
      { status: 404, message: 'models/gemini-9 is not found for API version v1beta, or is not supported for generateContent.' },
    ],
    ['model_unavailable', { status: 403, codes: ['model_not_found'], message: 'The project does not have access to it.' }],
    ['model_unavailable', { status: 410, message: 'Gone' }],
    ['policy', { status: 400, codes: ['content_policy_violation'] }],
    ['policy', { status: 400, message: 'Your request was rejected as a result of our safety system.' }],
    ['timeout', { status: 504, message: 'Gateway Timeout' }],
    ['overloaded', { status: 500, message: 'The model does not exist in this region right now' }],
    ['overloaded', { status: 529, codes: ['overloaded_error'] }],
    ['overloaded', { codes: ['server_error'], message: 'Something broke' }],
    ['overloaded', { message: 'Something broke' }],
    ['invalid_request', { codes: ['tool_use_failed'], message: 'Tool call validation failed' }],
    ['invalid_request', { status: 400, message: 'temperature must be below 2' }],
    ['invalid_response', { status: 404, foreign: true, message: 'Not Found' }],
    ['invalid_response', { status: 405, message: 'Method Not Allowed' }],
  ])('%s: %o', (code, said) => {
    expect(classify(reported(said)).code).toBe(code)
  })

  it('follows x-should-retry, except for errors that a retry cannot fix', () => {
    expect(classify(reported({ status: 500, shouldRetry: false }))).toEqual({ code: 'overloaded', retryable: false })
    expect(classify(reported({ status: 429, codes: ['insufficient_quota'], shouldRetry: true }))).toEqual({ code: 'quota' })
  })
})

describe('retryAfter', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  it.each<readonly [Record<string, string>, number | undefined]>([
    [{}, undefined],
    [{ 'retry-after': '2' }, 2000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1500],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:03 GMT' }, 3000],
    [{ 'retry-after': 'Thursday, 01-Jan-26 00:00:03 GMT' }, 3000],
    [{ 'retry-after': 'Thu Jan  1 00:00:03 2026' }, 3000],
    [{ 'retry-after': '31536000' }, 31_536_000_000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 23:00:00 GMT' }, undefined],
    [{ 'retry-after': '-5' }, undefined],
    [{ 'retry-after': '0' }, undefined],
    [{ 'retry-after': '' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': 'May 5' }, undefined],
    [{ 'retry-after-ms': 'NaN' }, undefined],
  ])('%o is %s', (headers, expected) => {
    expect(retryAfter(headers, now)).toBe(expected)
  })

  it('reads the wait from the body', () => {
    expect(retryAfterInBody({ error: { details: [{ retryDelay: '34.5s' }] } }, '')).toBe(34_500)
    expect(retryAfterInBody({}, 'Please try again in 1m20.5s.')).toBe(80_500)
    expect(retryAfterInBody({}, 'Please try again in 250ms')).toBe(250)
    expect(retryAfterInBody({}, 'Please retry after 26 seconds.')).toBe(26_000)
    expect(retryAfterInBody({}, 'Try again in 1 hour 2 minutes.')).toBe(3_720_000)
    expect(retryAfterInBody({}, 'Try again in 5 months')).toBeUndefined()
    expect(retryAfterInBody({}, 'Please try again later')).toBeUndefined()
  })
})

describe('toProviderError', () => {
  const context = {
    provider: 'openai',
    ref: 'openai/gpt-5-minj',
    secrets: ['s3cret-value'],
    variables: { key: 'OPENAI_API_KEY' },
    knownModels: () => ['gpt-5', 'gpt-5-mini'],
  }

  it('names only the status if the answer holds no message', () => {
    expect(toProviderError(new ReportedError('', 500), context, 'request').message).toBe('openai answered 500')
  })

  it('suggests a model for a mistyped name', () => {
    const error = toProviderError(
      { message: 'The model `gpt-5-minj` does not exist', statusCode: 404, code: 'model_not_found' },
      context,
      'stream',
    )
    expect(error).toMatchObject({
      code: 'model_unavailable',
      status: 404,
      hint: 'Did you mean openai/gpt-5-mini? Or name a fallback model.',
    })
  })

  it('suggests no model in place of one that is spelt correctly', () => {
    const refused = { message: "The model 'gpt-5-mini' does not exist", statusCode: 404, code: 'model_not_found' }
    const { hint } = toProviderError(refused, { ...context, ref: 'openai/gpt-5-mini' }, 'stream')
    expect(hint).toBe('Check the name of the model with `cria models`, or name a fallback model.')
  })

  it.each([
    ['failed on its side', { message: 'Internal error', statusCode: 500 }],
    ['failed on its side', { message: 'Bad gateway', statusCode: 502 }],
    ['failed on its side', { message: 'Something broke', type: 'server_error' }],
    ['is overloaded', { message: 'The engine is overloaded', statusCode: 500 }],
    ['is overloaded', { message: 'Sorry', statusCode: 503 }],
    ['is overloaded', { message: 'Overloaded', statusCode: 529 }],
  ])('says that the provider %s: %o', (what, thrown) => {
    const { code, hint } = toProviderError(thrown, context, 'request')
    expect([code, hint]).toEqual(['overloaded', `The provider ${what}: try later or name a fallback model.`])
  })

  it('names the variable of a refused key', () => {
    expect(toProviderError({ message: 'bad key', statusCode: 401 }, context, 'request').hint).toContain('OPENAI_API_KEY')
  })

  it.each([
    { error: { message: 'Boom', code: 502 } },
    { error: 'Boom' },
    { message: 'Boom', type: 'server_error' },
    { detail: 'Boom' },
    { detail: [{ loc: ['body'], msg: 'Boom' }] },
    { response: { error: { code: 'server_error', message: 'Boom' } } },
    { error: { error: { message: 'Boom' } } },
    { errors: [{ message: 'Boom' }] },
    { error: { message: 'Provider returned error', metadata: { raw: '{"error":{"message":"Boom"}}' } } },
    { message: { error: { message: 'Boom' } } },
    { error: { message: '{"error":{"code":400,"message":"Boom"}}' } },
    { detail: { error: 'Boom' } },
  ])('finds the message in %o', (value) => {
    expect(toProviderError(value, context, 'stream').message).toContain('Boom')
  })

  it('keeps secrets out of message, details and cause', () => {
    const cause = new Error('sent s3cret-value to https://host/?key=abcdef123')
    const error = toProviderError(
      Object.assign(new Error('Failed with s3cret-value', { cause }), { requestBodyValues: 's3cret-value' }),
      context,
      'stream',
    )
    const all = JSON.stringify([
      error,
      error.message,
      error.stack,
      String(error.cause),
      (error.cause as Error).stack,
      String((error.cause as Error).cause),
    ])
    expect(all).not.toMatch(/s3cret-value|abcdef123/)
    expect(all).toContain('[redacted]')
  })
})

describe('short', () => {
  it('returns one line without markup', () => {
    expect(short('<html><style>x{}</style><body>\n<h1>Bad  Gateway</h1></body></html>')).toBe('Bad Gateway')
    expect(short('a < b and c > d')).toBe('a < b and c > d')
    expect(short('x'.repeat(1000)).length).toBeLessThan(310)
  })
})
