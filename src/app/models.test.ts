import { describe, expect, it } from 'vitest'
import { PROVIDER_NAMES } from '../providers/registry.ts'
import { knownName } from './models.ts'
import { createModel, defaultModelRef, resolvePointer } from './models.ts'

describe('names of models', () => {
  it.each<readonly [string, string]>([
    ['gpt-4o', 'openai/gpt-4o'],
    ['gpt-4.1-mini', 'openai/gpt-4.1-mini'],
    ['o3-mini', 'openai/o3-mini'],
    ['o1', 'openai/o1'],
    ['chatgpt-4o-latest', 'openai/chatgpt-4o-latest'],
    ['claude-sonnet-4-5', 'anthropic/claude-sonnet-4-5'],
    ['gemini-2.5-flash', 'google/gemini-2.5-flash'],
    ['mistral-large-latest', 'mistral/mistral-large-latest'],
    ['deepseek-chat', 'deepseek/deepseek-chat'],
    ['grok-4', 'xai/grok-4'],
    ['sonar-pro', 'perplexity/sonar-pro'],
    ['kimi-k2.6', 'moonshot/kimi-k2.6'],
    ['gemini/gemini-2.5-pro', 'google/gemini-2.5-pro'],
    ['ollama_chat/llama3.2:3b', 'ollama/llama3.2:3b'],
    ['together_ai/meta-llama/Llama-3-70b', 'together/meta-llama/Llama-3-70b'],
    ['fireworks_ai/accounts/fireworks/models/x', 'fireworks/accounts/fireworks/models/x'],
    ['hosted_vllm/qwen', 'openai-compatible/qwen'],
    ['builtin/extractive', 'builtin/extractive'],
    ['lmstudio/qwen3', 'openai-compatible/qwen3'],
    ['vllm/qwen3', 'openai-compatible/qwen3'],
    ['GPT-4o', 'openai/gpt-4o'],
    ['openai:gpt-4o', 'openai/gpt-4o'],
    ['Ollama:llama3.2:3b', 'ollama/llama3.2:3b'],
    ...PROVIDER_NAMES.map((name) => [`${name}/some/model:1`, `${name}/some/model:1`] as const),
  ])('%s is %s', (typed, works) => {
    expect(knownName(typed)).toBe(works)
    expect(knownName(works)).toBe(works)
  })

  it.each([
    ['llama3', 'Write ollama/llama3 for a local model, or groq/llama3, openrouter/llama3, together/llama3 for a hosted one.'],
    ['gpt-oss:20b', 'Write ollama/gpt-oss:20b'],
    ['constructor', 'Write ollama/constructor'],
    ['bedrock/anthropic.claude-3', 'pass a model of the package @ai-sdk/amazon-bedrock'],
    ['vertex_ai/gemini-2.5-pro', 'The same models are google/…'],
    ['huggingface/x', 'OPENAI_COMPATIBLE_BASE_URL=https://router.huggingface.co/v1'],
    ['gorq/llama', 'There is no provider "gorq"; did you mean "groq/llama"?'],
    ['toString/x', 'There is no provider "toString". The providers are openai, '],
    ['acme/some/model', 'is openai-compatible/some/model, with OPENAI_COMPATIBLE_BASE_URL.'],
    ['builtin/other', 'The only builtin model is builtin/extractive'],
    ['', 'A model is named provider/model'],
    ['openai', '"openai" is a provider: openai/gpt-5-mini, for example.'],
    ['Claude', '"Claude" is a provider: anthropic/claude-sonnet-4-5, for example.'],
    ['together', '"together" is a provider: together/…, for example.'],
    ['builtin', 'A model is named provider/model'],
    ['openai/', 'A model is named provider/model'],
    ['/gpt-4o', 'A model is named provider/model'],
    ['gpt 4o', 'A model is named provider/model'],
  ])('rejects %j with names that work', (typed, message) => {
    const refused = expect.objectContaining({
      code: 'configuration',
      message: expect.stringContaining(message) as string,
    }) as Error
    expect(() => knownName(typed)).toThrow(refused)
    expect(() => createModel(typed)).toThrow(refused)
  })

  it('apply wherever a model is named', async () => {
    expect(createModel('gpt-4o', { apiKey: 'x' }).ref).toBe('openai/gpt-4o')
    expect(resolvePointer('gemini/x', {})).toBe('google/x')
    expect(resolvePointer('quick', { models: { quick: 'ollama_chat/x' } })).toBe('ollama/x')
    expect(await defaultModelRef({ CRIA_MODEL: 'claude-opus-4-5' })).toBe('anthropic/claude-opus-4-5')
    expect(await defaultModelRef({}, { models: { main: 'gemini/x' } })).toBe('google/x')
    expect(await defaultModelRef({ GROQ_API_KEY: 'k' })).toBe('groq/openai/gpt-oss-120b')
  })
})
