import { statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { EventBody } from '../../core/event.ts'
import { assistant, user } from '../../core/message.ts'
import type { QueryEvent } from '../../core/event.ts'
import { closeOf, entriesOf, openOf, resultOf, stamper } from '../../testing/turns.ts'
import { usedBytes } from '../../util/sqlite/connection.ts'
import { openFile } from '../../util/sqlite/open-file.ts'
import { JOURNAL } from './journal.ts'
import { journalFolder } from '../../../test/support/journal-folder.ts'
import { SqliteRecorder } from './recorder.ts'

const place = journalFolder()

const piece = (n: number): string => `Piece ${n} of a long answer, with "quotes" and “typography”. 😀\n`.repeat(4)

/** Writes a turn with these events, closed with this text, and reads it back. */
async function readBack(
  bodies: readonly EventBody[],
  text: string,
  end?: EventBody,
): Promise<{ readonly written: readonly QueryEvent[]; readonly read: ReturnType<SqliteRecorder['read']['turn']> }> {
  const recorder = await SqliteRecorder.open({ path: place.path })
  const open = openOf('turn_a')
  const at = stamper(open)
  await recorder.openTurn(open)
  await recorder.record(open.turnId, [{ type: 'messages', step: 0, messages: [user('Go on.')] }])
  const written: QueryEvent[] = []
  for (const body of bodies) {
    const event = at(1, body)
    written.push(event)
    await recorder.record(open.turnId, entriesOf([event]))
  }
  const last = at(1, end ?? { type: 'complete', result: resultOf(open, text) })
  written.push(last)
  await recorder.closeTurn(open.turnId, closeOf(last, { text }))
  const read = recorder.read.turn('turn_a')
  // A reader that resumes in the middle gets the remaining events.
  expect(recorder.read.events('turn_a', 5)).toEqual(written.slice(6))
  expect(recorder.read.turns({ search: 'typography' }).turns).toHaveLength(1)
  await recorder.close()
  return { written, read }
}

const delta = (text: string, attempt = 1): EventBody => ({ type: 'text_delta', text, attempt })

describe('a long answer', () => {
  const texts = Array.from({ length: 2000 }, (_, n) => piece(n))
  const text = texts.join('')

  it('takes about its own length in the file, and is read back exactly', async () => {
    const bodies = [...texts.map((each) => delta(each)), { type: 'message' as const, message: assistant(text) }]
    const { written, read } = await readBack(bodies, text)
    expect(read?.events).toEqual(written)
    expect(read?.turn.text).toBe(text)
    expect(read?.damaged).toBeUndefined()
    const connection = openFile(JOURNAL, { path: place.path, readOnly: true, synchronous: 'normal' })
    // The search index takes some space too.
    expect(usedBytes(connection) / Buffer.byteLength(text)).toBeLessThan(1.7)
    connection.close()
  })

  it('leaves no free pages in the file after a clean-up', async () => {
    const long = text.repeat(20)
    await readBack([...Array.from({ length: 20 }, () => delta(text)), { type: 'message', message: assistant(long) }], long)
    expect(statSync(place.path).size / Buffer.byteLength(long)).toBeGreaterThan(1.7)
    const recorder = await SqliteRecorder.open({ path: place.path })
    await recorder.tend()
    await recorder.close()
    expect(statSync(place.path).size / Buffer.byteLength(long)).toBeLessThan(1.5)
  })

  it('keeps the text of an earlier attempt, and thinking in between', async () => {
    const bodies: EventBody[] = [
      delta('Once '),
      delta('more.'),
      { type: 'reset', attempt: 1 },
      ...texts.slice(0, 700).map((each) => delta(each, 2)),
      { type: 'thinking', content: 'Hm.', attempt: 2 },
      ...texts.slice(700).map((each) => delta(each, 2)),
      { type: 'message', message: assistant(text) },
    ]
    const { written, read } = await readBack(bodies, text)
    expect(read?.events).toEqual(written)
  })

  it('is stored with its events where no message contains it', async () => {
    const bodies = texts.map((each) => delta(each))
    const { written, read } = await readBack(bodies, text, { type: 'cancelled', reason: 'Enough.' })
    expect(read?.events).toEqual(written)
    expect(read?.turn.text).toBe(text)
  })

  it('is reported where its message is damaged, and the rest is read', async () => {
    await readBack([...texts.map((each) => delta(each)), { type: 'message', message: assistant(text) }], text)
    const { DatabaseSync } = await import('node:sqlite')
    const database = new DatabaseSync(place.path)
    database.exec(`UPDATE messages SET body = '{' WHERE role = 'assistant'`)
    database.close()
    const recorder = await SqliteRecorder.open({ path: place.path })
    const read = recorder.read.turn('turn_a')
    expect(read?.turn).toMatchObject({ status: 'done', text: '' })
    expect(read?.damaged).toContainEqual(expect.stringContaining('its text'))
    await recorder.close()
  })
})
