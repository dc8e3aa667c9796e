import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isAlive, until } from '../../../test/support/processes.ts'
import { callerOf } from '../../../test/support/tool-call.ts'
import type { Called, CallOptions } from '../../../test/support/tool-call.ts'
import { BoundedOutput } from './bounded-output.ts'
import { builtinTools } from './builtin-tools.ts'
import { commandEnvironment } from './command-environment.ts'

let root: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'cria-command-')))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const run = (command: string, more: object = {}, options: CallOptions = {}): Promise<Called> =>
  callerOf(builtinTools({ root, sandbox: 'off' }))('run_command', { command, ...more }, options)

describe('run_command', () => {
  it('runs in the root and reports output and exit code', async () => {
    expect(await run('pwd; echo out; echo err >&2; exit 3')).toMatchObject({
      content: expect.stringMatching(/\[exit code 3\]$/) as string,
      isError: true,
    })
    expect(await run('pwd')).toMatchObject({ content: root, isError: false })
    expect((await run('true')).content).toBe('(no output, exit code 0)')
    expect((await run('kill -9 $$')).content).toContain('[ended by SIGKILL]')
    expect((await run('no-such-program-at-all')).isError).toBe(true)
    expect((await run('echo a\0b')).content).toContain('NUL')
  })

  it('has no input, no terminal, no colours and no pager', async () => {
    expect((await run('cat; echo end')).content).toBe('end')
    expect((await run('test -t 0 || test -t 1 || echo none; (: < /dev/tty) 2>/dev/null || echo no terminal')).content).toBe(
      'none\nno terminal',
    )
    expect((await run('echo $TERM $NO_COLOR $PAGER')).content).toBe('dumb 1 cat')
  })

  it('background processes end with the command', async () => {
    const { content } = await run('sleep 600 & echo $! > pid; (sleep 600 & echo $! > pid2) ; echo started')
    expect(content).toBe('started')
    await gone('pid', 'pid2')
  })

  it('a daemon that left the group ends with the command as well', { skip: process.platform !== 'linux' }, async () => {
    const daemon = `trap '' TERM HUP; echo $$ > pid; while :; do sleep 1; done`
    writeFileSync(join(root, 'daemon.sh'), daemon)
    const { content } = await run('setsid sh daemon.sh > /dev/null 2>&1 & until [ -s pid ]; do sleep 0.05; done; echo started')
    expect(content).toBe('started')
    await gone('pid')
  })

  it('the process group ends also when our own process is killed', async () => {
    const command = `trap '' TERM; sleep 600 & echo $! > pid; echo $$ > pid2; touch ready; while :; do sleep 1; done`
    // The process kills itself after it has started the command.
    const program = `
      import { existsSync } from 'node:fs'
      import { callerOf } from '${new URL('../../../test/support/tool-call.ts', import.meta.url).href}'
      import { builtinTools } from '${new URL('./builtin-tools.ts', import.meta.url).href}'
      setInterval(() => existsSync(${JSON.stringify(join(root, 'ready'))}) && process.kill(process.pid, 'SIGKILL'), 10)
      await callerOf(builtinTools({ root: ${JSON.stringify(root)}, sandbox: 'off' }))('run_command', { command: ${JSON.stringify(command)} })`
    const { signal } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: 'inherit',
      timeout: 20_000,
    })
    expect(signal).toBe('SIGKILL')
    await gone('pid', 'pid2')
  })

  it('values hidden from a command are masked in its output', async () => {
    const key = 'sk-canary-0123456789'
    const env = {
      PATH: process.env['PATH'],
      SOME_API_KEY: key,
      PASSWORD: 'password',
      SIGNING_KEY: '/home/u/key',
      CRIA_MODEL: 'openai/gpt-5',
    }
    const call = callerOf(builtinTools({ root, env }))
    writeFileSync(join(root, 'leak'), `${'x'.repeat(15_995)}${key} password /home/u/key openai/gpt-5 ${'y'.repeat(60_000)}${key}`)
    const command = `head -c 16000 leak; sleep 0.1; tail -c +16001 leak`
    const { content, progress } = await call('run_command', { command })
    expect(content).not.toMatch(/sk-can|0123456/)
    expect(content).toMatch(/y\[redacted\]$/)
    expect(progress.join('\n')).not.toContain('sk-canary')
    expect((await call('run_command', { command: 'cut -c16016-16070 leak' })).content).toContain(
      'password /home/u/key openai/gpt-5',
    )
  })

  it('ENG-TOOL-005 files that only look like a repository are not used as a repository', async () => {
    const repository = join(root, 'sub')
    execFileSync('git', ['init', '-q', '--bare', repository])
    writeFileSync(
      join(repository, 'config'),
      `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = "touch ../canary; false"\n`,
    )
    const { content } = await run('cd sub && git status')
    expect(content).toContain('bare')
    expect(existsSync(join(root, 'canary'))).toBe(false)
  })

  it('ENG-TOOL-005 git settings of the environment stay, without secrets; file monitors of a repository do not run', async () => {
    const settings = [
      'user.name',
      'Ada',
      'http.extraHeader',
      'Authorization: canary',
      'user.email',
      'ada@example.org',
      'a.b',
      'Declared7',
      'c.d',
      'Same8',
    ]
    const numbered = Array.from({ length: 5 }, (_, index) => [
      [`GIT_CONFIG_KEY_${index}`, settings[2 * index] ?? ''],
      [`GIT_CONFIG_VALUE_${index}`, settings[2 * index + 1] ?? ''],
    ]).flat()
    const env = { PATH: process.env['PATH'], GIT_CONFIG_COUNT: '5', MY_THING: 'Same8', ...Object.fromEntries(numbered) }
    const call = callerOf(builtinTools({ root, env, secretVariables: ['MY_THING', 'GIT_CONFIG_VALUE_3'] }))
    execFileSync('git', ['init', '-q', root])
    execFileSync('git', ['-C', root, 'config', 'core.fsmonitor', `touch ${join(root, 'canary')}; false`])
    const { content } = await call('run_command', { command: 'git status && git config user.name && git config user.email; env' })
    expect(content).toContain('Ada\nada@example.org')
    expect(content).not.toMatch(/Authorization|Declared7|Same8/)
    expect(existsSync(join(root, 'canary'))).toBe(false)
  })

  it('after the timeout the whole group ends, including processes that ignore SIGTERM', async () => {
    const command = `trap '' TERM; echo $$ > pid; sh -c 'trap "" TERM; echo $$ > pid2; while :; do sleep 1; done' & while :; do sleep 1; done`
    const { content, isError } = await run(command, { timeout: 1 })
    expect({ content, isError }).toEqual({
      content: '[stopped: it did not end within 1 s; its effects up to there stay]',
      isError: true,
    })
    await gone('pid', 'pid2')
  })

  it('an abort ends it, and the result reports that it had begun', async () => {
    const stop = new AbortController()
    const running = run('echo begun; echo $$ > pid; sleep 600', {}, { signal: stop.signal })
    await until(() => existsSync(join(root, 'pid')))
    stop.abort()
    expect((await running).content).toBe('begun\n[stopped: it was cancelled; its effects up to there stay]')
    await gone('pid')
    expect(await run('touch never', {}, { signal: stop.signal })).toMatchObject({ isError: true })
    expect(existsSync(join(root, 'never'))).toBe(false)
  })

  it('keeps head and tail of long output, and stops endless output', async () => {
    const { content } = await run('seq 1 200000')
    expect(content).toMatch(/^1\n2\n[^]*bytes left out …\][^]*\n200000$/)
    expect(content.length).toBeLessThan(70_000)
    const endless = await run('yes')
    expect(endless.content).toMatch(/^y\n[^]*\[stopped: it wrote more than 50 MB/)
    expect(endless.content.length).toBeLessThan(70_000)
  })

  it('shows no binary output', async () => {
    expect((await run('head -c 5000 /dev/urandom')).content).toMatch(/^\(not shown: 5,000 bytes/)
  })

  it('reports progress at intervals', async () => {
    const { progress } = await run('echo one; sleep 0.5; echo two')
    expect(progress).toEqual(['one', 'two'])
  })
})

describe('the environment of commands', () => {
  it('has no secrets in it', () => {
    const env = {
      PATH: '/bin',
      HOME: '/home/u',
      LANG: 'C.UTF-8',
      SSH_AUTH_SOCK: '/tmp/agent',
      KEYBOARD: 'de',
      MONKEY_HOUSE: 'open',
      OPENAI_API_KEY: 'a',
      OPENAI_BASE_URL: 'b',
      ANTHROPIC_API_KEY: 'c',
      GOOGLE_GENERATIVE_AI_API_KEY: 'd',
      OPENAI_COMPATIBLE_API_KEY: 'e',
      CRIA_DATABASE_URL: 'f',
      GITHUB_TOKEN: 'g',
      NPM_TOKEN: 'h',
      AWS_SECRET_ACCESS_KEY: 'i',
      AWS_SESSION_TOKEN: 'j',
      db_password: 'k',
      MYSECRET: 'l',
      DATABASE_URL: 'postgres://u:p@h/d',
      REDIS_URL: 'redis://:p@h',
      LLM_HOUSE: 'm',
      COPY_OF_IT: 'm',
      APIKEY: 'n',
      GOOGLE_APPLICATION_CREDENTIALS: '/x.json',
    }
    const passed = commandEnvironment(env, ['LLM_HOUSE'])
    const kept = Object.keys(env).filter((name) => name in passed)
    expect(kept).toEqual(['PATH', 'HOME', 'LANG', 'SSH_AUTH_SOCK', 'KEYBOARD', 'MONKEY_HOUSE'])
    expect(commandEnvironment(env, [], ['GITHUB_TOKEN'])['GITHUB_TOKEN']).toBe('g')
  })
})

describe('bounded output', () => {
  it('is complete when it fits, however its pieces were cut', () => {
    const text = '🦙 llama\n'.repeat(1000)
    const output = new BoundedOutput()
    for (const byte of Buffer.from(text)) output.add(Buffer.from([byte]))
    expect(output.text()).toBe(text)
  })

  it('cuts at whole characters and reports the real size', () => {
    const output = new BoundedOutput()
    for (let index = 0; index < 300; index++) output.add(Buffer.from('🦙é'.repeat(331)))
    const text = output.text()
    expect(text).not.toContain('\ufffd')
    expect(text).toContain(`of ${(300 * 331 * 6).toLocaleString('en-US')} bytes left out`)
    expect(Buffer.byteLength(text)).toBeLessThan(65_000)
  })
})

/** Returns whether the processes whose ids are in these files have ended; zombie processes count as ended. */
async function gone(...files: readonly string[]): Promise<void> {
  for (const file of files) await until(() => !isAlive(Number(readFileSync(join(root, file), 'utf8'))))
}
