import { describe, expect, it, vi } from 'vitest'
import { loadSqlite } from './open-file.ts'

describe('loadSqlite', () => {
  it('silences only the warning about SQLite, and restores the warning handler', () => {
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

  it('returns `undefined` when Node has no `node:sqlite`', () => {
    const before: unknown = Reflect.get(process, 'emitWarning')
    vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined)
    expect(loadSqlite()).toBeUndefined()
    expect(Reflect.get(process, 'emitWarning')).toBe(before)
  })
})
