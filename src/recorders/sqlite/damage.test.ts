/** Tests damaged rows: they are named, and all others are read. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { assistant, user } from '../../core/message.ts'
import type { TurnDetail } from '../../core/recorder.ts'
import { closeOf, entriesOf, openOf, resultOf, stamper } from '../../testing/turns.ts'
import { exportTurns } from '../export.ts'
import { SqliteRecorder } from './recorder.ts'

const PAGE = 4096
let folder: string
let path: string

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cria-damage-'))
  path = join(folder, 'cria.db')
  const recorder = await SqliteRecorder.open({ path })
  for (const name of ['a', 'b', 'c']) {
    const open = openOf(`turn_${name}`, { sessionId: 's', question: `asked ${name} `.repeat(200) })
    const at = stamper(open)
    await recorder.openTurn(open)
    await recorder.record(open.turnId, [
      { type: 'messages', step: 0, messages: [user(open.question)] },
      ...entriesOf([
        at(0, { type: 'start', model: 'm' }),
        at(1, { type: 'text_delta', text: `answer ${name}`, attempt: 1 }),
        at(1, { type: 'message', message: assistant(`answer ${name}`) }),
      ]),
    ])
    await recorder.closeTurn(
      open.turnId,
      closeOf(at(1, { type: 'complete', result: resultOf(open, `answer ${name}`) }), { text: `answer ${name}` }),
    )
  }
  await recorder.close()
})
afterEach(() => rmSync(folder, { recursive: true }))

function change(sql: string): void {
  const database = new DatabaseSync(path)
  database.exec(sql)
  database.close()
}

async function exported(): Promise<{ readonly turns: readonly TurnDetail[]; readonly damaged: readonly string[] }> {
  const recorder = await SqliteRecorder.open({ path })
  const damaged: string[] = []
  const pieces = await Array.fromAsync(exportTurns(recorder.read, { onDamage: (what) => damaged.push(what) }))
  const lines = pieces.join('').split('\n').slice(0, -1)
  recorder.stats()
  recorder.sessionStats()
  await recorder.close()
  return { turns: lines.map((line) => JSON.parse(line) as TurnDetail), damaged }
}

describe('a damaged row', () => {
  it.each<[what: string, sql: string, named: string]>([
    [
      'an event',
      `UPDATE events SET body = '{"text' WHERE seq = 1 AND turn = (SELECT id FROM turns WHERE turn_id = 'turn_b')`,
      'turn_b: event 1',
    ],
    ['metrics', `UPDATE turns SET metrics = '{{' WHERE turn_id = 'turn_b'`, 'turn_b: the row of its metrics'],
    [
      'a message',
      `UPDATE messages SET body = 'x' WHERE id = (SELECT message FROM turn_messages WHERE position = 0 AND turn = (SELECT id FROM turns WHERE turn_id = 'turn_b'))`,
      'turn_b: message ',
    ],
  ])('in %s is named, and everything else is exported', async (_what, sql, named) => {
    change(sql)
    const { turns, damaged } = await exported()
    expect(turns.map(({ turn }) => turn.turnId)).toEqual(['turn_c', 'turn_b', 'turn_a'])
    expect(damaged).toEqual([expect.stringContaining(named)])
    expect(turns.map(({ turn }) => turn.text)).toEqual(['answer c', 'answer b', 'answer a'])
  })

  it('can be removed, and its session continues without it', async () => {
    change(`UPDATE turns SET metrics = '{{' WHERE turn_id = 'turn_b'; UPDATE messages SET body = 'x' WHERE role = 'user'`)
    const recorder = await SqliteRecorder.open({ path })
    expect(recorder.read.history('s').map(({ content }) => content)).toEqual(['answer a', 'answer b', 'answer c'])
    expect(await recorder.gc({ maxAgeMs: 0 })).toMatchObject({ turns: 3 })
    expect(recorder.stats()).toEqual([])
    await recorder.close()
  })

  it('on an overwritten page is left out, and turns on other pages are listed and exported', async () => {
    const database = new DatabaseSync(path, { readOnly: true })
    const pages = database
      .prepare(`SELECT pageno FROM dbstat WHERE name = 'turns' AND pagetype = 'leaf' ORDER BY pageno`)
      .all()
      .map(({ pageno }) => Number(pageno))
    database.close()
    expect(pages.length).toBeGreaterThan(1)
    const bytes = readFileSync(path)
    const at = ((pages.at(-1) ?? 1) - 1) * PAGE
    bytes.fill(0xff, at, at + PAGE)
    writeFileSync(path, bytes)
    const { turns, damaged } = await exported()
    expect(damaged.length).toBeGreaterThan(0)
    expect(turns.length).toBeGreaterThan(0)
    expect(turns.length + damaged.length).toBe(3)
  })
})
