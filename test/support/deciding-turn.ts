/**
 * Decides a waiting turn, performs the effect of its call, prints `send KEY`, and never ends.
 *
 *     node test/support/deciding-turn.ts JOURNAL SESSION TURN
 */

import { writeSync } from 'node:fs'
import { query } from '../../src/engine/query.ts'
import { SqliteRecorder } from '../../src/recorders/sqlite/recorder.ts'
import { calling, tool } from '../calls.ts'

const [path = '', sessionId = '', turnId = ''] = process.argv.slice(2)

if (import.meta.main) {
  const recorder = await SqliteRecorder.open({ path })
  // Keeps the process alive until it is killed.
  setInterval(() => {}, 1000)
  const send = tool(
    'send',
    (_, { idempotencyKey }) => {
      writeSync(1, `send ${idempotencyKey}\n`)
      return new Promise<string>(() => {})
    },
    { needsPermission: true },
  )
  for await (const _ of query({ recorder, sessionId, decide: { turnId, decisions: true }, model: calling(), tools: [send] }));
}
