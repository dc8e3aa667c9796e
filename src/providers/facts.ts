/**
 * Looks up facts about models: context windows and prices in `price-data.ts` (data of `@pydantic/genai-prices`, no network), output limits and
 * special cases in `facts-table.ts`. Unknown values are `null` or absent, never 0.
 */

import type { ModelFacts, Price, Rates } from '../core/model.ts'
import { OUTPUT_LIMITS, SPECIAL_CASES } from './facts-table.ts'
import { priceText } from './price-data.ts'
import { definitionOf, isProvider } from './registry.ts'
import { defined } from '../util/check.ts'

/** Publication date of the pinned price data. */
export const PRICES_AS_OF = '2026-09-23'

/** A condition on the name of a model, which has exactly one of these members. */
interface Match {
  readonly or?: readonly Match[]
  readonly and?: readonly Match[]
  readonly equals?: string
  readonly starts_with?: string
  readonly ends_with?: string
  readonly contains?: string
  readonly regex?: string
}

type Tiered = { readonly base: number; readonly tiers: readonly { readonly start: number; readonly price: number }[] }
type ListedPrice = Readonly<Partial<Record<(typeof MEMBERS)[number], number | Tiered>>>

interface DatedPrice {
  /** Absent: always holds. The last price whose constraint holds counts. */
  readonly constraint?: { readonly start_date: string } | { readonly start_time: string; readonly end_time: string }
  readonly prices: ListedPrice
}

interface ListedModel {
  readonly id: string
  readonly match: Match
  readonly context_window?: number
  readonly prices: ListedPrice | readonly DatedPrice[]
}

interface ListedProvider {
  readonly id: string
  /** Pattern that matches the beginning of its base URL. */
  readonly api_pattern: string
  /** Providers whose models it also serves. */
  readonly fallback_model_providers?: readonly string[]
  readonly models: readonly ListedModel[]
}

let providers: readonly ListedProvider[] | undefined

/** Parses the price data on first use; synchronous, because `LanguageModel.facts` is. */
function priceData(): readonly ListedProvider[] {
  return (providers ??= JSON.parse(priceText()) as ListedProvider[])
}

/** @param baseURL of the server: selects the price list for OpenAI-compatible servers. */
export function modelFacts(provider: string, model: string, baseURL?: string): ModelFacts {
  const listed = look(provider, model, baseURL)
  const price = listed === undefined ? undefined : toPrice(priceAt(listed, Date.now()))
  return {
    contextWindow: listed?.context_window ?? null,
    maxOutputTokens: OUTPUT_LIMITS.find(({ models }) => models.test(model))?.tokens ?? null,
    ...(price === undefined ? {} : { price }),
    ...SPECIAL_CASES.find(({ models }) => models.test(model))?.facts,
  }
}

/** Returns the names of this provider's priced models, to suggest one for a mistyped name. */
export function knownModels(provider: string, baseURL?: string): readonly string[] {
  return (find(provider, baseURL)?.models ?? []).map(({ id }) => id)
}

function find(provider: string, baseURL: string | undefined): ListedProvider | undefined {
  const pricedAs = isProvider(provider) ? definitionOf(provider).pricedAs : undefined
  if (pricedAs !== undefined) return priceData().find(({ id }) => id === pricedAs)
  // A local server has no price list, and loading the data is the slowest step before a request.
  if (baseURL === undefined || isLoopback(new URL(baseURL).hostname)) return undefined
  return priceData().find(({ api_pattern }) => new RegExp(`^(?:${api_pattern})`).test(baseURL))
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
function among({ models, fallback_model_providers = [] }: ListedProvider, id: string): ListedModel | undefined {
  const own = models.find(({ match }) => matches(match, id))
  if (own !== undefined) return own
  for (const other of fallback_model_providers.flatMap((name) => priceData().find((provider) => provider.id === name) ?? [])) {
    const theirs = among(other, id)
    if (theirs !== undefined) return theirs
  }
  return undefined
}

function matches({ or, and, equals, starts_with: start, ends_with: end, contains, regex }: Match, name: string): boolean {
  if (or !== undefined) return or.some((each) => matches(each, name))
  if (and !== undefined) return and.every((each) => matches(each, name))
  if (equals !== undefined) return name === equals.toLowerCase()
  if (regex !== undefined) return new RegExp(regex).test(name)
  if (start !== undefined) return name.startsWith(start.toLowerCase())
  if (end !== undefined) return name.endsWith(end.toLowerCase())
  return contains !== undefined && name.includes(contains.toLowerCase())
}

/** Returns the price at the time `now`, in epoch milliseconds. */
function priceAt({ prices }: ListedModel, now: number): ListedPrice {
  if (!isDated(prices)) return prices
  return (prices.findLast(({ constraint }) => holds(constraint, now)) ?? prices[0])?.prices ?? {}
}

function isDated(prices: ListedModel['prices']): prices is readonly DatedPrice[] {
  return Array.isArray(prices)
}

function holds(constraint: DatedPrice['constraint'], now: number): boolean {
  if (constraint === undefined) return true
  if ('start_date' in constraint) return now >= Date.parse(constraint.start_date)
  const time = new Date(now).toISOString().replace(/^.*T(.*)\..*$/, '$1Z')
  const [start, end] = [constraint.start_time, constraint.end_time]
  return end < start ? time >= start || time < end : time >= start && time < end
}

function toPrice(listed: ListedPrice): Price | undefined {
  const base = toRates(listed, 0)
  if (base === undefined) return undefined
  // Input lengths, in tokens, above which any of the prices changes.
  const starts = MEMBERS.flatMap((member) => {
    const price = listed[member]
    return typeof price === 'object' ? price.tiers.map(({ start }) => start) : []
  })
  const tiers = [...new Set(starts)]
    .toSorted((a, b) => a - b)
    .flatMap((above) => {
      const rates = toRates(listed, above + 1)
      return rates === undefined ? [] : [{ above, ...rates }]
    })
  return { ...base, ...(tiers.length === 0 ? {} : { tiers }), asOf: PRICES_AS_OF }
}

const MEMBERS = ['input_mtok', 'output_mtok', 'cache_read_mtok', 'cache_write_mtok', 'cache_write_1h_mtok'] as const

function toRates(listed: ListedPrice, inputTokens: number): Rates | undefined {
  const [input, output, cacheRead, cacheWrite, cacheWrite1h] = MEMBERS.map((member) => {
    const price = listed[member]
    return typeof price === 'object' ? (price.tiers.findLast(({ start }) => inputTokens > start)?.price ?? price.base) : price
  })
  if (input === undefined || output === undefined) return undefined
  return { input, output, ...defined({ cacheRead, cacheWrite, cacheWrite1h }) }
}
