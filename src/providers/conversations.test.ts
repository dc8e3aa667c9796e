/** Recorded conversations with tools, carried on by us: what we send back is what a strict provider accepts. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask } from '../../test/support/ask-provider.ts'
import {
  expectedOf,
  hasRecordings,
  recordings,
  replayServer,
  sequences,
  tellThatRecordingsAreMissing,
} from '../../test/support/shared-wire.ts'
import type { ReplayServer } from '../../test/support/shared-wire.ts'
import { assistant, toolResult, user } from '../core/message.ts'
import type { RequestMessage } from '../core/model.ts'
import { Assembler } from '../model/assemble.ts'
import { createProviderModel } from './create.ts'

const MODELS = [
  { api: 'openai-chat', model: 'openai-compatible/some-model', version: 'v1' },
  { api: 'openai-chat', model: 'openai-chat/gpt-4o', version: 'v1' },
  { api: 'openai-responses', model: 'openai/gpt-5-mini', version: 'v1' },
  { api: 'anthropic-messages', model: 'anthropic/claude-sonnet-4-5', version: 'v1' },
  { api: 'gemini', model: 'google/gemini-2.5-flash', version: 'v1beta' },
] as const

// Hooks of a file whose tests are all skipped do not run.
if (!hasRecordings) tellThatRecordingsAreMissing()

let server: ReplayServer | undefined
beforeAll(async () => {
  if (hasRecordings) server = await replayServer()
})
afterAll(() => server?.close())

describe.skipIf(!hasRecordings).each(MODELS)('conversations of $api through $model', ({ api, model: ref, version }) => {
  test('every step is accepted, and asks for as many calls as it should', async () => {
    const all = new Map(recordings(api).map((recording) => [recording.name, recording]))
    for (const sequence of sequences(api)) {
      const steps = sequence.steps.flatMap((name) => all.get(name) ?? [])
      const expected = steps.map(expectedOf)
      // One ends in an error in mid-stream, which another test looks at.
      if (expected.some(({ error }) => error !== undefined)) continue
      const names = [
        ...new Set(expected.flatMap(({ toolCalls = [] }) => toolCalls.map(({ name }) => name).filter((name) => name !== ''))),
      ]
      const tools = names.map((name) => ({ name, description: 'A tool.', inputSchema: { type: 'object' } }))
      const segment = `${sequence.name};strict=1;session=${sequence.name}.${ref.replaceAll('/', '-')}`
      const model = createProviderModel(ref, {
        baseURL: `${server?.url}/${segment}/${version}`,
        apiKey: 'a-key-of-no-worth',
        env: {},
      })

      const messages: RequestMessage[] = [user('Begin.')]
      for (const [index, step] of steps.entries()) {
        const { parts, error, calls } = await ask(model, { messages, tools, stream: step.stream })
        const named = (expected[index]?.toolCalls ?? []).filter(({ name }) => name !== '')
        expect({ step: step.name, error, calls: calls.map(({ name }) => name) }).toEqual({
          step: step.name,
          error: undefined,
          calls: named.map(({ name }) => name),
        })
        const assembler = new Assembler(ref)
        for (const part of parts) assembler.add(part)
        const results = calls.map(({ id, name }) => toolResult({ id, name, content: 'done' }))
        messages.push(assistant(assembler.result().parts), ...(results.length > 0 ? results : [user('Go on.')]))
      }
    }
  })
})
