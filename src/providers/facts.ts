/**
 * What is known about models: windows and prices from `@pydantic/genai-prices` (data in the package, no network), output limits and special
 * cases from a table of ours. What nobody knows stays unknown; it is never zero.
 */

import { createRequire } from 'node:module'
import type * as GenaiPrices from '@pydantic/genai-prices'
import type { ModelFacts, Price, Rates } from '../core/model.ts'
import { OUTPUT_LIMITS, SPECIAL_CASES } from './facts-table.ts'
import { definitionOf, isProvider } from './registry.ts'

/** The day on which the pinned version of the price data was published. */
export const PRICES_AS_OF = '2026-09-23'

let prices: typeof GenaiPrices | undefined

/** Loaded on first use and at once, since the facts of a model are asked for in the middle of things. */
function priceData(): typeof GenaiPrices {
  return (prices ??= createRequire(import.meta.url)('@pydantic/genai-prices') as typeof GenaiPrices)
}

/** @param baseURL where the model is served: tells whose prices hold for an OpenAI-compatible server. */
export function modelFacts(provider: string, model: string, baseURL?: string): ModelFacts {
  const listed = look(provider, model, baseURL)
  const price = listed === undefined ? undefined : toPrice(listed.model_price)
  return {
    contextWindow: listed?.model.context_window ?? null,
    maxOutputTokens: OUTPUT_LIMITS.find(({ models }) => models.test(model))?.tokens ?? null,
    ...(price === undefined ? {} : { price }),
    ...SPECIAL_CASES.find(({ models }) => models.test(model))?.facts,
  }
}

/** Names of the models of this provider that have a price, to guess what a mistyped one meant. */
export function knownModels(provider: string, baseURL?: string): readonly string[] {
  return (find(provider, baseURL)?.models ?? []).map(({ id }) => id)
}

function find(provider: string, baseURL: string | undefined): GenaiPrices.Provider | undefined {
  const providerId = isProvider(provider) ? definitionOf(provider).pricedAs : undefined
  if (providerId !== undefined) return priceData().findProvider({ providerId })
  // No price list holds for a server of one's own, and loading the data takes longer than anything else before a request.
  const isListed = baseURL !== undefined && !isLoopback(new URL(baseURL).hostname)
  return isListed ? priceData().findProvider({ providerApiUrl: baseURL }) : undefined
}

function isLoopback(host: string): boolean {
  return host === '[::1]' || /^(?:127(?:\.\d+){3}|(?:.+\.)?localhost)$/.test(host)
}

function look(provider: string, model: string, baseURL: string | undefined): GenaiPrices.PriceCalculation | undefined {
  const found = find(provider, baseURL)
  if (found === undefined) return undefined
  try {
    return priceData().calcPrice({ input_tokens: 0, output_tokens: 0 }, model, { provider: found }) ?? undefined
  } catch {
    // A model that is not priced by tokens.
    return undefined
  }
}

function toPrice(listed: GenaiPrices.ModelPrice): Price | undefined {
  const base = toRates(listed, 0)
  if (base === undefined) return undefined
  const tiers = startsOf(listed).flatMap((above) => {
    const rates = toRates(listed, above + 1)
    return rates === undefined ? [] : [{ above, ...rates }]
  })
  return { ...base, ...(tiers.length === 0 ? {} : { tiers }), asOf: PRICES_AS_OF }
}

const MEMBERS = ['input_mtok', 'output_mtok', 'cache_read_mtok', 'cache_write_mtok', 'cache_write_1h_mtok'] as const

function toRates(listed: GenaiPrices.ModelPrice, inputTokens: number): Rates | undefined {
  const [input, output, cacheRead, cacheWrite, cacheWrite1h] = MEMBERS.map((member) => perMillion(listed[member], inputTokens))
  if (input === undefined || output === undefined) return undefined
  return {
    input,
    output,
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
    ...(cacheWrite1h === undefined ? {} : { cacheWrite1h }),
  }
}

/** Lengths of the input above which any of the prices is another one. */
function startsOf(listed: GenaiPrices.ModelPrice): readonly number[] {
  const starts = MEMBERS.flatMap((member) => {
    const price = listed[member]
    return typeof price === 'object' ? price.tiers.map(({ start }) => start) : []
  })
  return [...new Set(starts)].toSorted((a, b) => a - b)
}

function perMillion(price: number | GenaiPrices.TieredPrices | undefined, inputTokens: number): number | undefined {
  if (typeof price !== 'object') return price
  return price.tiers.findLast(({ start }) => inputTokens > start)?.price ?? price.base
}
