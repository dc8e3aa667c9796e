import { createRequire } from 'node:module'
import { calcPrice, findProvider } from '@pydantic/genai-prices'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { ROOT } from '../../scripts/files.ts'
import { priceData } from '../../scripts/prices.ts'
import { knownModels, modelFacts, PRICES_AS_OF } from './facts.ts'

describe('modelFacts', () => {
  it.each(['o1-preview', 'o1-mini', 'o1-mini-2024-09-12'])(
    'CORE-SIMPLE-002 %s has no system role, a fixed temperature and no stream',
    (model) => {
      expect(modelFacts('openai', model)).toMatchObject({ systemRole: false, fixedTemperature: 1, streaming: false })
    },
  )

  it('CORE-SIMPLE-002 other models have none of these restrictions', () => {
    for (const model of ['gpt-4o', 'gpt-5-mini', 'gpt-4.1']) {
      expect(modelFacts('openai', model)).not.toHaveProperty('systemRole')
      expect(modelFacts('openai', model)).not.toHaveProperty('fixedTemperature')
      expect(modelFacts('openai', model)).not.toHaveProperty('streaming')
    }
  })

  it.each([
    ['openai', 'gpt-5-mini', 400_000, 128_000, 0.25, 2],
    ['openai-chat', 'gpt-4o', 128_000, 16_384, 2.5, 10],
    ['anthropic', 'claude-sonnet-4-5', 200_000, 64_000, 3, 15],
    ['anthropic', 'claude-sonnet-4-5-20250929', 200_000, 64_000, 3, 15],
    ['google', 'gemini-2.5-flash', 1_048_576, 65_536, 0.3, 2.5],
  ])('%s/%s: window, limit and price with its day', (provider, model, contextWindow, maxOutputTokens, input, output) => {
    expect(modelFacts(provider, model)).toMatchObject({
      contextWindow,
      maxOutputTokens,
      price: { input, output, asOf: PRICES_AS_OF },
    })
  })

  it.each([
    ['google', 'gemini-2.5-pro', 200_000, { input: 2.5, output: 15, cacheRead: 0.25 }],
    ['anthropic', 'claude-sonnet-4-5', 200_000, { input: 6, output: 22.5, cacheRead: 0.6, cacheWrite: 7.5, cacheWrite1h: 12 }],
  ])('%s/%s costs more above %i input tokens', (provider, model, above, rates) => {
    expect(modelFacts(provider, model).price?.tiers).toEqual([{ above, ...rates }])
  })

  it('a price that does not depend on the input length has no tiers', () => {
    expect(modelFacts('google', 'gemini-2.5-flash').price).not.toHaveProperty('tiers')
  })

  it('missing facts are unknown, not zero', () => {
    expect(modelFacts('openai', 'gpt-of-tomorrow')).toEqual({ contextWindow: null, maxOutputTokens: null })
    expect(modelFacts('ollama', 'llama3', 'http://127.0.0.1:11434/v1')).toEqual({ contextWindow: null, maxOutputTokens: null })
    expect(modelFacts('openai-compatible', 'gpt-oss', 'http://127.0.0.1:8080/v1').price).toBeUndefined()
  })

  it('an OpenAI-compatible server has the prices of the provider at its base URL', () => {
    const known = modelFacts('openai-compatible', 'deepseek-chat', 'https://api.deepseek.com/v1')
    expect(known.price?.input).toBeGreaterThan(0)
    expect(known.price?.output).toBeGreaterThan(known.price?.input ?? 0)
  })

  it('the date of the prices is that of the pinned package', () => {
    const { version } = createRequire(import.meta.url)('../../node_modules/@pydantic/genai-prices/package.json') as {
      version: string
    }
    // A new version has new prices: look up the day of its release, and set PRICES_AS_OF.
    expect({ version, day: PRICES_AS_OF }).toEqual({ version: '0.1.8', day: '2026-09-23' })
  })

  it.each([
    ['openai', undefined],
    ['anthropic', undefined],
    ['google', undefined],
    ['openai-compatible', 'https://api.deepseek.com/v1'],
    ['openai-compatible', 'https://api.groq.com/openai/v1'],
    ['openai-compatible', 'https://openrouter.ai/api/v1'],
    ['openai-compatible', 'https://api.mistral.ai/v1'],
  ])('%s %s: finds the windows and prices that the package itself finds', (provider, baseURL) => {
    const theirs = findProvider(baseURL === undefined ? { providerId: provider } : { providerApiUrl: baseURL })
    const names = theirs?.models.flatMap(({ id }) => [id, id.toUpperCase(), `${id}-20260131`]) ?? []
    expect(names.length).toBeGreaterThan(5)
    for (const name of names) {
      let listed: ReturnType<typeof calcPrice> = null
      try {
        if (theirs !== undefined) listed = calcPrice({ input_tokens: 0, output_tokens: 0 }, name, { provider: theirs })
      } catch {
        // It refuses models that are not priced by tokens.
        continue
      }
      const { input_mtok: input, output_mtok: output } = listed?.model_price ?? {}
      const base = (price: typeof input): number | undefined => (typeof price === 'object' ? price.base : price)
      const { contextWindow, price } = modelFacts(provider, name, baseURL)
      const expected =
        base(input) === undefined || base(output) === undefined ? [undefined, undefined] : [base(input), base(output)]
      expect([name, contextWindow, price?.input, price?.output]).toEqual([
        name,
        listed?.model.context_window ?? null,
        ...expected,
      ])
    }
  })

  it('a price for a time of day applies at that time', () => {
    const at = (time: string): number | undefined => {
      vi.setSystemTime(`2026-09-24T${time}Z`)
      return modelFacts('openai-compatible', 'deepseek-chat', 'https://api.deepseek.com/v1').price?.input
    }
    vi.useFakeTimers()
    try {
      for (const time of ['00:29:59', '00:30:00', '01:00:00', '04:00:00', '16:29:59', '16:30:00']) {
        vi.setSystemTime(`2026-09-24T${time}Z`)
        const theirs = calcPrice({ input_tokens: 0, output_tokens: 0 }, 'deepseek-chat', { providerId: 'deepseek' })
        const input = theirs?.model_price['input_mtok']
        expect([time, at(time)]).toEqual([time, typeof input === 'object' ? input.base : input])
      }
    } finally {
      vi.useRealTimers()
    }
  })

  it('the price data match the installed package: `npm run prices` writes them', async () => {
    expect(readFileSync(join(ROOT, 'src/providers/price-data.ts'), 'utf8') === (await priceData())).toBe(true)
  })

  it('lists known names for suggestions', () => {
    expect(knownModels('anthropic')).toContain('claude-sonnet-4-5')
    expect(knownModels('openai-compatible', 'http://127.0.0.1:8080/v1')).toEqual([])
  })
})
