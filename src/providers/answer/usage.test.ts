import { describe, expect, it } from 'vitest'
import { UNKNOWN_USAGE } from '../../core/usage.ts'
import { readChatUsage, readGeminiUsage, readMessagesUsage, readResponsesUsage, readSdkUsage } from './usage.ts'

const { exactness: _, ...NOTHING } = UNKNOWN_USAGE
const CHAT = { prompt_tokens: 10, completion_tokens: 5 }
const COUNTED = { inputTokens: 10, outputTokens: 5 }

describe('usage as providers report it', () => {
  it.each([
    ['Chat Completions', readChatUsage, { ...CHAT, total_tokens: 15 }, { ...COUNTED, totalTokens: 15 }],
    [
      'Chat Completions with details',
      readChatUsage,
      {
        ...CHAT,
        prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
        completion_tokens_details: { reasoning_tokens: 3 },
      },
      { ...COUNTED, cacheReadTokens: 4, cacheWriteTokens: 2, reasoningTokens: 3 },
    ],
    ['DeepSeek', readChatUsage, { ...CHAT, prompt_cache_hit_tokens: 6 }, { ...COUNTED, cacheReadTokens: 6 }],
    [
      'Responses',
      readResponsesUsage,
      {
        input_tokens: 10,
        output_tokens: 5,
        total_tokens: 15,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens_details: { reasoning_tokens: 2 },
      },
      { inputTokens: 10, outputTokens: 5, totalTokens: 15, cacheReadTokens: 0, reasoningTokens: 2 },
    ],
    [
      'Messages, which counts cached tokens apart',
      readMessagesUsage,
      { input_tokens: 10, cache_read_input_tokens: 100, cache_creation_input_tokens: 20, output_tokens: 5 },
      { inputTokens: 130, outputTokens: 5, cacheReadTokens: 100, cacheWriteTokens: 20 },
    ],
    [
      'Messages, with tokens cached for an hour',
      readMessagesUsage,
      {
        input_tokens: 10,
        cache_creation_input_tokens: 50,
        cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 30 },
        output_tokens: 5,
      },
      { inputTokens: 60, outputTokens: 5, cacheWriteTokens: 50, cacheWrite1hTokens: 30 },
    ],
    [
      'Gemini, which counts thoughts apart',
      readGeminiUsage,
      {
        promptTokenCount: 10,
        candidatesTokenCount: 5,
        thoughtsTokenCount: 7,
        totalTokenCount: 22,
        cachedContentTokenCount: 3,
        toolUsePromptTokenCount: 99,
      },
      { inputTokens: 10, outputTokens: 12, totalTokens: 22, cacheReadTokens: 3, reasoningTokens: 7 },
    ],
  ])('%s', (_, read, raw, expected) => {
    expect(read(raw)).toEqual({ ...NOTHING, ...expected, exactness: 'exact' })
  })

  it('is unknown, not zero, if a number is missing', () => {
    expect(readChatUsage({ prompt_tokens: 10 })).toEqual({ ...NOTHING, inputTokens: 10, exactness: 'unknown' })
    expect(readMessagesUsage({ input_tokens: null, output_tokens: 'many' })).toEqual({ ...NOTHING, exactness: 'unknown' })
    expect(readResponsesUsage({ cost: 1 })).toEqual({ ...NOTHING, exactness: 'unknown' })
  })

  it('is read from AI SDK models of every version', () => {
    const nested = { inputTokens: { total: 10, cacheRead: 2, noCache: 8 }, outputTokens: { total: 5, reasoning: 1 } }
    expect(readSdkUsage(nested)).toMatchObject({
      inputTokens: 10,
      outputTokens: 5,
      cacheReadTokens: 2,
      reasoningTokens: 1,
      exactness: 'exact',
    })
    expect(readSdkUsage({ inputTokens: 10, outputTokens: 5, totalTokens: 15, cachedInputTokens: 2 })).toMatchObject({
      inputTokens: 10,
      totalTokens: 15,
      cacheReadTokens: 2,
    })
    expect(readSdkUsage({ ...nested, raw: { prompt_tokens: 11, completion_tokens: 6 } })).toMatchObject({
      inputTokens: 11,
      outputTokens: 6,
      cacheReadTokens: null,
    })
    expect(readSdkUsage({})).toEqual({ ...NOTHING, exactness: 'unknown' })
  })
})
