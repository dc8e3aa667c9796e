import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agentServer, toolResultsIn } from '../support/agent-server.ts'
import type { ScriptedStep, SentMessage } from '../support/agent-server.ts'
import { BROKEN, BROKEN_PROJECT, EDIT, FIXED, READ, RUN_TEST } from '../support/broken-project.ts'
import { isAlive, until } from '../support/processes.ts'
import { eachScene } from './command-line.ts'
import type { Ended, RunOptions, Running } from './command-line.ts'

const MODEL = ['-m', 'openai-compatible/test']

/** Reads the file, fixes the mistake, and runs the test before and after. */
const STORY: readonly ScriptedStep[] = [
  {
    text: 'I look first.',
    calls: [{ name: 'list_files', input: {} }, RUN_TEST],
  },
  { calls: [{ name: 'search_files', input: { pattern: 'add\\b', glob: '*.mjs' } }] },
  { calls: [READ] },
  { calls: [EDIT] },
  { calls: [RUN_TEST] },
  { text: 'It subtracted. Now it adds, and the test passes.' },
]
const RULES = ['--allow=edit_file(*.mjs)', '--allow=run_command(node add.test.mjs)']

const scene = eachScene(BROKEN_PROJECT)

async function start(
  script: Parameters<typeof agentServer>[0],
  words: readonly string[],
  options: RunOptions = {},
): Promise<Running> {
  scene.server = await agentServer(script)
  const env = { OPENAI_COMPATIBLE_BASE_URL: scene.server.url, OPENAI_COMPATIBLE_API_KEY: 'sk-canary-0123456789', ...options.env }
  return scene.place.start(['run', ...words, ...MODEL], { ...options, env })
}

async function run(
  script: Parameters<typeof agentServer>[0],
  words: readonly string[],
  options: RunOptions = {},
): Promise<Ended> {
  return (await start(script, words, options)).ended
}

const results = (): string[] => toolResultsIn(scene.server)

describe('cria run', () => {
  test('ENG-TOOL-004 finds and fixes a mistake that rules allow, and reports its calls', async () => {
    const { code, stdout, stderr } = await run(STORY, ['Fix the failing test', ...RULES])
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'It subtracted. Now it adds, and the test passes.\n' })
    expect(scene.place.read('add.mjs')).toBe(FIXED)
    const received = results()
    expect(received[1]).toContain('2 + 2 is not 4')
    expect(received[1]).toContain('[exit code 1]')
    expect(received[2]).toContain('add.mjs:1:export const add')
    expect(received.at(-1)).toContain('passed')
    expect(stderr).toContain('I look first.')
    expect(stderr).toContain('> edit_file add.mjs')
    expect(stderr).toMatch(/Changed:\n {2}add\.mjs\nRan:\n {2}node add\.test\.mjs {2}\(failed\)\n {2}node add\.test\.mjs\n$/)
  })

  test('ENG-TOOL-005 without rules nothing is changed or run, the model receives the refusal, and the exit code is 4', async () => {
    const { code, stderr } = await run(STORY, ['Fix the failing test'])
    expect(code).toBe(4)
    expect(scene.place.read('add.mjs')).toBe(BROKEN)
    expect(results().filter((text) => text.startsWith('Permission denied'))).toHaveLength(3)
    expect(stderr).toContain('> edit_file add.mjs\n  edit_file: refused: no rule allows it\n')
    expect(stderr).toContain('\nRefused:\n  run_command node add.test.mjs\n  edit_file add.mjs\n')
    expect(stderr).toContain("--allow='run_command(node add.test.mjs)'")
    expect(stderr).toContain("--allow='edit_file(add.mjs)'")
    // Each refusal is on the line of its call: the notice for code would say it again.
    expect(stderr).not.toContain('needsPermission')
  })

  test('a rule that does not cover a call is named, with one that does', async () => {
    const { code, stderr } = await run(STORY, [
      'Fix the failing test',
      '--allow=edit_file(*.mjs)',
      '--allow=run_command(node *)',
      '--sandbox=off',
    ])
    expect(code).toBe(4)
    expect(stderr).toContain('The rule "run_command(node *)" does not cover it: * does not match "add.test.mjs"')
    expect(stderr).toContain("--allow='run_command(node add.test.mjs)'")
  })

  test('a refusal does not fail the task if another call succeeded', async () => {
    const script = [
      { calls: [{ name: 'run_command', input: { command: 'sed -i s/-/+/ add.mjs' } }] },
      { calls: [READ] },
      { calls: [EDIT] },
      { text: 'Done.' },
    ]
    expect((await run(script, ['Fix it', ...RULES])).code).toBe(0)
  })

  test('a model that repeats a refused call is stopped with the permission exit code', async () => {
    const script = (): ScriptedStep => ({ calls: [{ name: 'run_command', input: { command: 'make' } }] })
    expect((await run(script, ['Build it'])).code).toBe(4)
    expect(scene.server?.requests.length).toBeLessThan(10)
  })

  test('--deny wins over --allow and names the rule', async () => {
    const words = ['Fix it', '--allow=run_command', '--deny=run_command(rm *)', '--json']
    const script = [{ calls: [{ name: 'run_command', input: { command: 'env rm add.mjs' } }] }, { text: 'It is forbidden.' }]
    const { code, stdout } = await run(script, words)
    expect(code).toBe(4)
    expect(JSON.parse(stdout)).toMatchObject({
      answer: 'It is forbidden.',
      steps: 2,
      toolCalls: [{ id: 'call_0_0', name: 'run_command', input: { command: 'env rm add.mjs' }, isError: true }],
      refused: [{ id: 'call_0_0', name: 'run_command', rule: 'run_command(rm *)' }],
      changed: [],
    })
    expect(existsSync(join(scene.place.folder, 'add.mjs'))).toBe(true)
  })

  test('--json prints one object with every call; --events one event per line', async () => {
    const { stdout, code } = await run(STORY, ['Fix it', ...RULES, '--json'])
    expect(code).toBe(0)
    const answer = JSON.parse(stdout) as { toolCalls: { id: string; isError: boolean }[] }
    expect(answer).toMatchObject({
      answer: 'It subtracted. Now it adds, and the test passes.',
      steps: 6,
      finishReason: 'stop',
      changed: ['add.mjs'],
      refused: [],
      model: 'openai-compatible/test',
    })
    expect(answer.toolCalls.map(({ isError }) => isError)).toEqual([false, true, false, false, false, false])
    await scene.server?.[Symbol.asyncDispose]()
    const events = (await run(STORY, ['Fix it', '--events'])).stdout.trimEnd().split('\n')
    const parsed = events.map((line) => JSON.parse(line) as { type: string; seq: number })
    expect(parsed.map(({ seq }) => seq)).toEqual(parsed.map((_, index) => index))
    expect([parsed.at(0)?.type, parsed.at(-1)?.type]).toEqual(['start', 'complete'])
  })

  test('--safe refuses even reads, unless a rule allows them', async () => {
    const script = [
      {
        calls: [{ name: 'list_files', input: {} }, READ],
      },
      { text: 'I could read one.' },
    ]
    await run(script, ['Look', '--safe', '--allow=read_file(add.mjs)'])
    expect(results()[0]).toMatch(/^Permission denied/)
    expect(results()[1]).toBe(BROKEN)
  })

  test('rules of a project apply once it is trusted', async () => {
    mkdirSync(join(scene.place.folder, '.cria'))
    scene.place.write({ '.cria/config.json': JSON.stringify({ rules: { allow: ['run_command(touch *)'] } }) })
    const script = [{ calls: [{ name: 'run_command', input: { command: 'touch made' } }] }, { text: 'Done.' }]
    const before = await run(script, ['Touch'])
    expect([before.code, existsSync(join(scene.place.folder, 'made'))]).toEqual([4, false])
    expect(before.stderr).toContain('cria trust')
    await scene.server?.[Symbol.asyncDispose]()
    await scene.place.run(['trust'])
    expect((await run(script, ['Touch'])).code).toBe(0)
    expect(existsSync(join(scene.place.folder, 'made'))).toBe(true)
  })

  test('rules of the user that forbid win in a trusted project', async () => {
    scene.place.configure({ rules: { deny: ['run_command(touch *)'] } })
    scene.place.write({ '.cria/config.json': JSON.stringify({ rules: { allow: ['run_command'], deny: ['fetch_url'] } }) })
    await scene.place.run(['trust'])
    const script = [{ calls: [{ name: 'run_command', input: { command: 'touch made' } }] }, { text: 'No.' }]
    expect((await run(script, ['Touch'])).code).toBe(4)
    expect(existsSync(join(scene.place.folder, 'made'))).toBe(false)
  })

  test('commands receive no provider keys, and models no files with secrets', async () => {
    scene.place.write({ '.env': 'TOKEN=canary-in-env-file\n', 'sub/.npmrc': 'canary-in-npmrc' })
    symlinkSync('.env', join(scene.place.folder, 'notes.txt'))
    symlinkSync('/etc', join(scene.place.folder, 'outside'))
    const script = [
      {
        calls: [
          { name: 'run_command', input: { command: 'env' } },
          { name: 'read_file', input: { path: '.env' } },
          { name: 'read_file', input: { path: 'notes.txt' } },
          { name: 'search_files', input: { pattern: 'canary', hidden: true } },
          { name: 'read_file', input: { path: 'outside/passwd' } },
          { name: 'read_file', input: { path: '../home/config.json' } },
        ],
      },
      { text: 'Nothing found.' },
    ]
    const env = { MY_TOKEN: 'canary-token', DATABASE_URL: 'postgres://u:canary-password@h/db', RUST_LOG: 'yes' }
    await run(script, ['Look around', '--allow=*'], { env })
    const received = results()
    expect(received.join('\n')).not.toMatch(/canary|root:/)
    expect(received[0]).toContain('RUST_LOG=yes')
    expect(received[1]).toMatch(/^Permission denied/)
    expect(received[2]).toMatch(/^Permission denied/)
    expect(received[4]).toContain('lies outside')
  })

  test('the folder may be a symbolic link', async () => {
    const link = join(scene.place.folder, '..', 'link')
    symlinkSync(scene.place.folder, link)
    const { code } = await run(STORY, ['Fix it', ...RULES], { cwd: link })
    expect(code).toBe(0)
    expect(realpathSync(link)).toBe(scene.place.folder)
    expect(scene.place.read('add.mjs')).toContain('a + b')
  })

  test('ENG-ERR-001 Ctrl-C ends the running command with its child processes, and the turn is recorded', async () => {
    const command = `node -e "require('fs').writeFileSync('pid', String(process.pid)); setInterval(() => {}, 1000)"`
    const script = [{ calls: [{ name: 'run_command', input: { command } }] }]
    const running = await start(script, ['Wait', '--allow=run_command', '--sandbox=off'])
    await until(() => existsSync(join(scene.place.folder, 'pid')) && scene.place.read('pid') !== '')
    running.process.kill('SIGINT')
    const { code } = await running.ended
    expect(code).toBe(130)
    await until(() => !isAlive(Number(scene.place.read('pid'))))
    const { stdout } = await scene.place.run(['logs', 'show', 'last', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ turn: { status: 'cancelled', question: 'Wait' } })
    // What was called is shown where a step says nothing.
    expect((await scene.place.run(['logs', 'show', 'last'])).stdout).toContain('→ run_command {"command":"node -e')
  })

  test('a continued session includes the earlier calls', async () => {
    const first = await run(STORY, ['Fix it', ...RULES, '--json'])
    const { sessionId } = JSON.parse(first.stdout) as { sessionId: string }
    await scene.server?.[Symbol.asyncDispose]()
    await run([{ text: 'I replaced the minus.' }], ['What did you do?', '--session', sessionId])
    expect(scene.server?.requests[0]).toContain('Fix it')
    expect(results()).toHaveLength(6)
  })

  test('ENG-CTX-003 the model receives facts about project and repository, and no repository hook is run', async () => {
    execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: scene.place.folder })
    execFileSync('git', ['config', 'core.fsmonitor', `touch '${join(scene.place.folder, 'canary')}'; false`], {
      cwd: scene.place.folder,
    })
    scene.place.write({ 'AGENTS.md': 'Tests are run with node.' })
    const { stderr } = await run([{ text: 'Done.' }], ['Fix it'])
    const { messages } = JSON.parse(scene.server?.requests[0] ?? '{}') as { messages: readonly SentMessage[] }
    const [system, ...rest] = messages
    expect(system?.content).not.toContain('Tests are run with node.')
    // Neighbours of one role travel as one message to some providers.
    const sent = rest.map(({ role, content }) => `${role}: ${JSON.stringify(content)}`).join('\n')
    const places = ['AGENTS.md', 'Tests are run with node.', 'git status', 'Fix it'].map((text) => sent.indexOf(text))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(places).not.toContain(-1)
    expect(stderr).toContain('AGENTS.md: sent as data, not as instructions.')
    expect(existsSync(join(scene.place.folder, 'canary'))).toBe(false)
  })

  test('the step limit ends the task as not done', async () => {
    const script = (): ScriptedStep => ({ calls: [{ name: 'list_files', input: {} }] })
    const { code, stderr } = await run(script, ['Look', '--max-steps', '2'])
    expect(code).toBe(1)
    expect(stderr).toContain('step limit')
  })

  test('named documents can be searched', async () => {
    scene.place.write({ 'docs/wine.md': '# Wine\n\nThe red wine of the valley is called Trollinger.\n' })
    const script = [{ calls: [{ name: 'search_documents', input: { query: 'red wine' } }] }, { text: 'Trollinger.' }]
    const { code, stdout, stderr } = await run(script, ['Which wine?', '--docs=docs'])
    expect([code, stdout]).toEqual([0, 'Trollinger.\n'])
    expect(stderr).toContain('\nPassages that were read\n  docs/wine.md:1\n')
    expect(results()[0]).toContain('Trollinger')
  })
})

describe('cria run refuses, with the reason,', () => {
  test('a model without tools', async () => {
    const { code, stderr } = await scene.place.run(['run', 'Do it'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/needs a model that can use tools[\s\S]*OPENAI_API_KEY/)
    const named = await scene.place.run(['run', 'Do it', '-m', 'builtin/extractive'])
    expect([named.code, named.stderr]).toEqual([2, expect.stringContaining('cannot use tools')])
  })

  test.each([
    [['--allow=shell(ls)'], /no tool "shell"[^]*, agent\.\n/],
    [['--allow=run_comand(ls)'], /Did you mean run_command/],
    [['--allow=run_command()'], /^cria: --allow: "run_command\(\)" is not a rule/],
    [['--deny=edit_file(src/**'], /^cria: --deny: "edit_file\(src\/\*\*" is not a rule/],
    [['--json', '--events'], /exclude each other/],
    [['--max-steps', '0'], /at least 1|from 1/],
  ])('%j', async (words, message) => {
    const { code, stderr } = await run([], ['Do it', ...words])
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })

  test('an empty task', async () => {
    expect(await run([], ['  '])).toMatchObject({ code: 2, stderr: expect.stringContaining('task is empty') as string })
  })
})
