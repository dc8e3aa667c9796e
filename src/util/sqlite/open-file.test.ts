import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { FileKind } from './file-kind.ts'
import { loadSqlite, openFile } from './open-file.ts'

class NotesError extends Error {}
const asError = (message: string): Error => new NotesError(message)

const NOTES: FileKind = {
  name: 'notebook',
  applicationId: 0x6e6f7465,
  migrations: ['CREATE TABLE notes (text TEXT)'],
  busyTimeoutMs: 1000,
  probe: 'DELETE FROM notes WHERE 0',
  missingHint: 'write something first.',
  errors: {
    isOne: (error): error is Error => error instanceof NotesError,
    refused: asError,
    failed: asError,
    isFailed: () => false,
    wrong: asError,
    unknown: (thrown) => asError(String(thrown)),
  },
}

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cria-sqlite-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test.each([
  ['an absolute link', (place: string) => join(place, 'there', 'notes.db')],
  ['a relative link', () => join('there', 'notes.db')],
  ['a link to a link', () => 'second.db'],
])('%s to a missing file decides where the file is created', (_, target) => {
  const path = join(folder, 'notes.db')
  mkdirSync(join(folder, 'there'))
  symlinkSync(target(folder), path)
  symlinkSync(join('there', 'notes.db'), join(folder, 'second.db'))
  const first = openFile(NOTES, { path, readOnly: false, synchronous: 'normal' })
  first.run("INSERT INTO notes VALUES ('kept')")
  first.close()
  expect(lstatSync(path).isSymbolicLink()).toBe(true)
  expect(readdirSync(join(folder, 'there'))).toEqual(['notes.db'])

  const second = openFile(NOTES, { path, readOnly: true, synchronous: 'normal' })
  expect(second.get('SELECT text FROM notes')).toEqual({ text: 'kept' })
  second.close()
})

test('a missing file cannot be opened for reading, also when a link leads to it', () => {
  const path = join(folder, 'notes.db')
  symlinkSync('nowhere.db', path)
  expect(() => openFile(NOTES, { path, readOnly: true, synchronous: 'normal' })).toThrow('There is no notebook at')
  expect(existsSync(join(folder, 'nowhere.db'))).toBe(false)
})

describe('loadSqlite', () => {
  test('silences only the warning about SQLite, and restores the warning handler', () => {
    const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const before: unknown = Reflect.get(process, 'emitWarning')
    const sqlite = {} as typeof import('node:sqlite')
    vi.spyOn(process, 'getBuiltinModule').mockImplementation(() => {
      process.emitWarning('SQLite is an experimental feature and might change at any time', 'ExperimentalWarning')
      process.emitWarning('Something else is experimental', 'ExperimentalWarning')
      process.emitWarning('SQLite is old', 'DeprecationWarning')
      return sqlite
    })
    expect(loadSqlite()).toBe(sqlite)
    expect(Reflect.get(process, 'emitWarning')).toBe(before)
    expect(emitted.mock.calls).toEqual([
      ['Something else is experimental', 'ExperimentalWarning'],
      ['SQLite is old', 'DeprecationWarning'],
    ])
  })

  test('returns `undefined` when Node has no `node:sqlite`', () => {
    const before: unknown = Reflect.get(process, 'emitWarning')
    vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined)
    expect(loadSqlite()).toBeUndefined()
    expect(Reflect.get(process, 'emitWarning')).toBe(before)
  })
})
