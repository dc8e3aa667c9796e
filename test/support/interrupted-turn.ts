/**
 * Runs tools in a session until it is killed. Prints `TOOL KEY` after each effect.
 *
 *     node test/support/interrupted-turn.ts JOURNAL SESSION
 *
 * Of three calls of one step, `note` ends, `deploy` never does, and `restart` waits for both.
 */

import { writeSync } from 'node:fs'
import { SqliteRecorder } from '../../src/recorders/sqlite/recorder.ts'
import { query } from '../../src/engine/query.ts'
import { calling, free, tool } from '../calls.ts'

const [path = '', sessionId = ''] = process.argv.slice(2)

function effect(name: string, key: string): void {
  writeSync(1, `${name} ${key}\n`)
}

if (import.meta.main) {
  const recorder = await SqliteRecorder.open({ path })
  const noted = Promise.withResolvers<void>()
  // Keeps the process alive until it is killed.
  setInterval(() => {}, 1000)
  const turn = query({
    prompt: 'Bring it live.',
    sessionId,
    recorder,
    model: calling([
      { id: 'call_note', name: 'note', input: { text: 'began' } },
      { id: 'call_deploy', name: 'deploy', input: { to: 'live' } },
      { id: 'call_restart', name: 'restart' },
    ]),
    tools: [
      tool(
        'note',
        (_, { idempotencyKey }) => {
          effect('note', idempotencyKey)
          return 'noted'
        },
        free,
      ),
      tool(
        'deploy',
        async (_, { idempotencyKey }) => {
          await noted.promise
          effect('deploy', idempotencyKey)
          return new Promise<string>(() => {})
        },
        free,
      ),
      tool('restart', (_, { idempotencyKey }) => {
        effect('restart', idempotencyKey)
        return 'restarted'
      }),
    ],
  })
  for await (const event of turn) {
    // Yielded events have been stored.
    if (event.type === 'tool_result' && event.result.name === 'note') noted.resolve()
  }
  effect('unexpected', 'end')
}
