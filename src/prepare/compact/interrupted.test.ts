import { expect, it } from 'vitest'
import { assistant, toolResult, user } from '../../core/message.ts'
import type { Message } from '../../core/message.ts'
import { unitsOf } from './plan.ts'

it('never drops a call with unknown effects', () => {
  const called = (id: string): Message => assistant([{ type: 'tool-call', id, name: 'deploy', input: {} }])
  const known = toolResult({ id: 'a', name: 'deploy', content: 'done' })
  const unknown = toolResult({ id: 'b', name: 'deploy', content: '', isError: true, unknownEffects: { idempotencyKey: 'key' } })
  const units = unitsOf([user('Go'), called('a'), known, called('b'), unknown, user('And?')], new Set(), () => 1)
  expect(units.map(({ stays }) => stays)).toEqual([true, false, true, false])
})
