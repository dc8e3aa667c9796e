/** Tests hooks that are programs: real processes, through `query()`. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderForEach } from '../../test/support/folder.ts'
import { all, calling, collect, resultsOf, tool } from '../../test/calls.ts'
import { commandHooks } from './user-programs.ts'
import { mergeConfig, parseConfig } from './config.ts'
import type { CriaConfig } from './config-schema.ts'

let folder: string
folderForEach((made) => {
  folder = made
})

/** Makes a hook that runs this program text; `given` is the input of the program. */
function hook(text: string, more: object = {}): NonNullable<NonNullable<CriaConfig['hooks']>['onToolCall']>[number] {
  const file = join(folder, `hook-${Math.random()}.mjs`)
  writeFileSync(
    file,
    `let given = ''; for await (const piece of process.stdin) given += piece; given = JSON.parse(given);\n${text}`,
  )
  return { command: process.execPath, args: [file], ...more }
}

const echo = tool('echo', ({ n }) => `echo ${String(n)}`)
const other = tool('other', () => 'other')
const run = (hooks: CriaConfig['hooks'], env: Record<string, string> = {}): ReturnType<typeof collect> => {
  const made = commandHooks(hooks === undefined ? {} : { hooks }, { cwd: folder, env: { PATH: process.env['PATH'], ...env } })
  return collect({
    model: calling([
      { id: 'a', name: 'echo', input: { n: 1 } },
      { id: 'b', name: 'other' },
    ]),
    tools: [echo, other],
    ...(made === undefined ? {} : { hooks: made }),
  })
}

describe('hooks of the configuration', () => {
  it('ENG-TOOL-005 receive the event, and exit code 2 refuses with the text of standard error', async () => {
    const log = join(folder, 'log')
    const events = await run({
      onToolCall: [
        hook(
          `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(log)}, JSON.stringify(given)); console.error('Not now.'); process.exit(2)`,
          { tools: ['ec*'] },
        ),
      ],
    })
    expect(resultsOf(events).toSorted()).toEqual(['Refused by a hook: Not now.', 'other'])
    expect(JSON.parse(readFileSync(log, 'utf8'))).toMatchObject({
      hook: 'onToolCall',
      cwd: folder,
      id: 'a',
      name: 'echo',
      input: { n: 1 },
      step: 1,
    })
  })

  it('ENG-TOOL-005 change their subject with JSON, in order', async () => {
    const events = await run({
      onToolCall: [
        hook('console.log(JSON.stringify({ input: { n: given.input.n + 1 } }))', { tools: ['echo'] }),
        hook('console.log(JSON.stringify({ input: { n: given.input.n * 10 } }))', { tools: ['echo'] }),
        hook(''),
      ],
      onToolResult: [hook('console.log(JSON.stringify({ content: given.content.toUpperCase() }))')],
      onPrompt: [
        hook('console.log(JSON.stringify({ context: "one" }))'),
        hook('console.log(JSON.stringify({ context: "two" }))'),
      ],
    })
    expect(resultsOf(events).toSorted()).toEqual(['ECHO 20', 'OTHER'])
    expect(
      all(events, 'hook')
        .map(({ hook: name, outcome }) => `${name} ${outcome}`)
        .toSorted(),
    ).toEqual(['onPrompt changed', 'onToolCall changed', 'onToolResult changed', 'onToolResult changed'])
  })

  it.each<[string, () => ReturnType<typeof hook>, RegExp]>([
    ['fails', () => hook('console.error("oh"); process.exit(1)'), /ended with code 1: oh/],
    ['prints something other than JSON', () => hook('console.log("yes")'), /must print a JSON object, or nothing/],
    ['takes too long', () => hook('setInterval(() => {}, 1000)', { timeout: 200 }), /did not end within 0\.2 s/],
    ['does not exist', () => ({ command: join(folder, 'missing') }), /cannot be started/],
  ])('ENG-TOOL-005 a hook that %s blocks the call', async (_, made, reason) => {
    const events = await run({ onToolCall: [{ ...made(), tools: ['echo'] }] })
    expect(all(events, 'hook')).toMatchObject([{ outcome: 'failed', id: 'a', reason: expect.stringMatching(reason) }])
    expect(resultsOf(events)).not.toContain('echo 1')
  })

  it('ENG-TOOL-005 receive no keys from the environment', async () => {
    const events = await run(
      {
        onToolResult: [hook('console.log(JSON.stringify({ content: String(process.env.OPENAI_API_KEY) }))', { tools: ['echo'] })],
      },
      { OPENAI_API_KEY: 'sk-secret-secret' },
    )
    expect(resultsOf(events)).toContain('undefined')
  })

  it('of a project run after those of the user and never replace them', () => {
    const [mine, theirs] = [
      { onToolCall: [{ command: 'mine' }] },
      { onToolCall: [{ command: 'theirs' }], onStop: [{ command: 'stop' }] },
    ]
    expect(mergeConfig({ hooks: mine }, { hooks: theirs }).hooks).toEqual({
      onToolCall: [{ command: 'mine' }, { command: 'theirs' }],
      onStop: [{ command: 'stop' }],
    })
    expect(commandHooks({}, { cwd: folder, env: {} })).toBeUndefined()
    expect(() => parseConfig('{ "hooks": { "onToolCall": [{ "program": "x" }] } }', 'config.json')).toThrow(
      /hooks\.onToolCall\[0\]/,
    )
  })
})
