import { expect, test } from 'vitest'
import { columnsOf, showsColour, showsLinks } from './io.ts'

const TERMINAL = { isTTY: true }
const PIPE = {}

test.each([
  ['a terminal', TERMINAL, {}, true],
  ['a pipe', PIPE, {}, false],
  ['NO_COLOR', TERMINAL, { NO_COLOR: '1' }, false],
  ['an empty NO_COLOR, which does not count', TERMINAL, { NO_COLOR: '' }, true],
  ['NO_COLOR, which precedes FORCE_COLOR', TERMINAL, { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
  ['a dumb terminal', TERMINAL, { TERM: 'dumb' }, false],
  ['a pipe with FORCE_COLOR', PIPE, { FORCE_COLOR: '1' }, true],
  ['a terminal with FORCE_COLOR=0', TERMINAL, { FORCE_COLOR: '0' }, false],
])('colour: %s', (_what, stream, env, expected) => {
  expect(showsColour(stream, env)).toBe(expected)
})

test.each([
  ['an unknown terminal', TERMINAL, { TERM: 'xterm-256color' }, false],
  ['a VTE terminal of a version with links', TERMINAL, { TERM: 'xterm-256color', VTE_VERSION: '6003' }, true],
  ['a VTE terminal of an older version', TERMINAL, { VTE_VERSION: '4205' }, false],
  ['Windows Terminal', TERMINAL, { WT_SESSION: 'x' }, true],
  ['kitty', TERMINAL, { TERM: 'xterm-kitty' }, true],
  ['a pipe from kitty', PIPE, { TERM: 'xterm-kitty' }, false],
  ['the terminal of VS Code', TERMINAL, { TERM_PROGRAM: 'vscode' }, true],
  ['a CI', TERMINAL, { TERM_PROGRAM: 'vscode', CI: 'true' }, false],
  ['a pipe with FORCE_HYPERLINK=1', PIPE, { FORCE_HYPERLINK: '1' }, true],
  ['kitty with FORCE_HYPERLINK=0', TERMINAL, { TERM: 'xterm-kitty', FORCE_HYPERLINK: '0' }, false],
])('links: %s', (_what, stream, env, expected) => {
  expect(showsLinks(stream, env)).toBe(expected)
})

test('a terminal that reports width 0 or none counts as 80 columns wide', () => {
  expect(columnsOf({ isTTY: true, columns: 0 })).toBe(80)
  expect(columnsOf({})).toBe(80)
  expect(columnsOf({ isTTY: true, columns: 120 })).toBe(120)
})
