/**
 * Writes `src/providers/price-data.ts`: context windows and prices of models from the installed `@pydantic/genai-prices`.
 *
 *     npm run prices
 */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitForUpdate, type ModelPrice } from '@pydantic/genai-prices'
import { ROOT } from './files.ts'

const MEMBERS = ['input_mtok', 'output_mtok', 'cache_read_mtok', 'cache_write_mtok', 'cache_write_1h_mtok']

/** The price fields that cost calculation uses. */
function usedOf(prices: ModelPrice): ModelPrice {
  return Object.fromEntries(Object.entries(prices).filter(([member]) => MEMBERS.includes(member)))
}

/** Returns the text of the file. */
export async function priceData(): Promise<string> {
  const providers = (await waitForUpdate()) ?? []
  const kept = providers.map(({ id, api_pattern, provider_match, fallback_model_providers, models }) => ({
    id,
    api_pattern,
    provider_match,
    fallback_model_providers,
    models: models.map(({ id: model, match, context_window, prices }) => ({
      id: model,
      match,
      context_window,
      prices: Array.isArray(prices)
        ? prices.map(({ constraint, prices: each }) => ({ constraint, prices: usedOf(each) }))
        : usedOf(prices),
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
