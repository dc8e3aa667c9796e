/**
 * Runs turns with a scripted model, under a daily budget that is shared with other processes through a journal, and prints the charges. The
 * model reports its usage correctly: at most the requested output limit.
 *
 *     node test/support/budget-spender.ts FILE SEED LIMIT_USD
 *
 * Lines: `charged USD` before the answer is settled, `refused SCOPE` when the budget is used up. Ends after the first refusal that in-flight
 * requests do not explain.
 */

import { writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../../src/engine/query.ts'
import { ScriptedModel } from '../../src/providers/scripted/scripted-model.ts'
import { SqliteRecorder } from '../../src/recorders/sqlite/recorder.ts'

export const PRICE: { readonly input: number; readonly output: number } = { input: 5, output: 50 }
const MOST_OUTPUT = 300
const INPUT_TOKENS = 20

function say(line: string): void {
  writeSync(1, `${line}\n`)
}

/** Between 0 and 1, the same for the same seed: https://en.wikipedia.org/wiki/Linear_congruential_generator */
function chance(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}

async function spend(path: string, seed: number, limit: number): Promise<void> {
  const random = chance(seed)
  const recorder = await SqliteRecorder.open({ path })
  const model = new ScriptedModel(
    async ({ maxOutputTokens = MOST_OUTPUT }) => {
      await sleep(random() * 8)
      const outputTokens = Math.ceil(Math.min(maxOutputTokens, MOST_OUTPUT) * (random() < 0.3 ? 1 : random()))
      say(`charged ${(INPUT_TOKENS * PRICE.input + outputTokens * PRICE.output) / 1_000_000}`)
      return { text: 'Yes.', usage: { inputTokens: INPUT_TOKENS, outputTokens } }
    },
    { facts: { price: PRICE, maxOutputTokens: MOST_OUTPUT } },
  )
  for (;;) {
    let code: string | undefined
    let retryable = false
    const prompt = 'A question that is long enough to be estimated at more tokens than the model says it had.'
    for await (const event of query({ model, prompt, recorder, budget: { day: { costUsd: limit } } })) {
      if (event.type === 'error') ({ code, retryable } = event.error)
    }
    if (code !== undefined) say(`refused ${code}`)
    if (code !== undefined && !retryable) break
    if (retryable) await sleep(random() * 5)
  }
  await recorder.close()
}

if (import.meta.main) {
  const [path = '', seed = '1', limit = '0'] = process.argv.slice(2)
  await spend(path, Number(seed), Number(limit))
}
