import { expect, test } from 'vitest'
import { columnsOf, showsColour, showsLinks } from './io.ts'

const TERMINAL = { isTTY: true }
const PIPE = {}

test.each([
  ['a terminal', TERMINAL, {}, true],
  ['a pipe', PIPE, {}, false],
  ['NO_COLOR', TERMINAL, { NO_COLOR: '1' }, false],
  ['NO_COLOR that is empty, which does not count', TERMINAL, { NO_COLOR: '' }, true],
  ['NO_COLOR before FORCE_COLOR', TERMINAL, { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
  ['a dumb terminal', TERMINAL, { TERM: 'dumb' }, false],
  ['a pipe that is forced', PIPE, { FORCE_COLOR: '1' }, true],
  ['a terminal that is forbidden', TERMINAL, { FORCE_COLOR: '0' }, false],
])('colour: %s', (_what, stream, env, expected) => {
  expect(showsColour(stream, env)).toBe(expected)
})

test.each([
  ['an unknown terminal', TERMINAL, { TERM: 'xterm-256color' }, false],
  ['VTE that knows them', TERMINAL, { TERM: 'xterm-256color', VTE_VERSION: '6003' }, true],
  ['VTE that does not', TERMINAL, { VTE_VERSION: '4205' }, false],
  ['Windows Terminal', TERMINAL, { WT_SESSION: 'x' }, true],
  ['kitty', TERMINAL, { TERM: 'xterm-kitty' }, true],
  ['a pipe from kitty', PIPE, { TERM: 'xterm-kitty' }, false],
  ['the editor', TERMINAL, { TERM_PROGRAM: 'vscode' }, true],
  ['a CI', TERMINAL, { TERM_PROGRAM: 'vscode', CI: 'true' }, false],
  ['forced', PIPE, { FORCE_HYPERLINK: '1' }, true],
  ['forbidden', TERMINAL, { TERM: 'xterm-kitty', FORCE_HYPERLINK: '0' }, false],
])('links: %s', (_what, stream, env, expected) => {
  expect(showsLinks(stream, env)).toBe(expected)
})

test('a terminal of width 0 is taken for one of 80', () => {
  expect(columnsOf({ isTTY: true, columns: 0 })).toBe(80)
  expect(columnsOf({})).toBe(80)
  expect(columnsOf({ isTTY: true, columns: 120 })).toBe(120)
})
