/**
 * Looks up facts about models: context windows and prices in `price-data.ts` (data of `@pydantic/genai-prices`, no network), output limits and
 * special cases in the tables below. Unknown values are `null` or absent, never 0.
 */

import type { ModelFacts, Price } from '../core/model.ts'
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

// Limits and unsupported settings, from the providers' documentation. The first match counts. Patterns match anywhere in a name, since gateways
// prepend their own (`openai/gpt-4o`) and names may end in a date.

const OUTPUT_LIMITS: readonly { readonly models: RegExp; readonly tokens: number }[] = [
  // OpenAI
  { models: /\bgpt-5(?:\.\d+)?-chat/, tokens: 16_384 },
  { models: /\bgpt-5-pro/, tokens: 272_000 },
  { models: /\bgpt-[56]/, tokens: 128_000 },
  { models: /\bgpt-4\.1/, tokens: 32_768 },
  { models: /\bgpt-4o-2024-05-13/, tokens: 4096 },
  { models: /\bgpt-4o|\bchatgpt-4o/, tokens: 16_384 },
  { models: /\bo1-preview/, tokens: 32_768 },
  { models: /\bo1-mini/, tokens: 65_536 },
  { models: /\bo[134](?:-|$)/, tokens: 100_000 },
  { models: /\bgpt-4-turbo|\bgpt-4-1106|\bgpt-4-0125|\bgpt-3\.5/, tokens: 4096 },
  { models: /\bgpt-4(?:-|$)/, tokens: 8192 },
  // Anthropic
  { models: /\bclaude-(?:opus|sonnet|haiku|fable)-5|\bclaude-(?:opus|sonnet)-4-[6-9]/, tokens: 128_000 },
  { models: /\bclaude-(?:opus|sonnet|haiku)-4-5|\bclaude-sonnet-4|\bclaude-3-7-sonnet/, tokens: 64_000 },
  { models: /\bclaude-opus-4/, tokens: 32_000 },
  { models: /\bclaude-3-5/, tokens: 8192 },
  { models: /\bclaude-3/, tokens: 4096 },
  // Google
  { models: /\bgemini-(?:2\.5|3)[\w.]*-(?:pro|flash)(?!.*(?:image|tts|audio|live))/, tokens: 65_536 },
  { models: /\bgemini-(?:1\.5|2\.0)/, tokens: 8192 },
]

/** Lowest reasoning effort that OpenAI's models accept; for models that are not listed it is `none`. */
export const LEAST_EFFORT: readonly { readonly models: RegExp; readonly effort: string }[] = [
  { models: /\bgpt-6-(?:luna|sol)|\bgpt-6\.1-terra|\bgpt-5\.\d/, effort: 'none' },
  { models: /\bgpt-6|\bgpt-5-codex|\bo\d(?:-|$)/, effort: 'low' },
  { models: /\bgpt-5-pro/, effort: 'high' },
  { models: /\bgpt-5(?:-|$)/, effort: 'minimal' },
]

/** Models that accept sampling settings if the effort is `none`. */
export const SAMPLES_WITHOUT_EFFORT: RegExp = /\bgpt-5\.\d/

/** Anthropic's models with adaptive thinking, which take an effort instead of a budget. */
export const ADAPTIVE_THINKING: RegExp = /\bclaude-(?:opus|sonnet)-4-[6-9]|\bclaude-(?:opus|sonnet|haiku|fable)-5/

/** Models whose thinking cannot be switched off, with the value sent instead; `null` sends the lowest effort and leaves `thinking` out. */
export const CANNOT_BE_SWITCHED_OFF: readonly { readonly models: RegExp; readonly thinking: string | null }[] = [
  { models: /\bclaude-sonnet-5-5/, thinking: 'between_tools' },
  { models: /\bclaude-opus-5-5|\bclaude-fable-5/, thinking: null },
]

/** Anthropic's models that refuse a forced tool call. */
export const NO_FORCED_CALLS: RegExp = /\bclaude-(?:opus|sonnet)-5-5|\bclaude-fable-5-[12]/

/** Anthropic's models that refuse sampling settings such as a temperature. */
export const NO_SAMPLING: RegExp = /\bclaude-opus-4-[78]|\bclaude-(?:opus|sonnet|haiku|fable)-5/

const CHATTING = { tools: true, structuredOutput: true, images: true, thinking: false } as const
const REASONING = { ...CHATTING, thinking: true } as const

const SPECIAL_CASES: readonly { readonly models: RegExp; readonly facts: Partial<ModelFacts> }[] = [
  {
    models: /\bo1-(?:preview|mini)/,
    facts: {
      systemRole: false,
      fixedTemperature: 1,
      sampling: 'never',
      streaming: false,
      tools: false,
      structuredOutput: false,
      thinking: true,
    },
  },
  { models: /\bo[134](?:-|$)/, facts: { sampling: 'never', tools: true, structuredOutput: true, thinking: true } },
  { models: /\bgpt-5(?:\.\d+)?-chat/, facts: { ...CHATTING, tools: false, structuredOutput: false } },
  { models: SAMPLES_WITHOUT_EFFORT, facts: { ...REASONING, sampling: 'thinking-off' } },
  { models: /\bgpt-[56]/, facts: { ...REASONING, sampling: 'never' } },
  { models: /\bgpt-4o|\bgpt-4\.1/, facts: CHATTING },
  { models: /\bgpt-4-turbo/, facts: { ...CHATTING, structuredOutput: false } },
  { models: /\bgpt-3\.5|\bgpt-4(?:-|$)/, facts: { ...CHATTING, structuredOutput: false, images: false } },
  { models: /\bclaude-3-(?:5|haiku|opus|sonnet)/, facts: { ...CHATTING, structuredOutput: false } },
  {
    models: /\bclaude-(?:opus|sonnet)-4-(?:0|2025)|\bclaude-3-7/,
    facts: { ...REASONING, structuredOutput: false, sampling: 'unless-thinking' },
  },
  { models: NO_SAMPLING, facts: { ...REASONING, sampling: 'never' } },
  { models: /\bclaude-/, facts: { ...REASONING, sampling: 'unless-thinking' } },
  { models: /\bgemma-/, facts: { systemRole: false } },
  // Gemini refuses tools together with JSON output before version 3.
  { models: /\bgemini-2\.5(?!.*(?:image|tts|audio|live))/, facts: { ...REASONING, structuredOutputWithTools: false } },
  { models: /\bgemini-3(?!.*(?:image|tts|audio|live))/, facts: REASONING },
  { models: /\bgemini-(?:1\.5|2\.0)/, facts: { ...CHATTING, structuredOutputWithTools: false } },
]
