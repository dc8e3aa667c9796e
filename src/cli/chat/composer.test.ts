import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { homePaths } from '../../app/paths.ts'
import { Composer } from './composer.ts'

let folder: string
let composer: Composer
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cria-composer-'))
  const paths = homePaths({ env: { CRIA_HOME: join(folder, 'home') }, cwd: folder })
  composer = new Composer(paths, { commands: [], values: {}, cwd: folder })
})
afterEach(() => {
  rmSync(folder, { recursive: true })
})

const send = (): string | undefined => composer.press({ type: 'key', name: 'enter' })

test('a long paste is shown by a name and sent whole; a name without a paste is sent as text', () => {
  const long = 'line\n'.repeat(20)
  composer.press({ type: 'text', text: 'a ' })
  composer.press({ type: 'paste', text: long })
  composer.press({ type: 'text', text: ' b [pasted text 2: 3 lines]' })
  expect(composer.draft.text).toBe('a [pasted text 1: 21 lines] b [pasted text 2: 3 lines]')
  expect(send()).toBe(`a ${long} b [pasted text 2: 3 lines]`)
  composer.press({ type: 'paste', text: 'short' })
  expect(composer.draft.text).toBe('short')
})

test('Up restores the sent message, and Down the draft', () => {
  composer.press({ type: 'text', text: 'first' })
  expect(send()).toBe('first')
  composer.press({ type: 'text', text: 'second' })
  composer.press({ type: 'key', name: 'up' })
  expect(composer.draft.text).toBe('first')
  composer.press({ type: 'key', name: 'down' })
  expect(composer.draft.text).toBe('second')
})
