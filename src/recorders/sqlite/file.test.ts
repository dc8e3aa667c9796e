import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ErrorCode } from '../../core/error.ts'
import { closeOf, openOf, stamper } from '../../testing/turns.ts'
import { JOURNAL } from './journal.ts'
import { SqliteRecorder } from './recorder.ts'
import { migrate, openFile, schemaVersion } from '../../util/sqlite/open-file.ts'
import { APPLICATION_ID, MIGRATIONS } from './schema.ts'

let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cria-journal-'))
  path = join(folder, 'cria.db')
})

afterEach(() => {
  chmodSync(folder, 0o700)
  rmSync(folder, { recursive: true })
})

/** Expects that opening fails with this code, names the file, and leaves it unchanged. */
async function refuses(code: ErrorCode, options: { readOnly?: boolean } = {}): Promise<string> {
  const before = contentOf(path)
  const error: unknown = await SqliteRecorder.open({ path, ...options }).then(
    async (recorder) => {
      await recorder.close()
    },
    (thrown: unknown) => thrown,
  )
  expect(error).toMatchObject({ name: expect.stringMatching(/^(CriaError|ConfigurationError)$/) as unknown, code })
  expect((error as Error).message).toContain(path)
  expect(contentOf(path)).toEqual(before)
  return (error as Error).message
}

function contentOf(file: string): Buffer | undefined {
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(file) : undefined
}

async function writeTurn(turnId: string): Promise<void> {
  const recorder = await SqliteRecorder.open({ path })
  await recorder.openTurn(openOf(turnId))
  await recorder.closeTurn(turnId, closeOf(stamper(openOf(turnId))(0, { type: 'cancelled', reason: 'Enough.' })))
  await recorder.close()
}

describe('the file of a journal', () => {
  it('is created with its folder, readable by its owner only, and intact', async () => {
    path = join(folder, 'deep', 'home', 'cria.db')
    const recorder = await SqliteRecorder.open({ path })
    await recorder.openTurn(openOf('turn_a'))
    const modes = readdirSync(join(folder, 'deep', 'home')).map(
      (name) => statSync(join(folder, 'deep', 'home', name)).mode & 0o777,
    )
    expect(readdirSync(join(folder, 'deep', 'home')).toSorted()).toEqual(['cria.db', 'cria.db-shm', 'cria.db-wal'])
    expect(new Set(modes)).toEqual(new Set([0o600]))
    expect(statSync(join(folder, 'deep', 'home')).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder, 'deep')).mode & 0o777).toBe(0o700)
    await recorder.close()
    await recorder.close()
    expect(readdirSync(join(folder, 'deep', 'home'))).toEqual(['cria.db'])
  })

  it('uses a write-ahead log, and waits for the disk only on request', async () => {
    for (const [synchronous, level] of [
      ['normal', 1],
      ['full', 2],
    ] as const) {
      const connection = openFile(JOURNAL, { path, readOnly: false, synchronous })
      expect(connection.get('PRAGMA journal_mode')).toEqual({ journal_mode: 'wal' })
      expect(connection.get('PRAGMA synchronous')).toEqual({ synchronous: level })
      expect(connection.get('PRAGMA busy_timeout')).toEqual({ timeout: 10_000 })
      connection.close()
    }
  })

  it('may have any name', async () => {
    path = join(folder, `it's a "journal"; 100 %? #1 é.db`)
    await writeTurn('turn_a')
    const reader = await SqliteRecorder.open({ path, readOnly: true })
    expect(reader.read.turns().turns).toHaveLength(1)
    await reader.close()
  })

  it('is not needed for a journal in memory', async () => {
    const recorder = await SqliteRecorder.open({ path: ':memory:' })
    await recorder.openTurn(openOf('turn_a'))
    expect(recorder.read.turns().turns).toHaveLength(1)
    await recorder.close()
    expect(() => recorder.read.turns()).toThrow(/closed/)
  })
})

describe('rejects and leaves unchanged:', () => {
  it('a folder', async () => {
    mkdirSync(path)
    expect(await refuses('configuration')).toContain('folder')
  })

  it('an empty file', async () => {
    writeFileSync(path, '')
    expect(await refuses('configuration')).toContain('empty')
  })

  it('a file of another kind', async () => {
    writeFileSync(path, 'SQLite is a library.\n'.repeat(500))
    expect(await refuses('configuration')).toContain('a file of another kind')
  })

  it('the database of another application', async () => {
    const other = new DatabaseSync(path)
    other.exec('PRAGMA application_id = 1; CREATE TABLE turns (id INTEGER); INSERT INTO turns VALUES (1)')
    other.close()
    expect(await refuses('configuration')).toContain('another application')
    expect(await refuses('configuration', { readOnly: true })).toContain('another application')
  })

  it('a journal of a newer version', async () => {
    await writeTurn('turn_a')
    const database = new DatabaseSync(path)
    database.exec(`PRAGMA user_version = ${MIGRATIONS.length + 1}; PRAGMA wal_checkpoint(TRUNCATE)`)
    database.close()
    expect(await refuses('configuration')).toContain('newer version')
  })

  it('a path below a file', async () => {
    writeFileSync(join(folder, 'file'), 'x')
    path = join(folder, 'file', 'cria.db')
    expect(await refuses('journal_failed')).toContain('could not be opened')
  })

  it('a missing file, when opened read-only', async () => {
    expect(await refuses('configuration', { readOnly: true })).toContain('nothing has been recorded')
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('a damaged file', () => {
  it('is rejected when it cannot be read at all', async () => {
    await writeTurn('turn_a')
    const bytes = readFileSync(path)
    writeFileSync(path, bytes.fill(0xff, 100, 8000))
    expect(await refuses('journal_failed')).toContain('damaged')
  })

  it('is reported when the damage is read', async () => {
    for (let n = 0; n < 50; n++) await writeTurn(`turn_${n}`)
    const bytes = readFileSync(path)
    // Everything after the first pages, which contain the schema.
    writeFileSync(path, bytes.fill(0xff, 4096 * 16))
    let error: unknown
    try {
      const recorder = await SqliteRecorder.open({ path })
      for (let n = 0; n < 50; n++) recorder.read.turn(`turn_${n}`)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toMatchObject({ code: 'journal_failed', hint: expect.stringContaining('recover') as unknown })
  })
})

describe('a file without write permission', () => {
  const isRoot = process.geteuid?.() === 0

  /** Runs `work` as an ordinary user: permissions do not restrict the superuser. */
  async function asOrdinaryUser(work: () => Promise<void>): Promise<void> {
    if (!isRoot) return work()
    chownSync(folder, 65_534, 65_534)
    for (const name of readdirSync(folder)) chownSync(join(folder, name), 65_534, 65_534)
    process.seteuid?.(65_534)
    try {
      await work()
    } finally {
      process.seteuid?.(0)
    }
  }

  it('is rejected for writing, and can be read', async () => {
    await writeTurn('turn_a')
    await asOrdinaryUser(async () => {
      chmodSync(path, 0o400)
      expect(await refuses('journal_failed')).toContain('read-only')
      const reader = await SqliteRecorder.open({ path, readOnly: true })
      expect(reader.read.turns().turns).toHaveLength(1)
      expect(() => reader.openTurn(openOf('turn_b'))).toThrow(/read-only/)
      await expect(reader.gc({ maxAgeMs: 0 })).rejects.toThrow(/read-only/)
      expect(reader.sweep()).toBe(0)
      await reader.close()
    })
  })

  it('can be read in a folder without write permission', async () => {
    await writeTurn('turn_a')
    await asOrdinaryUser(async () => {
      chmodSync(path, 0o400)
      chmodSync(folder, 0o500)
      await refuses('journal_failed')
      const reader = await SqliteRecorder.open({ path, readOnly: true })
      expect(reader.read.turn('turn_a')?.turn.status).toBe('cancelled')
      await reader.close()
      chmodSync(folder, 0o700)
    })
  })

  it('is not created in a folder without write permission', async () => {
    await asOrdinaryUser(async () => {
      chmodSync(folder, 0o500)
      await refuses('journal_failed')
      chmodSync(folder, 0o700)
    })
    expect(readdirSync(folder)).toEqual([])
  })

  it('can be read by others while it is written', async () => {
    const [writer, reader] = [await SqliteRecorder.open({ path }), await SqliteRecorder.open({ path, readOnly: true })]
    expect(reader.read.turns().turns).toEqual([])
    await writer.openTurn(openOf('turn_a'))
    expect(reader.read.turns().turns).toHaveLength(1)
    await writer.close()
    await reader.close()
  })
})

describe('migrations', () => {
  const next = [...MIGRATIONS, 'CREATE TABLE later (x)', 'INSERT INTO later VALUES (1)']

  it('upgrade an older file once, and keep its data', async () => {
    await writeTurn('turn_a')
    const [first, second] = [0, 1].map(() => openFile(JOURNAL, { path, readOnly: false, synchronous: 'normal' }))
    for (const connection of [first, second, first])
      if (connection !== undefined) migrate(connection, { ...JOURNAL, migrations: next })
    expect(second === undefined ? 0 : schemaVersion(second)).toBe(next.length)
    expect(first?.all('SELECT x FROM later')).toHaveLength(1)
    expect(first?.all('SELECT turn_id FROM turns')).toHaveLength(1)
    first?.close()
    second?.close()
  })

  it('REC-PROMPT-001 link turns of a file without templates to their prompt versions', async () => {
    const old = new DatabaseSync(path)
    for (const migration of MIGRATIONS.slice(0, 6)) old.exec(migration)
    old.exec(`PRAGMA user_version = 6; PRAGMA application_id = ${APPLICATION_ID};
      INSERT INTO sessions (session_id, created_at) VALUES ('s', 1);
      INSERT INTO prompts (bot, hash, version, first_used_at) VALUES ('QueryBot', 'aa', 1, 1), ('', 'bb', 1, 1);
      INSERT INTO turns (turn_id, session_id, exclusive, state, model, bot_kind, prompt_hash, trace_id, span_id, started_at, question)
      VALUES ('turn_a', 's', 1, 'done', 'm', 'QueryBot', 'aa', 't', 'p', 1, '?'), ('turn_b', 's', 1, 'done', 'm', NULL, 'bb', 't', 'p', 1, '?')`)
    old.close()
    const recorder = await SqliteRecorder.open({ path })
    expect(recorder.prompts().map(({ name, version, turns, template }) => [name, version, turns, template])).toEqual([
      ['QueryBot', 1, 1, null],
      ['query', 1, 1, null],
    ])
    const prompts = [{ name: 'QueryBot', hash: 'aa', template: 'Be brief.' }]
    await recorder.openTurn(openOf('turn_c', { promptHash: 'aa', prompts }))
    expect(recorder.prompts('QueryBot')).toMatchObject([{ version: 1, turns: 2, template: 'Be brief.' }])
    await recorder.close()
  })

  it('are applied completely or not at all', async () => {
    await writeTurn('turn_a')
    const connection = openFile(JOURNAL, { path, readOnly: false, synchronous: 'normal' })
    expect(() => migrate(connection, { ...JOURNAL, migrations: [...next, 'CREATE TABLE turns (x)'] })).toThrow(/turns/)
    expect(schemaVersion(connection)).toBe(MIGRATIONS.length)
    expect(() => connection.all('SELECT x FROM later')).toThrow(/later/)
    connection.close()
  })

  it('are not applied by read-only recorders', async () => {
    await writeTurn('turn_a')
    const connection = openFile(JOURNAL, { path, readOnly: true, synchronous: 'normal' })
    expect(() => migrate(connection, { ...JOURNAL, migrations: next })).toThrow(/older version/)
    connection.close()
  })
})
