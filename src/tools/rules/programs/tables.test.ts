/** The tables are written so that a reader with a manual beside can check them. */

import { describe, expect, it } from 'vitest'
import { PROGRAMS } from '../programs.ts'

describe('the tables of programs', () => {
  it('name each program once', () => {
    const names = PROGRAMS.flatMap(({ programs }) => programs.split(' '))
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
    expect(names.length).toBeGreaterThan(300)
  })

  it('write options as manuals do, each once', () => {
    const odd = PROGRAMS.flatMap((entry) => {
      if ('risk' in entry) return []
      const lists = [entry.runs, entry.writes, entry.reads, entry.elsewhere, entry.folder].filter((list) => list !== undefined)
      const options = lists.flatMap((list) => list.split(' '))
      return options.filter((option, index) => !/^(?:--\w[\w-]+|-[A-Za-z])$/.test(option) || options.indexOf(option) !== index)
    })
    expect(odd).toEqual([])
  })
})
