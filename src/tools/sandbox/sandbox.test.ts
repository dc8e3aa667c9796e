/** Commands in a real sandbox: their access, their traces, and the reported results. */

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { callerOf } from '../../../test/support/tool-call.ts'
import type { Called } from '../../../test/support/tool-call.ts'
import type { QueryEvent } from '../../core/event.ts'
import type { CommandReach } from '../../core/tool.ts'
import { query } from '../../engine/query.ts'
import { ScriptedModel } from '../../providers/scripted/scripted-model.ts'
import { builtinTools } from '../builtin/builtin-tools.ts'
import type { ToolRules } from '../permissions/rule.ts'
import { commandReach, readRules } from '../permissions/rule-book.ts'
import { findSandbox } from './system-sandbox.ts'
import { Sandbox, sandboxOptions } from './sandbox.ts'
import type { SandboxOptions } from './sandbox.ts'

const found = await findSandbox()
if (found.kind === 'none') console.warn(`Most tests of the sandbox are skipped: ${found.reason}. ${found.hint}`)

let base: string
let root: string
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'cria-walls-')))
  root = join(base, 'workspace')
  mkdirSync(root)
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const file = (name: string, content = 'x\n'): void => {
  mkdirSync(join(root, name, '..'), { recursive: true })
  writeFileSync(join(root, name), content)
}
const tools = (options: SandboxOptions = {}): ReturnType<typeof builtinTools> =>
  builtinTools({ root, sandbox: { mode: 'required', ...options } })

async function run(command: string, rules: ToolRules = {}, options: SandboxOptions = {}): Promise<Called> {
  const book = await readRules({ ...rules, root })
  const line = { text: command, commands: [[{ text: command, quoted: false, wild: 'no' as const }]] }
  const reach: CommandReach = commandReach(book.rules, [{ kind: 'command', line }])
  return callerOf(tools(options))('run_command', { command }, { reach })
}

describe.skipIf(found.kind !== 'bubblewrap')('ENG-TOOL-005 a command in a sandbox', () => {
  it('writes to the workspace and to temporary files, which stay for the next command, and to nothing else', async () => {
    const call = callerOf(tools())
    const first = await call('run_command', { command: 'echo a > new.txt; echo b > /tmp/t.txt; echo c > /usr/t.txt' })
    expect(first.content).toMatch(/Read-only file system/)
    expect((await call('run_command', { command: 'cat new.txt /tmp/t.txt /var/tmp/t.txt' })).content).toBe('a\nb\nb')
    expect(readFileSync(join(root, 'new.txt'), 'utf8')).toBe('a\n')
    expect(existsSync('/tmp/t.txt')).toBe(false)
  })

  it('is marked in the record of the call', async () => {
    const sandboxes = async (sandbox: 'auto' | 'off'): Promise<unknown[]> => {
      const model = new ScriptedModel([{ toolCalls: [{ name: 'run_command', input: { command: 'true' } }] }, 'Done.'])
      const events: QueryEvent[] = []
      const rules = { allow: ['run_command(true)'], root }
      for await (const event of query({ prompt: 'Go', model, tools: builtinTools({ root, sandbox }), rules })) events.push(event)
      return events.flatMap((event) => (event.type === 'tool_result' ? [event.result.sandbox] : []))
    }
    expect(await sandboxes('auto')).toEqual(['bubblewrap'])
    expect(await sandboxes('off')).toEqual(['none'])
  })

  it('reports exit codes and signals', async () => {
    expect((await run('exit 3')).content).toBe('[exit code 3]')
    expect((await run('kill -9 $$')).content).toBe('[exit code 137, as after SIGKILL]')
    expect((await run('true')).content).toBe('(no output, exit code 0)')
  })

  it('leaves no process running, even one that left its group and cleared its environment', async () => {
    await run(`env -i setsid sh -c 'while :; do echo x >> beat; sleep 0.05; done' >/dev/null 2>&1 & sleep 0.3`)
    const before = readFileSync(join(root, 'beat'), 'utf8').length
    await run('sleep 0.3')
    expect(before).toBeGreaterThan(0)
    expect(readFileSync(join(root, 'beat'), 'utf8')).toHaveLength(before)
  })

  it('does not see secrets unless a rule names the file', async () => {
    file('.env', 'canary\n')
    file('.npmrc', 'save-exact=true\n')
    file('sub/.npmrc', '//registry.example.org/:_authToken=canary\n')
    symlinkSync('.env', join(root, 'notes.txt'))
    const command = 'cat .env notes.txt sub/.npmrc .npmrc'
    expect((await run(command)).content).not.toContain('canary')
    expect((await run(command)).content).toContain('save-exact')
    expect((await run(command, { allow: ['read_file(**)', 'read_file(.e*)'] })).content).not.toContain('canary')
    expect((await run('cat .env', { allow: ['read_file(.env)'] })).content).toBe('canary')
    expect((await run('cat .env', { allow: ['read_file(.env)'], deny: ['read_file(.env)'] })).content).not.toContain('canary')
  })

  it('does not see paths that rules deny, by any pattern, inside and outside the workspace', async () => {
    for (const name of ['a/private/x.txt', 'b/c.key.txt', 'open.txt']) file(name, `${name}\n`)
    writeFileSync(join(base, 'beside.txt'), 'beside\n')
    const deny = ['read_file(a/private/**)', 'read_file(**/*.key.txt)', `read_file(${base}/beside.txt)`]
    const { content } = await run('cat a/private/x.txt b/c.key.txt ../beside.txt open.txt', { deny })
    expect(content.replace(/^cat: .*$/gm, '').trim()).toMatch(/^open\.txt\s+\[exit code 1\]$/)
    // Moving the folder above does not open it, neither now nor for the next command.
    await run('mv a z', { deny })
    expect((await run('cat z/private/x.txt', { deny })).isError).toBe(true)
    expect(existsSync(join(root, 'a/private/x.txt'))).toBe(true)
  })

  it('does not write files that decide what runs later, unless a rule names them', async () => {
    for (const name of ['.github/workflows/ci.yml', '.vscode/tasks.json', '.envrc']) file(name, 'kept\n')
    const command = 'for f in .github/workflows/ci.yml .vscode/tasks.json .envrc; do echo evil > $f; rm -rf $f; done'
    expect((await run(command)).isError).toBe(true)
    await run(command, { allow: ['edit_file(**)', 'write_file'] })
    for (const name of ['.github/workflows/ci.yml', '.vscode/tasks.json', '.envrc']) {
      expect(readFileSync(join(root, name), 'utf8')).toBe('kept\n')
    }
    expect((await run('echo new > .envrc', { allow: ['edit_file(.envrc)'] })).isError).toBe(false)
    expect((await run('echo new > .vscode/new.json', { allow: ['write_file(.vscode/**)'] })).isError).toBe(false)
  })

  it('loses new files that decide what runs later, and reports their new path and the rule that would keep them', async () => {
    const { content, isError } = await run('mkdir -p .vscode sub; echo evil > .vscode/tasks.json; echo fine > sub/a.txt')
    expect(isError).toBe(true)
    const [, movedTo = ''] =
      /^\[moved to (\S+): \.vscode decides what runs later\. A rule such as write_file\(\.vscode\)/m.exec(content) ?? []
    expect(readFileSync(join(movedTo, 'tasks.json'), 'utf8')).toBe('evil\n')
    expect(existsSync(join(root, '.vscode'))).toBe(false)
    expect(readFileSync(join(root, 'sub/a.txt'), 'utf8')).toBe('fine\n')
    rmSync(join(movedTo, '..'), { recursive: true })
  })

  it('works with git: commits, branches and a new repository, but no settings and no hooks', async () => {
    execFileSync('git', ['init', '-q', root])
    const git = 'git -c user.name=a -c user.email=a@example.org'
    const { content } = await run(
      `echo a > a.txt; git add a.txt; ${git} commit -qm first && git checkout -q -b next && git log --oneline`,
    )
    expect(content).toMatch(/^[\da-f]+ first$/)
    expect((await run('git config core.pager evil')).isError).toBe(true)
    expect((await run('echo x > .git/hooks/pre-commit')).isError).toBe(true)
    expect((await run('git init -q sub && ls -d sub/.git')).content).toBe('sub/.git')
    expect((await run('git init -q bad && git -C bad config core.pager evil')).content).toMatch(/moved to .*: bad\/\.git decides/)
  })

  it('commits in a work tree whose repository is elsewhere, and ignores a forged `.git` file', async () => {
    const main = join(base, 'main')
    execFileSync('git', ['init', '-q', main])
    const commit = ['-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '-q', '--allow-empty', '-m', 'first']
    execFileSync('git', ['-C', main, ...commit])
    rmSync(root, { recursive: true })
    execFileSync('git', ['-C', main, 'worktree', 'add', '-q', root])
    expect((await run(`git ${commit.join(' ')} && git log --oneline | wc -l`)).content).toBe('2')
    expect((await run('git config core.pager evil')).isError).toBe(true)
    const forged = join(base, 'forged')
    mkdirSync(forged)
    writeFileSync(join(forged, '.git'), readFileSync(join(root, '.git')))
    root = forged
    expect((await run(`touch ${main}/.git/x`)).isError).toBe(true)
    expect(existsSync(join(main, '.git/x'))).toBe(false)
  })

  it('has no network unless an option or a rule allows it', async () => {
    const server = createServer((socket) => socket.end('hello\n'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const command = `node -e 'require("net").connect(${port},"127.0.0.1").on("error",()=>console.log("closed")).pipe(process.stdout)'`
    const said = async (rules: ToolRules, options: SandboxOptions = {}): Promise<string> =>
      (await run(command, rules, options)).content
    expect(await said({})).toBe('closed')
    expect(await said({ allow: ['network(npm ci)'] })).toBe('closed')
    expect(await said({ allow: [`network(=${command})`] })).toBe('hello')
    expect(await said({ allow: ['network'] })).toBe('hello')
    expect(await said({ allow: ['network'], deny: ['network'] })).toBe('closed')
    expect(await said({}, { network: 'all' })).toBe('hello')
    await new Promise((resolve) => server.close(resolve))
  })

  it('receives the variables that tools need, no secrets, and the variables that are named', async () => {
    const env = {
      PATH: process.env['PATH'],
      LANG: 'C',
      FLAG: 'on',
      SOME_TOKEN: 'canary',
      CARGO_HOME: '/c',
      OPENAI_API_KEY: 'canary',
    }
    const printed = async (environment: string[]): Promise<string> =>
      (await callerOf(builtinTools({ root, env, sandbox: { mode: 'required', environment } }))('run_command', { command: 'env' }))
        .content
    expect(await printed([])).toMatch(/CARGO_HOME=\/c/)
    expect(await printed([])).not.toMatch(/FLAG|canary/)
    expect(await printed(['FLAG'])).toContain('FLAG=on')
  })

  it('is limited in file size and memory', async () => {
    const limits = { fileSize: 1, memory: 256 }
    expect((await run('head -c 3000000 /dev/zero > big; wc -c < big', {}, { limits })).content).toMatch(/^1048576$/m)
    const hungry = `python3 -c 'x = bytearray(10**9); print(len(x))'`
    expect((await run(hungry, {}, { limits })).content).toContain('MemoryError')
  })
})

describe('without a sandbox', () => {
  const none = async (): Promise<never> => ({ kind: 'none', reason: 'it is a test', hint: 'Do nothing.' }) as never

  it('every command is refused in mode `required`; the other modes report that commands are not confined', async () => {
    await expect(new Sandbox(root, { mode: 'required' }, none).enter(['true'])).rejects.toThrow(
      'The command was not run: a sandbox is required, and it is a test.',
    )
    expect(await new Sandbox(root, {}, none).enter(['true', 'x'])).toMatchObject({ kind: 'none', program: 'true', words: ['x'] })
    expect(await new Sandbox(root, {}, none).confinement()).toEqual({ confined: false })
    file('conf/.env')
    expect(await new Sandbox(root, {}, none).confinement()).toEqual({ confined: false, exposed: 'conf/.env' })
  })

  it('git runs no program that a repository names', async () => {
    execFileSync('git', ['init', '-q', root])
    file('a.txt')
    execFileSync('git', ['-C', root, 'add', 'a.txt'])
    writeFileSync(join(root, '.gitattributes'), '* filter=evil diff=evil\n')
    writeFileSync(join(root, '.git/more'), '[filter "evil"]\n\tclean = touch canary; cat\n\trequired = true\n')
    const config = readFileSync(join(root, '.git/config'), 'utf8')
    const evil = `[include]\n\tpath = more\n[diff "evil"]\n\ttextconv = touch canary; cat\n[core]\n\tfsmonitor = touch canary\n\tpager = touch canary\n`
    writeFileSync(join(root, '.git/config'), config + evil)
    file('.git/hooks/post-checkout', '#!/bin/sh\ntouch canary\n')
    execFileSync('chmod', ['+x', join(root, '.git/hooks/post-checkout')])
    file('a.txt', 'changed\n')
    const call = callerOf(builtinTools({ root, sandbox: 'off' }))
    for (const command of ['git status --short', 'git diff', 'git log', 'git add a.txt', 'git checkout -q -b x']) {
      await call('run_command', { command })
    }
    expect(existsSync(join(root, 'canary'))).toBe(false)
  })
})

it.each([['on'], [{ mode: 'never' }], [{ network: 'some' }], [3]])('sandbox: %j is a mistake', (given) => {
  expect(() => sandboxOptions(given as never)).toThrow(/must be/)
})
