/** Declares the options that the two `eval` commands share. */

import { ConfigurationError } from '../core/error.ts'
import { number, object } from '../util/check.ts'
import type { Problem } from '../util/check.ts'
import type { ProgressReporter } from './terminal/progress.ts'
import { reportProgress } from './terminal/progress.ts'
import type { Io } from './io.ts'

export interface StoreSettings {
  readonly chunk?: { readonly maxChars?: number }
}

const SETTINGS = object<StoreSettings>({
  chunk: object<NonNullable<StoreSettings['chunk']>>({
    maxChars: number('a whole number of at least 64', (value) => Number.isSafeInteger(value) && value >= 64),
  }),
})

/** Reads `--store-options`. @throws ConfigurationError */
export function readStoreSettings(text: string | undefined): StoreSettings {
  if (text === undefined) return {}
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new ConfigurationError(`--store-options must be a JSON object such as '{"chunk":{"maxChars":800}}'.`, { cause })
  }
  const problems: Problem[] = []
  const settings = SETTINGS.read(value, '', problems)
  const [problem] = problems
  if (settings === undefined || problem !== undefined) {
    const { path = '', expected = 'an object', received = 'something else' } = problem ?? {}
    throw new ConfigurationError(`--store-options ${path}: expected ${expected}, received ${received}.`)
  }
  return settings
}

export function evalProgress({ stderr }: Io): ProgressReporter {
  return reportProgress({
    write: (text) => void stderr.writeRaw(text),
    columns: stderr.columns,
    live: stderr.live,
    now: () => performance.now(),
  })
}
