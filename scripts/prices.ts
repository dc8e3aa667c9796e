/**
 * Writes `src/providers/price-data.ts`: context windows and prices of models from the installed `@pydantic/genai-prices`.
 *
 *     npm run prices
 */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitForUpdate, type MatchLogic, type ModelPrice } from '@pydantic/genai-prices'
import { ROOT } from './files.ts'

/** Our names of the rates, in US dollars per million tokens, by the names of the package. */
const RATES = {
  input_mtok: 'input',
  output_mtok: 'output',
  cache_read_mtok: 'cacheRead',
  cache_write_mtok: 'cacheWrite',
  cache_write_1h_mtok: 'cacheWrite1h',
} as const

/** Returns the rates of a model, with a tier for each length of the input, in tokens, above which a rate changes. */
function toPrice(prices: ModelPrice): object | undefined {
  const rates = (inputTokens: number): Record<string, number> =>
    Object.fromEntries(
      Object.entries(RATES).flatMap(([member, name]) => {
        const price = prices[member]
        const rate =
          typeof price === 'object' ? (price.tiers.findLast(({ start }) => inputTokens > start)?.price ?? price.base) : price
        return rate === undefined ? [] : [[name, rate]]
      }),
    )
  const base = rates(0)
  if (base['input'] === undefined || base['output'] === undefined) return undefined
  const starts = Object.keys(RATES).flatMap((member) => {
    const price = prices[member]
    return typeof price === 'object' ? price.tiers.map(({ start }) => start) : []
  })
  const tiers = [...new Set(starts)].toSorted((a, b) => a - b).map((above) => ({ above, ...rates(above + 1) }))
  return { ...base, ...(tiers.length === 0 ? {} : { tiers }) }
}

/** Returns the pattern of a regular expression for names in lower case. */
function toPattern(match: MatchLogic): string {
  if ('or' in match) return match.or.map(toPattern).join('|')
  if ('and' in match) return `^${match.and.map((each) => `(?=.*?(?:${toPattern(each)}))`).join('')}`
  if ('regex' in match) return match.regex
  if ('equals' in match) return `^${literal(match.equals)}$`
  if ('starts_with' in match) return `^${literal(match.starts_with)}`
  return 'ends_with' in match ? `${literal(match.ends_with)}$` : literal(match.contains)
}

function literal(text: string): string {
  return text.toLowerCase().replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
}

/** Returns the text of the file. */
export async function priceData(): Promise<string> {
  const providers = (await waitForUpdate()) ?? []
  const kept = providers.map(({ id, api_pattern, fallback_model_providers: fallbacks, models }) => ({
    id,
    urls: `^(?:${api_pattern})`,
    fallbacks,
    models: models.map(({ id: name, match, context_window: contextWindow, prices }) => ({
      name,
      match: toPattern(match),
      contextWindow,
      prices: Array.isArray(prices)
        ? prices.map(({ constraint, prices: each }) => ({ during: constraint, price: toPrice(each) }))
        : [{ price: toPrice(prices) }],
    })),
  }))
  // One line per provider, so that diffs show the changed provider. As a string, it costs nothing until it is parsed.
  const lines = kept.map((provider) => JSON.stringify(provider)).join(',\n')
  const text = `[${lines}]`.replaceAll(/[\\`]|\$\{/g, String.raw`\$&`)
  return `/** Written by \`npm run prices\` from the data of @pydantic/genai-prices (MIT, Pydantic Services Inc.): windows and prices of models, as JSON. */
export function priceText(): string {
  return \`${text}\`
}
`
}

if (import.meta.main) writeFileSync(join(ROOT, 'src/providers/price-data.ts'), await priceData())
