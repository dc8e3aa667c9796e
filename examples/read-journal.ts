/** Reads a turn from the journal: the question, the messages sent, the answer and its cost. Each event is stored before it is yielded. */

import { strict as assert } from 'node:assert'
import { openRecorder, SimpleBot } from 'cria'

const recorder = await openRecorder({ path: ':memory:' })
const bot = new SimpleBot({
  system: 'Be brief.',
  model: 'builtin/extractive',
  mockResponse: 'Six times seven.',
  recorder,
  streamTarget: 'none',
})
const { turnId } = await bot.ask('What makes 42?')

const detail = await recorder.read.turn(turnId)
assert(detail !== undefined)
console.log(detail.turn.status, detail.turn.model, detail.turn.costUsd)
for (const { role, content } of detail.messages) console.log(`${role}: ${content}`)
for (const { name, startedAt, endedAt } of detail.spans) console.log(`${name}: ${endedAt - startedAt} ms`)
assert.equal(detail.turn.status, 'done')
await recorder.close()
