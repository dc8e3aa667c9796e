/** Tests the completion scripts of the real command in real shells. */

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { SHELLS } from '../../src/cli/completion.ts'
import { hasTerminal } from '../support/real-terminal.ts'
import { newPlace } from './command-line.ts'
import type { Place } from './command-line.ts'

let place: Place
beforeEach(() => {
  place = newPlace()
})
afterEach(() => {
  place[Symbol.dispose]()
})

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const has = (shell: string): boolean => spawnSync(shell, ['-c', 'exit 0']).status === 0

async function scriptFor(shell: string): Promise<string> {
  const { code, stdout } = await place.run(['completion', shell])
  expect(code).toBe(0)
  return stdout
}

/** Returns the completions of bash for the last of these words. */
function offered(script: string, words: readonly string[]): readonly string[] {
  const text = execFileSync(
    'bash',
    [
      '-c',
      'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _cria; printf "%s\\n" "${COMPREPLY[@]}"',
      script,
      'cria',
      ...words,
    ],
    { cwd: place.folder, env: { ...process.env, CRIA_HOME: place.home }, encoding: 'utf8' },
  )
  return text.split('\n').filter((line) => line !== '')
}

test('bash offers file names unchanged, with spaces and stars', async () => {
  place.write({ 'my notes.md': '', '*': '', '$(touch made).md': '' })
  const script = join(place.folder, 'script')
  writeFileSync(script, await scriptFor('bash'))
  expect(offered(script, ['index', '']).toSorted()).toEqual(['$(touch made).md', '*', 'my notes.md', 'script'])
  expect(existsSync(join(place.folder, 'made'))).toBe(false)
})

test.each(SHELLS)('the script for %s names every command and every option', async (shell) => {
  const script = await scriptFor(shell)
  for (const { name, load } of COMMANDS) {
    for (const word of name.split(' ')) expect(script).toContain(word)
    for (const option of Object.keys((await load()).options))
      expect(script).toContain(shell === 'fish' ? `-l ${option}` : `--${option}`)
  }
})

test.each(SHELLS)('the script for %s has valid syntax, if the shell is installed', async (shell) => {
  const script = await scriptFor(shell)
  if (!has(shell)) return console.warn(`${shell} is not installed here: its script is not run.`)
  const { status, stderr } = spawnSync(shell, shell === 'fish' ? ['--no-execute'] : ['-n'], {
    input: script,
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})

test('bash completes commands, subcommands, options, choices, names and files', async () => {
  await place.run(['templates', 'save', 'review', 'Review this.'])
  place.write({ 'notes/a.md': 'a' })
  const script = join(place.folder, 'cria.bash')
  writeFileSync(script, await scriptFor('bash'))
  expect(offered(script, ['te'])).toEqual(['templates'])
  expect(offered(script, ['templates', 's'])).toEqual(['show', 'save'])
  expect(offered(script, ['ask', '--sc'])).toEqual(['--schema'])
  expect(offered(script, ['run', '--sandbox', ''])).toEqual(['auto', 'required', 'off'])
  expect(offered(script, ['ask', '-t', ''])).toEqual(['review'])
  expect(offered(script, ['ask', '--docs', 'no'])).toEqual(['notes'])
  expect(offered(script, ['logs', 'list', '--sl'])).toEqual(['--slow'])
  expect(offered(script, ['models', '--off'])).toEqual(['--offline'])
  mkdirSync(join(place.home, 'stores'), { recursive: true })
  for (const store of ['handbook', 'docs-0123456789abcdef']) writeFileSync(join(place.home, 'stores', `${store}.db`), '')
  expect(offered(script, ['stores', 'remove', ''])).toEqual(['handbook'])
  expect(offered(script, ['templates', 'show', 'r'])).toEqual(['review'])
  expect(offered(script, ['completion', ''])).toEqual(['bash', 'zsh', 'fish'])
  expect(offered(script, ['keys', 'set', 'an'])).toEqual(['anthropic'])
  expect(offered(script, ['logs', 'show', ''])).toEqual(['last'])
  expect(offered(script, ['index', 'no'])).toEqual(['notes'])
})

test('a file name is never run as a command', async () => {
  mkdirSync(join(place.home, 'templates'), { recursive: true })
  writeFileSync(join(place.home, 'templates', '$(touch evil).md'), 'x')
  writeFileSync(join(place.home, 'templates', 'good.md'), 'x')
  const script = join(place.folder, 'cria.bash')
  writeFileSync(script, await scriptFor('bash'))
  expect(offered(script, ['ask', '-t', ''])).toEqual(['good'])
  expect(existsSync(join(place.folder, 'evil'))).toBe(false)
})

test('an unknown shell is wrong usage', async () => {
  const { code, stderr } = await place.run(['completion', 'tcsh'])
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('Expected bash, zsh, fish') })
})

describe.runIf(hasTerminal)('in a real terminal', () => {
  test('Tab completes a command', async () => {
    const shell = spawn('/usr/bin/script', ['--quiet', '--return', '--command', 'bash --norc --noprofile -i', '/dev/null'], {
      cwd: place.folder,
      env: { ...process.env, CRIA_HOME: place.home, TERM: 'xterm-256color', PS1: '$ ' },
    })
    let shown = ''
    const until = (text: string): Promise<void> =>
      new Promise((resolve) => {
        const look = (): void => {
          if (shown.includes(text)) resolve()
        }
        shell.stdout.on('data', look)
        look()
      })
    shell.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text
    })
    // The prompt appears when the shell reads single keys again.
    shell.stdin.write(`cria() { '${process.execPath}' '${MAIN}' "$@"; }; source <(cria completion bash); PS1=rea''dy'> '\n`)
    await until('ready> ')
    for (const [typed, text] of [
      ['cria templ\t', 'cria templates '],
      ['s', 'cria templates s'],
      ['\t\t', 'show'],
    ] as const) {
      shell.stdin.write(typed)
      await until(text)
    }
    // Ctrl-U empties the line.
    shell.stdin.end('\u0015exit\n')
    await new Promise((resolve) => {
      shell.on('close', resolve)
    })
    expect(shown).toContain('save')
  })
})
