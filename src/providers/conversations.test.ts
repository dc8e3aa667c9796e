/**
 * Continues recorded conversations with tools: a strict provider accepts every request, and the loop makes one request for each step, across
 * the turns of a session.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { collect, tool } from '../../test/calls.ts'
import { ask } from '../../test/support/ask-provider.ts'
import { ASKED, useReplayServer } from '../../test/support/replayed-models.ts'
import { expectedOf, hasRecordings, recordings, sequences } from '../../test/support/shared-wire.ts'
import type { Expected, Recording } from '../../test/support/shared-wire.ts'
import { assistant, toolResult, user } from '../core/message.ts'
import type { RequestMessage } from '../core/model.ts'
import { Assembler } from '../model/assemble.ts'
import { SqliteRecorder } from '../recorders/sqlite/recorder.ts'

const server = useReplayServer()

describe.skipIf(!hasRecordings).each(ASKED)('conversations of $api through $model', (replayed) => {
  const { api, model: ref } = replayed
  test('every step is accepted, and yields the recorded number of tool calls', async () => {
    const all = new Map(recordings(api).map((recording) => [recording.name, recording]))
    for (const sequence of sequences(api)) {
      const steps = sequence.steps.flatMap((name) => all.get(name) ?? [])
      const expected = steps.map(expectedOf)
      // One recording ends in an error inside its stream, which another test covers.
      if (expected.some(({ error }) => error !== undefined)) continue
      const names = [
        ...new Set(expected.flatMap(({ toolCalls = [] }) => toolCalls.map(({ name }) => name).filter((name) => name !== ''))),
      ]
      const tools = names.map((name) => ({ name, description: 'A tool.', inputSchema: { type: 'object' } }))
      const segment = `${sequence.name};strict=1;session=${sequence.name}.${ref.replaceAll('/', '-')}`
      const model = server.create(replayed, segment)

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

  test('ENG-QUERY-001 the loop makes one request for each step, and no more', async () => {
    const all = new Map(recordings(api).map((recording) => [recording.name, recording]))
    const folder = mkdtempSync(join(tmpdir(), 'cria-sequences-'))
    const recorder = await SqliteRecorder.open({ path: join(folder, 'cria.db') })
    try {
      for (const sequence of sequences(api)) {
        const steps = sequence.steps.flatMap((name) => all.get(name) ?? [])
        const expected = steps.map(expectedOf)
        if (expected.some(({ error }) => error !== undefined)) continue
        const names = new Set(
          expected.flatMap(({ toolCalls = [] }) => toolCalls.map(({ name }) => name).filter((name) => name !== '')),
        )
        const session = `loop.${sequence.name}.${ref.replaceAll('/', '-')}`
        const model = server.create(replayed, `${sequence.name};strict=1;session=${session}`)
        const before = server.log().length
        for (const turn of turnsOf(steps, expected)) {
          const events = await collect({
            model,
            prompt: 'Go on.',
            sessionId: session,
            recorder,
            tools: [...names].map((name) => tool(name, () => 'done')),
            stream: turn[0]?.stream ?? true,
            // A recording may end with tool calls without results.
            maxSteps: turn.length,
            retry: { maxRetries: 0 },
          })
          const last = events.at(-1)
          // One step asks its client to search for tools, which cria does not offer, so its empty answer is an error.
          const says = saysSomething(expected[steps.indexOf(turn.at(-1) as Recording)])
          expect({ name: sequence.name, ended: last?.type, step: last?.step }).toEqual({
            name: sequence.name,
            ended: says ? 'complete' : 'error',
            step: turn.length,
          })
        }
        const requests = server
          .log()
          .slice(before)
          .filter(({ type }) => type === 'request')
        expect({ name: sequence.name, requests: requests.length }).toEqual({ name: sequence.name, requests: steps.length })
        expect(requests.flatMap(({ violations = [] }) => violations)).toEqual([])
      }
    } finally {
      await recorder.close()
      rmSync(folder, { recursive: true })
    }
  })
})

/** A turn ends with an answer without tool calls. */
function turnsOf(steps: readonly Recording[], expected: readonly Expected[]): Recording[][] {
  const turns: Recording[][] = [[]]
  steps.forEach((step, index) => {
    turns.at(-1)?.push(step)
    if ((expected[index]?.toolCalls ?? []).every(({ name }) => name === '')) turns.push([])
  })
  return turns.filter((turn) => turn.length > 0)
}

function saysSomething({ text = '', toolCalls = [] }: Expected = {}): boolean {
  return text !== '' || toolCalls.length > 0
}
