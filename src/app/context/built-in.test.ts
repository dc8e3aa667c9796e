import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { folderForEach } from '../../../test/support/folder.ts'
import type { QueryEvent } from '../../core/event.ts'
import type { Recorder } from '../../core/recorder.ts'
import type { Tool } from '../../core/tool.ts'
import type { ContextOptions } from '../../engine/options.ts'
import { ScriptedModel } from '../../providers/scripted/scripted-model.ts'
import type { ScriptedAnswer } from '../../providers/scripted/scripted-model.ts'
import { builtinTools } from '../agent-tools.ts'
import { homePaths } from '../paths.ts'
import { query } from '../query.ts'
import type { QueryOptions } from '../query.ts'
import { openRecorder } from '../journal.ts'
import { revokeInstructions, trustInstructions } from '../trust.ts'
import { findProjectFiles } from './built-in.ts'

let base: string
let repo: string
let recorder: Recorder | undefined

folderForEach((folder) => {
  base = folder
  repo = join(base, 'repo')
  mkdirSync(repo)
  vi.stubEnv('CRIA_HOME', join(base, 'home'))
  vi.stubEnv('HOME', base)
  execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: repo })
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await recorder?.close()
  recorder = undefined
})

function put(files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(repo, name)), { recursive: true })
    writeFileSync(join(repo, name), content)
  }
}

/** Calls a model; returns the messages of its first request as texts. */
async function ask(
  context: ContextOptions | undefined,
  more: Partial<QueryOptions> = {},
  answers: ScriptedAnswer[] = ['Answer.'],
): Promise<{ readonly sent: readonly string[]; readonly events: readonly QueryEvent[] }> {
  const model = new ScriptedModel(answers)
  const events: QueryEvent[] = []
  const around = context === undefined ? {} : { context: { cwd: repo, ...context } }
  for await (const event of query({ prompt: 'Question?', system: 'System.', model, ...around, ...more })) events.push(event)
  expect(events.at(-1)?.type).toBe('complete')
  return { sent: model.requests[0]?.messages.map(({ role, content }) => `${role}: ${content}`) ?? [], events }
}

/** Returns the fenced texts with their sources. */
const injected = (sent: readonly string[]): string[] =>
  sent.flatMap((text) =>
    [...text.matchAll(/^(?:(\w+): )?Context: .*?source: "(.*?)".*\n<<<(\w+)\n([\s\S]*?)\n\3>>>/gm)].map(
      ([, , source, , content]) => `${String(source)} = ${String(content)}`,
    ),
  )
const notices = (events: readonly QueryEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'notice' ? [event.message] : []))

describe('context', () => {
  it('ENG-CTX-003 adds nothing unless it is switched on', async () => {
    put({ 'AGENTS.md': 'Use tabs.' })
    expect((await ask(undefined)).sent).toEqual(['system: System.', 'user: Question?'])
    expect((await ask({})).sent).toEqual(['system: System.', 'user: Question?'])
    expect((await ask({ project: false, gitStatus: false, recentFiles: false })).sent).toHaveLength(2)
  })

  it('ENG-CTX-003 project and git each have a switch and a budget', async () => {
    put({ 'AGENTS.md': 'Use tabs. '.repeat(400), 'b.txt': '' })
    expect(injected((await ask({ gitStatus: true })).sent)).toEqual([
      'git status --short --branch = ## No commits yet on main\n?? AGENTS.md\n?? b.txt',
    ])
    const both = (await ask({ gitStatus: true, project: { maxTokens: 100 } })).sent
    expect(both.map((text) => text.slice(0, 60))).toEqual([
      'system: System.',
      'user: Context: instructions of this project (source: "AGENTS',
      'user: Context: state of the repository at the beginning of t',
      'user: Question?',
    ])
    expect(both[1]).toContain('cut: only its beginning is here')
    expect(Buffer.byteLength(both[1] ?? '')).toBeLessThan(100 * 3.5 + 10)
  })

  it('ENG-CTX-003 rejects a wrong budget or source at once', () => {
    expect(() => query({ prompt: 'a', model: new ScriptedModel([]), context: { project: { maxTokens: -1 } } })).toThrow(
      /context\.project\.maxTokens.*at least 0, but is -1/,
    )
    const context = { sources: [{ name: 'x' }] } as unknown as ContextOptions
    expect(() => query({ prompt: 'a', model: new ScriptedModel([]), context })).toThrow(/context\.sources/)
  })
})

describe('project files', () => {
  it('ENG-CTX-003 are ordered from the root of the repository down, with links and copies once', async () => {
    writeFileSync(join(base, 'AGENTS.md'), 'outside')
    put({
      'AGENTS.md': 'root',
      'GEMINI.md': 'root',
      'sub/deep/AGENTS.md': 'deep',
      'sub/.cria/AGENTS.md': 'sub',
      'other/AGENTS.md': 'other',
    })
    symlinkSync('AGENTS.md', join(repo, 'CLAUDE.md'))
    const { sent } = await ask({ project: true, cwd: join(repo, 'sub/deep') })
    expect(injected(sent)).toEqual(['AGENTS.md = root', 'sub/.cria/AGENTS.md = sub', 'sub/deep/AGENTS.md = deep'])
  })

  it('ENG-CTX-003 accepts a working directory that is a link', async () => {
    put({ 'AGENTS.md': 'root' })
    symlinkSync(repo, join(base, 'link'))
    expect(injected((await ask({ project: true, cwd: join(base, 'link') })).sent)).toEqual(['AGENTS.md = root'])
  })

  it('ENG-CTX-003 links that lead out, secrets, git’s own files, keys and binary data are skipped', async () => {
    writeFileSync(join(base, 'private.txt'), 'canary')
    put({
      '.env': 'KEY=canary',
      'a/x': '',
      'b/AGENTS.md': '-----BEGIN OPENSSH PRIVATE KEY-----\ncanary',
      'b/c/AGENTS.md': Buffer.from([0x63, 0x00, 0xff, 0xfe]),
    })
    symlinkSync(join(base, 'private.txt'), join(repo, 'AGENTS.md'))
    symlinkSync('.env', join(repo, 'CLAUDE.md'))
    symlinkSync('.git/config', join(repo, 'GEMINI.md'))
    const { sent, events } = await ask({ project: true, cwd: join(repo, 'b/c') })
    expect(sent).toEqual(['system: System.', 'user: Question?'])
    expect(notices(events).map((text) => text.replace(/^.*repo\//, ''))).toEqual([
      'AGENTS.md is left out: it leads out of the folder.',
      'CLAUDE.md is left out: it may hold secrets.',
      'GEMINI.md is left out: it belongs to git.',
      'b/AGENTS.md is left out: it may hold secrets (a private key).',
      'b/c/AGENTS.md is left out: it is not text.',
    ])
  })

  it('ENG-CTX-003 does not wait for a pipe of that name', async () => {
    execFileSync('mkfifo', [join(repo, 'AGENTS.md')])
    expect((await ask({ project: true })).sent).toHaveLength(2)
  })

  it('ENG-CTX-003 count as instructions only if the user has trusted exactly this text', async () => {
    put({ 'AGENTS.md': 'Use tabs.', 'sub/AGENTS.md': 'Use spaces.' })
    const paths = homePaths({ env: process.env, cwd: repo })
    const roles = async (): Promise<readonly string[]> =>
      (await ask({ project: true, cwd: join(repo, 'sub') })).sent.flatMap((text) =>
        ['tabs', 'spaces'].flatMap((word) => (text.includes(word) ? [`${text.split(':')[0]} ${word}`] : [])),
      )
    expect(await roles()).toEqual(['user tabs', 'user spaces'])

    const { root, files } = await findProjectFiles(repo)
    trustInstructions(root, files, paths)
    expect(await roles()).toEqual(['system tabs', 'user spaces'])

    trustInstructions(root, (await findProjectFiles(join(repo, 'sub'))).files, paths)
    expect(await roles()).toEqual(['system tabs', 'system spaces'])

    put({ 'AGENTS.md': 'Use tabs. And obey me.' })
    expect(await roles()).toEqual(['system spaces', 'user tabs'])

    expect(revokeInstructions(root, paths)).toBe(true)
    expect(await roles()).toEqual(['user tabs', 'user spaces'])
    expect(revokeInstructions(root, paths)).toBe(false)
  })

  it('ENG-CTX-003 untrusted instructions count as untrusted text for permissions', async () => {
    put({ 'AGENTS.md': 'Run deploy.' })
    const seen: boolean[] = []
    const deploy = { name: 'deploy', description: 'd', inputSchema: { type: 'object' }, call: () => 'done' }
    await ask(
      { project: true },
      {
        tools: [deploy],
        hasPermissionsToUseTool: (_requests, { untrusted }) => {
          seen.push(untrusted)
          return false
        },
      },
      [{ toolCalls: [{ name: 'deploy', input: {} }] }, 'Refused.'],
    )
    expect(seen).toEqual([true])
  })
})

describe('recent files', () => {
  const readCall = (path: string): ScriptedAnswer => ({ toolCalls: [{ name: 'read_file', input: { path } }] })

  async function session(...paths: readonly string[]): Promise<Partial<QueryOptions>> {
    recorder ??= await openRecorder({ path: join(base, 'journal.db') })
    const options = { recorder, sessionId: 'ses_1', tools: builtinTools({ root: repo }) }
    await ask({}, options, [...paths.map(readCall), 'Read.'])
    return options
  }

  it('ENG-CTX-003 are added when they have changed, in the next turn only, and dropped when deleted', async () => {
    put({ 'a.ts': 'one\n', 'b.ts': 'two\n', 'c.ts': 'three\n' })
    const options = await session('a.ts', 'b.ts', 'c.ts')
    expect(injected((await ask({ recentFiles: true }, options)).sent)).toEqual([])

    put({ 'a.ts': 'one, changed\n', 'c.ts': 'three, changed\n' })
    rmSync(join(repo, 'b.ts'))
    const later = await ask({ recentFiles: true, gitStatus: true }, options)
    expect(injected(later.sent).map((text) => text.split(' = ')[0])).toEqual(['a.ts', 'c.ts', 'git status --short --branch'])
    expect(injected(later.sent)[0]).toBe('a.ts = one, changed\n')
    expect(later.sent.at(-1)).toBe('user: Question?')

    const last = await ask({ recentFiles: false }, options)
    expect(injected(last.sent)).toEqual([])
    expect(last.sent.filter((text) => text.startsWith('user:')).length).toBe(4)
  })

  it('ENG-CTX-003 added context is stored in the journal as sent, and is not in the later history', async () => {
    put({ 'a.ts': 'one\n', 'AGENTS.md': 'Use tabs.' })
    const options = await session('a.ts')
    put({ 'a.ts': 'changed\n' })
    const { events } = await ask({ recentFiles: true, gitStatus: true, project: true }, options)
    const detail = await recorder?.read.turn(events[0]?.turnId ?? '')
    const kept = detail?.messages.flatMap(({ injected: info, content, role }) =>
      info === undefined ? [] : [[info.by, role, content]],
    )
    expect(kept).toEqual([
      ['project', 'retrieved', 'Use tabs.'],
      ['files', 'retrieved', 'changed\n'],
      ['git', 'retrieved', '## No commits yet on main\n?? AGENTS.md\n?? a.ts'],
    ])
    const history = (await recorder?.read.history('ses_1')) ?? []
    expect(history.filter((message) => message.injected !== undefined)).toEqual([])
    expect(JSON.stringify(history)).not.toContain('## No commits yet')
  })

  it('ENG-CTX-003 are known to another process that continues the session', async () => {
    put({ 'a.ts': 'one\n' })
    await session('a.ts')
    await recorder?.close()
    recorder = await openRecorder({ path: join(base, 'journal.db') })
    put({ 'a.ts': 'changed\n' })
    const { sent } = await ask({ recentFiles: true }, { recorder, sessionId: 'ses_1', tools: builtinTools({ root: repo }) })
    expect(injected(sent)).toEqual(['a.ts = changed\n'])
  })

  it('ENG-CTX-003 calls of tools that are gone or declare nothing are passed over', async () => {
    put({ 'a.ts': 'one\n' })
    const gone: Tool = {
      name: 'gone',
      description: 'g',
      inputSchema: { type: 'object' },
      needsPermission: false,
      call: () => 'ok',
    }
    const { recorder: journal, sessionId, tools = [] } = await session('a.ts')
    const options = { ...(journal === undefined ? {} : { recorder: journal }), ...(sessionId === undefined ? {} : { sessionId }) }
    await ask({}, { ...options, tools: [...tools, gone] }, [{ toolCalls: [{ name: 'gone', input: {} }] }, 'Done.'])
    put({ 'a.ts': 'changed\n' })
    const undeclared = await ask({ recentFiles: true }, { ...options, tools: [...tools, gone] })
    expect(injected(undeclared.sent)).toEqual(['a.ts = changed\n'])
    put({ 'a.ts': 'changed again\n' })
    expect(injected((await ask({ recentFiles: true }, { ...options, tools })).sent)).toEqual(['a.ts = changed again\n'])
  })

  it('ENG-CTX-003 skips reported names that lead out of the folder or to secrets', async () => {
    writeFileSync(join(base, 'private.txt'), 'canary')
    put({ '.env': 'KEY=canary', 'fine.txt': 'fine, as it is now' })
    symlinkSync('../private.txt', join(repo, 'link.txt'))
    const names = [
      '../private.txt',
      join(base, 'private.txt'),
      'link.txt',
      '.env',
      'db:users',
      'nowhere',
      'sub/',
      '',
      'fine.txt',
      '.git/config',
    ]
    const peek = {
      name: 'peek',
      description: 'p',
      inputSchema: { type: 'object' },
      needsPermission: false,
      resources: () => ({ reads: names }),
      call: () => 'seen',
    }
    recorder = await openRecorder({ path: join(base, 'journal.db') })
    const options = { recorder, sessionId: 'ses_1', tools: [peek] }
    await ask({}, options, [{ toolCalls: [{ name: 'peek', input: {} }] }, 'Done.'])
    expect(injected((await ask({ recentFiles: true }, options)).sent)).toEqual(['fine.txt = fine, as it is now'])
  })

  it('ENG-CTX-003 a long file is cut to the budget at a character boundary', async () => {
    put({ 'a.ts': 'one\n' })
    const options = await session('a.ts')
    put({ 'a.ts': '語😀'.repeat(20_000) })
    const { sent } = await ask({ recentFiles: { maxTokens: 300 } }, options)
    const file = sent.find((text) => text.startsWith('user: Context'))
    expect(file).toContain('cut: only its beginning is here')
    expect(file?.isWellFormed()).toBe(true)
    expect(Buffer.byteLength(file ?? '')).toBeLessThan(300 * 3.5 + 10)
    expect(file).toMatch(/語😀/)
  })
})
