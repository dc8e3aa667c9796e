/**
 * Writes turns into a journal and prints what the recorder has confirmed as stored.
 *
 *     node test/support/journal-writer.ts FILE NAME [TURNS]
 *
 * Without a number of turns it runs until it is killed. Lines: `opened ID`, `stored ID EVENTS`, `closed ID`.
 */

import { writeSync } from 'node:fs'
import { SqliteRecorder } from '../../src/recorders/sqlite/recorder.ts'
import { assistant, user } from '../../src/core/message.ts'
import { closeOf, entriesOf, openOf, resultOf, stamper } from '../../src/testing/turns.ts'

const [path = '', name = '', turns = 'Infinity'] = process.argv.slice(2)

/** Returns the text of an event, which the test can recompute. */
export function wordOf(turnId: string, seq: number): string {
  return `${turnId}-${seq} `
}

function say(line: string): void {
  writeSync(1, `${line}\n`)
}

async function writeTurn(recorder: SqliteRecorder, turnId: string, length: number): Promise<void> {
  const open = openOf(turnId, { sessionId: `session_${name}` })
  const at = stamper(open)
  await recorder.openTurn(open)
  say(`opened ${turnId}`)
  let text = ''
  for (let seq = 0; seq < length;) {
    const start = seq === 0 ? [at(0, { type: 'start' as const, model: 'm' })] : []
    seq += start.length
    const deltas = Array.from({ length: 1 + (seq % 3) }, () => {
      const word = wordOf(turnId, seq++)
      text += word
      return at(1, { type: 'text_delta', text: word, attempt: 1 })
    })
    const composed = start.length > 0 ? [{ type: 'messages' as const, step: 0, messages: [user('Go on.')] }] : []
    await recorder.record(turnId, [...composed, ...entriesOf([...start, ...deltas])])
    say(`stored ${turnId} ${seq}`)
  }
  await recorder.record(turnId, entriesOf([at(1, { type: 'message', message: assistant(text) })]))
  await recorder.closeTurn(turnId, closeOf(at(1, { type: 'complete', result: resultOf(open, text) }), { text }))
  say(`closed ${turnId}`)
}

if (import.meta.main) {
  const recorder = await SqliteRecorder.open({ path })
  say('ready')
  for (let n = 0; n < Number(turns); n++) await writeTurn(recorder, `turn_${name}_${n}`, 5 + ((n * 37) % 90))
  await recorder.close()
}
