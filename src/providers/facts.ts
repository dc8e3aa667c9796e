/**
 * Looks up facts about models: context windows and prices in `price-data.ts` (data of `@pydantic/genai-prices`, no network), output limits and
 * special cases in `facts-table.ts`. Unknown values are `null` or absent, never 0.
 */

import type { ModelFacts, Price } from '../core/model.ts'
import { OUTPUT_LIMITS, SPECIAL_CASES } from './facts-table.ts'
import { priceText } from './price-data.ts'
import { definitionOf, isProvider } from './registry.ts'

/** Publication date of the pinned price data. */
export const PRICES_AS_OF = '2026-09-23'

/** A price list of `price-data.ts`, which scripts/prices.ts writes. */
interface ListedProvider {
  readonly id: string
  /** Pattern of its base URLs. */
  readonly urls: string
  /** Providers whose models it also serves. */
  readonly fallbacks?: readonly string[]
  readonly models: readonly ListedModel[]
}

interface ListedModel {
  readonly name: string
  /** Pattern of its names, in lower case. */
  readonly match: string
  readonly contextWindow?: number
  /** The last price that holds counts. */
  readonly prices: readonly DatedPrice[]
}

interface DatedPrice {
  /** Absent: always. */
  readonly during?: { readonly start_date: string } | { readonly start_time: string; readonly end_time: string }
  /** Absent: the model is not priced by input and output tokens. */
  readonly price?: Omit<Price, 'asOf'>
}

let providers: readonly ListedProvider[] | undefined

/** Parses the price data on first use; synchronous, because `LanguageModel.facts` is. */
function priceData(): readonly ListedProvider[] {
  return (providers ??= JSON.parse(priceText()) as ListedProvider[])
}

/** @param baseURL of the server: selects the price list for OpenAI-compatible servers. */
export function modelFacts(provider: string, model: string, baseURL?: string): ModelFacts {
  const listed = look(provider, model, baseURL)
  const now = Date.now()
  const { price } = listed?.prices.findLast(({ during }) => holds(during, now)) ?? listed?.prices[0] ?? {}
  return {
    contextWindow: listed?.contextWindow ?? null,
    maxOutputTokens: OUTPUT_LIMITS.find(({ models }) => models.test(model))?.tokens ?? null,
    ...(price === undefined ? {} : { price: { ...price, asOf: PRICES_AS_OF } }),
    ...SPECIAL_CASES.find(({ models }) => models.test(model))?.facts,
  }
}

/** Returns the names of this provider's priced models, to suggest one for a mistyped name. */
export function knownModels(provider: string, baseURL?: string): readonly string[] {
  return (find(provider, baseURL)?.models ?? []).map(({ name }) => name)
}

function find(provider: string, baseURL: string | undefined): ListedProvider | undefined {
  const pricedAs = isProvider(provider) ? definitionOf(provider).pricedAs : undefined
  if (pricedAs !== undefined) return priceData().find(({ id }) => id === pricedAs)
  // A local server has no price list, and loading the data is the slowest step before a request.
  if (baseURL === undefined || isLoopback(new URL(baseURL).hostname)) return undefined
  return priceData().find(({ urls }) => new RegExp(urls).test(baseURL))
}

function isLoopback(host: string): boolean {
  return host === '[::1]' || /^(?:127(?:\.\d+){3}|(?:.+\.)?localhost)$/.test(host)
}

function look(provider: string, name: string, baseURL: string | undefined): ListedModel | undefined {
  const found = find(provider, baseURL)
  if (found === undefined) return undefined
  const id = name.toLowerCase().trim()
  // `model-20260601` is listed as `model-2026-06-01`.
  const dated = id.replaceAll(/-(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)/g, '-$1-$2-$3')
  return among(found, id) ?? (dated === id ? undefined : among(found, dated))
}

/** Finds a model in the list of a provider, or of the providers whose models it also serves. */
function among({ models, fallbacks = [] }: ListedProvider, id: string): ListedModel | undefined {
  const own = models.find(({ match }) => new RegExp(match).test(id))
  if (own !== undefined) return own
  for (const other of fallbacks.flatMap((name) => priceData().find((provider) => provider.id === name) ?? [])) {
    const theirs = among(other, id)
    if (theirs !== undefined) return theirs
  }
  return undefined
}

/** @param now epoch milliseconds. */
function holds(during: DatedPrice['during'], now: number): boolean {
  if (during === undefined) return true
  if ('start_date' in during) return now >= Date.parse(during.start_date)
  const time = new Date(now).toISOString().replace(/^.*T(.*)\..*$/, '$1Z')
  const { start_time: start, end_time: end } = during
  return end < start ? time >= start || time < end : time >= start && time < end
}
