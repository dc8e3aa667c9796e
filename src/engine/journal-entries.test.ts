/** API keys in the arguments and results of tools. */

import { expect, it } from 'vitest'
import { calling, collect, free, tool } from '../../test/calls.ts'
import type { TurnDetail } from '../core/recorder.ts'
import { SqliteRecorder } from '../recorders/sqlite/recorder.ts'
import { takeVariables } from '../util/environment.ts'

it('removes keys in arguments and results from events and rows, but not from the input of the tool', async () => {
  process.env['CRIA_TEST_OWN_KEY'] = 'plain-canary-value'
  takeVariables(['CRIA_TEST_OWN_KEY'])
  const shape = `sk-${'canary'.repeat(4)}`
  const seen: unknown[] = []
  const echo = tool(
    'echo',
    (input, ctx) => {
      seen.push(input)
      ctx.progress(`working with ${shape}`)
      return `read: ${shape} and plain-canary-value`
    },
    free,
  )
  const recorder = await SqliteRecorder.open({ path: ':memory:' })
  const input = { header: `Bearer ${shape}`, list: ['plain-canary-value', 1, null] }
  const events = await collect({ model: calling([{ name: 'echo', input }]), tools: [echo], recorder })
  expect(seen).toEqual([input])
  const turn = recorder.read.turn(events[0]?.turnId ?? '') as TurnDetail
  for (const written of [events, turn]) {
    expect(JSON.stringify(written)).not.toContain('canary')
    expect(JSON.stringify(written)).toContain('[redacted]')
  }
  await recorder.close()
})
