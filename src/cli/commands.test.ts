import { expect, test } from 'vitest'
import { COMMANDS } from './commands.ts'
import { commandHelp, overview } from './help.ts'

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
    for (const example of command.examples) expect(example).toMatch(new RegExp(`(^|\\| )cria ${name}\\b`))
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
