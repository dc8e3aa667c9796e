import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { openJournal } from './journal.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

describe('openJournal', () => {
  it('keeps message and hint of the error for a Node without SQLite', async () => {
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
