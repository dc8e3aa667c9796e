import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { user } from '../../core/message.ts'
import { closeOf, entriesOf, openOf, resultOf, stamper } from '../../testing/turns.ts'
import { journalFolder } from '../../../test/support/journal-folder.ts'
import { SqliteRecorder } from './recorder.ts'
import { APPLICATION_ID, MIGRATIONS } from './schema.ts'

const place = journalFolder()

/** Returns the bytes of all files of the journal, in lower case like the words of the search index. */
function bytes(): string {
  return readdirSync(place.folder)
    .map((name) => readFileSync(join(place.folder, name)).toString('latin1').toLowerCase())
    .join()
}

/** Returns words that occur nowhere else, because the index stores only the part of a word that differs from its neighbour. */
function words(seed: number): string[] {
  return Array.from({ length: seed % 5 === 0 ? 900 : 60 }, (_, n) => hash('md5', `${seed} ${n}`).slice(0, 16))
}

/** Writes a long turn: deltas that are folded when it is closed, a tool result, several pages of text. */
async function longTurn(recorder: SqliteRecorder, turnId: string, userId: string, text: string): Promise<void> {
  const open = openOf(turnId, { sessionId: `session_${userId}`, userId, question: `Question ${text.slice(0, 60)}` })
  const at = stamper(open)
  await recorder.openTurn(open)
  await recorder.record(turnId, [
    { type: 'messages', step: 0, messages: [user(open.question)] },
    ...entriesOf([at(0, { type: 'start', model: open.model })]),
  ])
  for (let from = 0; from < text.length; from += Math.ceil(text.length / 90))
    await recorder.record(
      turnId,
      entriesOf([at(1, { type: 'text_delta', text: text.slice(from, from + Math.ceil(text.length / 90)), attempt: 1 })]),
    )
  await recorder.closeTurn(turnId, closeOf(at(1, { type: 'complete', result: resultOf(open, text) }), { text }))
}

describe('SqliteRecorder.deleteUser', () => {
  it('REC-PROMPT-001 deletes the prompts that only turns of the user used', async () => {
    const recorder = await SqliteRecorder.open({ path: place.path })
    const shared = { name: 'tone', hash: 'a'.repeat(64), template: 'Be kind.' }
    const own = { name: 'Assistant of Grasshopper', hash: 'b'.repeat(64), template: 'You help Mrs Hopper.' }
    for (const [userId, prompts] of Object.entries({ ada: [shared], grace: [shared, own] })) {
      const open = openOf(`turn_${userId}`, { sessionId: userId, userId, prompts, promptHash: shared.hash })
      await recorder.openTurn(open)
      await recorder.closeTurn(open.turnId, closeOf(stamper(open)(0, { type: 'cancelled', reason: 'Enough.' })))
    }
    await recorder.deleteUser('grace')
    expect(recorder.prompts()).toMatchObject([{ name: 'tone', version: 1, turns: 1, template: 'Be kind.' }])
    await recorder.close()
    expect(bytes()).not.toContain('hopper')
  })

  it('removes every word of the user from file, search index and log, and keeps the words of others', async () => {
    const recorder = await SqliteRecorder.open({ path: place.path })
    for (let n = 0; n < 60; n += 1)
      await longTurn(recorder, `turn_${n}`, n % 3 === 0 ? 'ada-lovelace' : `other${n % 3}`, words(n).join(' '))
    const found = (n: number): string[] => {
      const all = bytes()
      return words(n).filter((word, place) => place % 20 === 0 && all.includes(word.slice(5)))
    }
    expect(found(0)).toHaveLength(45)
    expect(await recorder.deleteUser('ada-lovelace')).toEqual({ turns: 20, sessions: 1, wiped: true })
    for (let n = 0; n < 60; n += 3) expect(found(n)).toEqual([])
    expect(bytes()).not.toContain('ada-lovelace')
    for (let n = 1; n < 60; n += 3) {
      expect(recorder.read.turn(`turn_${n}`)?.turn.text).toBe(words(n).join(' '))
      expect(recorder.read.turns({ search: words(n)[7] ?? '' }).turns.map(({ turnId }) => turnId)).toEqual([`turn_${n}`])
    }
    await recorder.close()
  })

  it('overwrites remains of deleted turns in a file of an earlier version', async () => {
    const before = new DatabaseSync(place.path)
    before.exec(`PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA application_id = ${APPLICATION_ID}`)
    for (const migration of MIGRATIONS.slice(0, 6)) before.exec(migration)
    before.exec(`PRAGMA user_version = 6; INSERT INTO sessions (session_id, created_at) VALUES ('old', 0)`)
    const insert = before.prepare(
      `INSERT INTO turns (turn_id, session_id, exclusive, state, model, trace_id, span_id, started_at, question)
       VALUES (?, 'old', 1, 'done', 'm', '', '', 0, ?)`,
    )
    for (let n = 0; n < 30; n += 1) insert.run(`turn_${n}`, words(1).join(' '))
    before.exec(`DELETE FROM turns WHERE turn_id <> 'turn_29'; UPDATE turns SET question = 'Gone?'`)
    before.close()
    const word = words(1)[30] ?? ''
    expect(bytes()).toContain(word)
    const recorder = await SqliteRecorder.open({ path: place.path })
    expect(await recorder.deleteSession('another')).toEqual({ turns: 0, sessions: 0, wiped: true })
    expect(bytes()).not.toContain(word)
    expect(recorder.read.turn('turn_29')?.turn.question).toBe('Gone?')
    await recorder.close()
  })
})
