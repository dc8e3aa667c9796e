/** Options have one name everywhere, and aliases for callers who know other libraries. */

import { expect, test } from 'vitest'
import { AgentBot, query, retryWithBackoff, SimpleBot, StructuredBot } from '../index.ts'
import type { Tool } from '../index.ts'
import { ScriptedModel } from '../testing.ts'

const quiet = { recorder: false, streamTarget: 'none' } as const
const look: Tool = {
  name: 'look',
  description: 'Looks.',
  inputSchema: { type: 'object' },
  needsPermission: false,
  call: () => 'seen',
}
const looking = (): ScriptedModel => new ScriptedModel(() => ({ toolCalls: [{ name: 'look', input: {} }] }))

test('CORE-SIMPLE-001 CORE-AGENT-001 accepts `system`, `maxSteps` and `abortSignal` as query() does, and their other names', async () => {
  for (const [prompt, steps] of [
    [{ system: 'Be brief.' }, { maxSteps: 2 }],
    [{ systemPrompt: 'Be brief.' }, { maxIterations: 2 }],
  ]) {
    const model = looking()
    const answer = await new AgentBot({ ...quiet, ...prompt, ...steps, model, tools: [look] }).ask('Look.')
    expect(answer).toMatchObject({ finishReason: 'max-steps', steps: 2 })
    expect(model.requests[0]?.messages[0]).toMatchObject({ role: 'system', content: 'Be brief.' })
  }
  for (const name of ['abortSignal', 'signal'] as const) {
    const bot = new SimpleBot({ ...quiet, model: new ScriptedModel(['Yes.']) })
    const options = { [name]: AbortSignal.abort(new Error('Too late.')) }
    for (const asked of [bot.ask('Is it?', options), Array.fromAsync(bot.stream('Is it?', options))])
      await expect(asked).rejects.toMatchObject({ name: 'AbortError', message: 'Too late.' })
    expect((await Array.fromAsync(bot.events('Is it?', options))).at(-1)).toMatchObject({
      type: 'cancelled',
      reason: 'Too late.',
    })
  }
})

test('CORE-STRUCT-001 ENG-RETRY-001 `maxAttempts` counts attempts, and `maxRetries` counts retries', async () => {
  for (const attempts of [{ maxAttempts: 2 }, { numAttempts: 2 }]) {
    const bot = new StructuredBot({
      ...quiet,
      ...attempts,
      model: new ScriptedModel(() => 'no JSON'),
      schema: { type: 'object' },
    })
    await expect(bot.ask('Is it?')).rejects.toThrow(/None of 2 answers/)
  }
  async function* failing(): AsyncGenerator<string> {
    yield 'Once. '
    throw new Error('Broke off.')
  }
  for (const attempts of [{ maxAttempts: 2 }, { maxRetries: 2 }]) {
    const retried = retryWithBackoff(failing, { ...attempts, initialDelay: 0, isRetryable: () => true })
    await expect(Array.fromAsync(retried)).rejects.toThrow(/All 2 attempts failed/)
  }
})

test('refuses an option that is given under both names, or under an unknown one', async () => {
  const model = new ScriptedModel(['Yes.'])
  const both = /are two names of one option/
  expect(() => new SimpleBot({ ...quiet, model, system: 'a', systemPrompt: 'b' })).toThrow(both)
  expect(() => new AgentBot({ ...quiet, model, tools: [look], maxSteps: 1, maxIterations: 2 })).toThrow(both)
  expect(() => new AgentBot({ ...quiet, model, tools: [look], maxIterations: 0 })).toThrow(/`maxIterations` must be/)
  const { signal } = new AbortController()
  await expect(new SimpleBot({ ...quiet, model }).ask('Is it?', { signal, abortSignal: signal })).rejects.toThrow(both)
  expect(() => query({ model, prompt: 'x', systemPrompt: 'y' } as never)).toThrow(/`system`|system/)
  expect(() => query({ model, prompt: 'x', maxRetries: 1 } as never)).toThrow(/retry: { maxRetries }/)
  expect(model.requests).toHaveLength(0)
})
