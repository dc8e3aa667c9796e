/** Compares our token counts with those of providers, over recorded requests. */

import { describe, expect, it } from 'vitest'
import { readRequest } from '../../test/support/recorded-requests.ts'
import { expectedOf, hasRecordings, recordings, requestOf, tellThatRecordingsAreMissing } from '../../test/support/shared-wire.ts'
import { loadTokenCounter, offeredTokens } from './tokens.ts'
import { countedSize, EMPTY_TALLY, estimatedSize, withCounts, withEstimates } from './tally.ts'

/** Allowance for tokens that providers add to a request (templates, instructions for tools) until they have reported a count. */
const OWN_WORDS = 500
/** Parts that only the provider can count: its own tools, pictures, documents. */
const NOT_OURS = new Set(['server-tools', 'server-tools-only', 'image-input', 'document-input', 'embedding'])

if (!hasRecordings) tellThatRecordingsAreMissing()

interface Compared {
  readonly name: string
  readonly truth: number
  readonly guessed: number
  readonly counted: number
}

async function compare(): Promise<Compared[]> {
  const count = await loadTokenCounter()
  return recordings('openai-chat', 'openai-responses', 'anthropic-messages', 'gemini').flatMap((recording) => {
    const truth = expectedOf(recording).usage?.['inputTokens'] ?? 0
    if (recording.status !== 200 || truth === 0 || recording.scenario.some((each) => NOT_OURS.has(each))) return []
    const request = readRequest(requestOf(recording))
    if (request === undefined) return []
    const fixed = offeredTokens(request)
    const tally = withCounts(withEstimates(EMPTY_TALLY, request.messages), request.messages, count, fixed)
    const { guessed } = estimatedSize(tally, 'any', fixed)
    return [{ name: recording.name, truth, guessed, counted: countedSize(tally, 'any', fixed) }]
  })
}

function quantile(values: readonly number[], share: number): string {
  const sorted = values.toSorted((a, b) => a - b)
  return `${(100 * (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN)).toFixed(1)} %`
}

describe.skipIf(!hasRecordings)('recorded requests', () => {
  it('ENG-CTX-001 no count is below 60 % of the reported one without overhead, and larger ones are close to it', async () => {
    const compared = await compare()
    expect(compared.length).toBeGreaterThan(100)
    const tooFew = compared.filter(({ truth, guessed, counted }) => Math.min(guessed, counted) <= 0.6 * truth - OWN_WORDS)
    expect(tooFew).toEqual([])
    const large = compared.filter(({ truth }) => truth >= 1500)
    expect(large.filter(({ truth, counted }) => Math.abs(counted - truth) / truth >= 0.2)).toEqual([])
    for (const [what, some] of [
      ['all', compared],
      ['from 1,500 tokens', large],
    ] as const) {
      const errors = some.map(({ truth, counted }) => Math.abs(counted - truth) / truth)
      const missing = some.map(({ truth, counted }) => Math.max(0, truth - counted))
      console.log(
        `${what}: ${some.length} requests, error median ${quantile(errors, 0.5)}, p95 ${quantile(errors, 0.95)}, ` +
          `at most ${Math.max(...missing)} tokens too few`,
      )
    }
  })
})
