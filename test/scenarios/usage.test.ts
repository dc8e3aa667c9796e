import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { newPlace } from './command-line.ts'
import type { Place } from './command-line.ts'

let place: Place
beforeAll(() => {
  place = newPlace()
})
afterAll(() => {
  place[Symbol.dispose]()
})

describe('help', () => {
  test('the overview names every command and goes to standard output', async () => {
    const { code, stdout, stderr } = await place.run(['--help'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const lines = stdout.split('\n')
    for (const { name } of COMMANDS) {
      const [first = '', second = ''] = name.split(' ')
      expect(lines.find((line) => line.startsWith(`  ${first} `) && line.includes(second))).toBeDefined()
    }
  })

  test.each([...COMMANDS.map(({ name }) => name), 'logs', 'eval'])(
    'cria %s --help has an example and says what the options do',
    async (name) => {
      const { code, stdout, stderr } = await place.run([...name.split(' '), '--help'])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toMatch(/Examples?:\n {2}cria /)
      expect(stdout).toContain(`Usage: cria ${name}`)
      expect(stdout).toContain('--help')
    },
  )

  test.each(['--version', '-v', 'version'])('cria %s', async (word) => {
    expect(await place.run([word])).toEqual({ code: 0, stdout: expect.stringMatching(/^cria \d+\.\d+\.\d+/), stderr: '' })
  })
})

describe('wrong usage ends with code 2, a message and no stack trace', () => {
  test.each([
    [[], /Usage: cria <command>/],
    [['logs'], /Usage: cria logs <command>/],
    [['frobnicate'], /There is no command "frobnicate"/],
    [['aks', 'x'], /Did you mean "cria ask"\?/],
    [['logs', 'shwo', 'x'], /Did you mean "cria logs show"\?/],
    [['logs', 'list', '--jsn'], /Did you mean --json\?/],
    [['logs', 'rate', 'last', '7'], /A rating is 1 to 5, -1, up, down or none, but got "7"/],
    [['run', 'x'], /"cria run" needs a model that can use tools.*\n.*Name one with -m/],
    [['serve'], /planned but not available yet/],
  ])('cria %j', async (words, message) => {
    const { code, stdout, stderr } = await place.run(words)
    expect(stderr).toMatch(message)
    expect(stderr).not.toMatch(/^\s+at /m)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })
})

test('CRIA_DEBUG shows the stack of an error, and no key', async () => {
  const { stderr } = await place.run(['logs', 'show', 'sk-canary-0123456789'], {
    env: { CRIA_DEBUG: '1', OPENAI_API_KEY: 'sk-canary-0123456789' },
  })
  expect(stderr).toMatch(/^\s+at /m)
  expect(stderr).not.toContain('canary-0123456789')
})
