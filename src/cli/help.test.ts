import { expect, test } from 'vitest'
import { COMMANDS } from './commands.ts'
import { commandHelp, groupHelp, overview, terminalLayout } from './help.ts'
import type { HelpLayout } from './help.ts'
import { widthOf } from '../util/cells.ts'

async function helps(layout?: HelpLayout): Promise<readonly string[]> {
  const commands = await Promise.all(COMMANDS.map(async ({ summary, load }) => commandHelp(await load(), summary, layout)))
  return [overview(layout), groupHelp('logs', layout) ?? '', ...commands]
}

const wordsOf = (text: string): readonly string[] => text.replaceAll(/ \\$/gm, '').split(/\s+/)

test.each([30, 50, 80, 120])(
  'in %i columns every word of a help text is whole, and only single words exceed a line',
  async (columns) => {
    const plain = await helps()
    for (const [index, shown] of (await helps(await terminalLayout(columns))).entries()) {
      expect(wordsOf(shown).toSorted()).toEqual(wordsOf(plain[index] ?? '').toSorted())
      for (const line of shown.split('\n')) {
        // One word, an option with its value or a part of a command in quotes may take more.
        if (!/^\s*(?:\S+|-.*|[^"']*(["']).*\1.*)$/.test(line))
          expect({ line, fits: widthOf(line) <= columns }).toEqual({ line, fits: true })
      }
    }
  },
)

test('a wide terminal changes nothing', async () => {
  expect(await helps(await terminalLayout(300))).toEqual(await helps())
})

test('an explanation continues under its column, and a wrapped example is still one command', async () => {
  const entry = COMMANDS.find(({ name }) => name === 'ask')
  const text = commandHelp(await (entry?.load() ?? Promise.reject(new Error('no ask'))), '', await terminalLayout(60))
  expect(text).toContain('      --thinking           let the model reason first\n')
  expect(text).toMatch(/ {6}--filter KEY=VALUE… {2}only documents with this\n {27}metadata;/)
  expect(text).toContain('  cria ask "What is our policy on refunds?" \\\n    --store handbook -m openai/gpt-5-mini\n')
})

test('the overview fits on one screen of 80 columns and 30 lines, and names each first word once', async () => {
  const lines = overview(await terminalLayout(80))
    .trimEnd()
    .split('\n')
  expect(lines.length).toBeLessThanOrEqual(30)
  for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(80)
  for (const word of new Set(COMMANDS.map(({ name }) => name.split(' ')[0])))
    expect(lines.filter((line) => line.startsWith(`  ${word} `))).toHaveLength(1)
})
