import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { COMMANDS, findCommand } from './commands.ts'
import { commandHelp, overview } from './help.ts'
import { parseCommandLine } from './parse.ts'

test('docs/commands.md is what --help says (update it with `npx vitest run src/cli/commands -u`)', async () => {
  const sections = await Promise.all(
    COMMANDS.map(
      async ({ name, summary, load }) => `## cria ${name}\n\n\`\`\`text\n${commandHelp(await load(), summary)}\`\`\`\n`,
    ),
  )
  const page = `# Commands\n\n\`\`\`text\n${overview()}\`\`\`\n\n${sections.join('\n')}`
  await expect(page).toMatchFileSnapshot('../../docs/commands.md')
})

test('a command is called what its entry calls it, and its examples run it', async () => {
  for (const { name, load } of COMMANDS) {
    const command = await load()
    expect(command.name).toBe(name)
    for (const example of command.examples) expect(example).toMatch(new RegExp(`(^|\\| |\\()cria ${name}\\b`))
  }
})

test('no two options of a command share a letter, and what takes a value says what it is called', async () => {
  for (const { name, load } of COMMANDS) {
    const { options } = await load()
    const letters = Object.values(options).flatMap(({ short }) => (short === undefined ? [] : [short]))
    expect({ name, letters: [...new Set(letters)] }).toEqual({ name, letters })
    const unnamed = Object.entries(options).filter(([, { type, value }]) => (value !== undefined) !== (type !== 'flag'))
    expect({ name, unnamed }).toEqual({ name, unnamed: [] })
  }
})

test('every example is a command line that its command takes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cria-examples-'))
  // In the place of the real ones: `cria` prints its words, the others read files of projects that are not here.
  for (const name of ['cria', 'git', 'pass', 'echo']) {
    const says = name === 'cria' ? 'printf "%s\\0" "$@"' : ':'
    writeFileSync(join(folder, name), `#!/bin/bash\n${says}\n`)
    chmodSync(join(folder, name), 0o700)
  }
  for (const name of ['log.txt', 'review.md']) writeFileSync(join(folder, name), '')
  try {
    for (const { name, load } of COMMANDS) {
      const command = await load()
      expect({ name, examples: command.examples.length > 0 }).toEqual({ name, examples: true })
      for (const example of command.examples) {
        const line = example.replace(/ > \S+$/, '').replace(/^source <\((.*)\)$/, '$1')
        const env = { PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}`, HOME: folder }
        const words = execFileSync('/bin/bash', ['-c', line], { encoding: 'utf8', cwd: folder, env }).split('\0').slice(0, -1)
        const found = findCommand(words)
        expect({ example, name: found?.entry.name }).toEqual({ example, name })
        expect(() => parseCommandLine(command, found?.rest ?? [])).not.toThrow()
      }
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})
