import { mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { SqliteRecorder } from '../recorders/sqlite/recorder.ts'
import { closeOf, openOf, stamper } from '../testing/turns.ts'
import { openJournal } from './journal.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

describe('openJournal', () => {
  it('brings the journal within its limits, once a day', async () => {
    const turns: string[][] = []
    for (const tendedDaysAgo of [2, 0]) {
      const home = mkdtempSync(join(tmpdir(), 'cria-journal-'))
      folders.push(home)
      const old = await SqliteRecorder.open({ path: join(home, 'cria.db'), clock: { now: () => 0 } })
      await openAndClose(old, 'old', 0)
      await openAndClose(old, 'new', Date.now())
      old.close()
      const journal = await openAfter(home, tendedDaysAgo)
      turns.push((await journal.read.turns()).turns.map(({ turnId }) => turnId))
      expect(Date.now() - statSync(join(home, 'cria.tended')).mtimeMs).toBeLessThan(60_000)
      await journal.close()
    }
    expect(turns).toEqual([['new'], ['new', 'old']])
  })

  it('keeps what is said of a Node without SQLite, the hint too', async () => {
    const home = mkdtempSync(join(tmpdir(), 'cria-journal-'))
    folders.push(home)
    const builtin = vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined)
    try {
      await expect(openJournal({ env: { CRIA_HOME: home }, cwd: home })).rejects.toMatchObject({
        code: 'journal_failed',
        message: expect.stringContaining('cria needs Node 22.18 or newer') as string,
        hint: 'Install a newer Node, or run this with one.',
      })
    } finally {
      builtin.mockRestore()
    }
  })
})

async function openAfter(home: string, days: number): ReturnType<typeof openJournal> {
  const at = new Date(Date.now() - days * 86_400_000)
  writeFileSync(join(home, 'cria.tended'), '')
  utimesSync(join(home, 'cria.tended'), at, at)
  return openJournal({ env: { CRIA_HOME: home }, cwd: home })
}

async function openAndClose(recorder: SqliteRecorder, turnId: string, startedAt: number): Promise<void> {
  const opening = openOf(turnId, { startedAt, sessionId: turnId })
  recorder.openTurn(opening)
  recorder.closeTurn(turnId, closeOf(stamper(opening)(0, { type: 'cancelled', reason: '' })))
}
