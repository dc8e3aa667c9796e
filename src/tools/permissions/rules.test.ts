/** Rules for tools, paths, addresses and plain arguments. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Tool, ToolSubject } from '../../core/tool.ts'
import { decide, nearMiss } from './decide.ts'
import { matchesArguments, matchesUrl } from '../../util/glob.ts'
import { readRules } from './rule-book.ts'
import { parseRule } from './rule.ts'
import type { ToolRules } from './rule.ts'
import { subjectsOf } from './subject.ts'

type Subjects = (input: { at: string }) => readonly ToolSubject[]

function tool(subjects?: Subjects): Tool<{ at: string }> {
  return { name: 'use', description: '', inputSchema: {}, ...(subjects === undefined ? {} : { subjects }), call: () => '' }
}

const onPath = tool(({ at }) => [{ kind: 'path', path: at }])
const onUrl = tool(({ at }) => [{ kind: 'url', url: at }])

async function verdict(used: Tool<{ at: string }>, input: unknown, rules: ToolRules): Promise<string | undefined> {
  const book = await readRules(rules)
  return decide(book.rules, used.name, await subjectsOf(used, input, book.root))?.verdict
}

describe('an allow rule that does not cover the call', () => {
  const onCommand = tool(({ at }) => [{ kind: 'command', command: at }])
  const missed = async (used: Tool<{ at: string }>, at: string, allow: readonly string[]): Promise<string | undefined> => {
    const { rules, root } = await readRules({ allow: [...allow], root: tmpdir() })
    const subjects = await subjectsOf(used, { at }, root)
    expect(decide(rules, used.name, subjects)?.verdict).not.toBe('allow')
    return nearMiss(rules, used.name, subjects)
  }

  it.each<[command: string, rule: string, named: string]>([
    ['node x.mjs', 'use(node *)', 'x.mjs'],
    ['git -c core.pager=evil log', 'use(git *)', '-c'],
    ['cat .env', 'use(cat *)', '.env'],
  ])('names the word of %s that the rule %s does not cover', async (command, rule, named) => {
    const why = await missed(onCommand, command, ['other', rule])
    expect(why).toContain(`The rule "${rule}" does not cover it`)
    expect(why).toContain(named)
  })

  it('explains that a rule has to name a file with secrets', async () => {
    const onSecret = tool(({ at }) => [{ kind: 'path', path: at, sensitive: true }])
    for (const rule of ['use', 'use(**)']) expect(await missed(onSecret, '.env', [rule])).toMatch(/has to name such a file/)
  })

  it('does not mention unrelated rules', async () => {
    for (const rule of ['use(npm *)', 'use(node y.mjs)', 'other(node *)']) {
      expect(await missed(onCommand, 'node x.mjs', [rule])).toBeUndefined()
    }
    expect(await missed(onPath, 'a.txt', ['use(b*)'])).toBeUndefined()
  })
})

describe('rules', () => {
  it('consist of a tool name and, in parentheses, a pattern for its subject', () => {
    expect(parseRule(' shell ( x ) '.replaceAll(' (', '('), 'allow')).toEqual({
      list: 'allow',
      text: 'shell( x )',
      tool: 'shell',
      pattern: 'x',
    })
    expect(parseRule('mcp__*', 'deny')).toMatchObject({ tool: 'mcp__*', pattern: undefined })
    expect(parseRule('shell(echo (a))', 'deny')).toMatchObject({ pattern: 'echo (a)' })
    for (const bad of ['', '()', 'shell(', 'shell()', 'shell( )', 'a b', 'shell(x) y', 1 as never, null as never]) {
      expect(() => parseRule(bad, 'allow')).toThrow(/is not a rule/)
    }
  })

  it.each([
    ['shell(', '"shell" for all of its calls, or in parentheses what it may act on: "shell(…)"'],
    ['shell( )', '"shell" for all of its calls, or in parentheses what it may act on: "shell(…)"'],
    ['shell#12345678(', '"shell#12345678" for all of its calls'],
    ['shell(rm *', '"shell(rm *)"'],
    ['shell (rm *)', '"shell(rm *)"'],
    ['mcp__a__*(x', '"mcp__a__*(x)"'],
    ['a b', 'the name of a tool, and in parentheses what it may act on: "shell(git status)"'],
    ['', 'the name of a tool'],
  ])('ENG-TOOL-002 the error for %j, which is not a rule, suggests the right spelling', (text, spelling) => {
    expect(() => parseRule(text, 'deny')).toThrow(`\`rules.deny\`: ${JSON.stringify(text)} is not a rule. Write ${spelling}`)
  })

  it('without a pattern match every call of the tool', async () => {
    expect(await verdict(tool(), {}, { allow: ['use'] })).toBe('allow')
    expect(await verdict(tool(), {}, { allow: ['us*'] })).toBe('allow')
    expect(await verdict(tool(), {}, { allow: ['user', 'us', 'se'] })).toBeUndefined()
    expect(await verdict(tool(), {}, { allow: ['use'], ask: ['*'] })).toBe('ask')
    expect(await verdict(tool(), {}, { allow: ['use'], ask: ['use'], deny: ['u*e'] })).toBe('deny')
  })

  it('compare arguments by name when the tool does not declare its subjects', async () => {
    const rules: ToolRules = { allow: ['use(env=staging, region=eu-*)'], deny: ['use(env=prod*)'] }
    expect(await verdict(tool(), { env: 'staging', region: 'eu-1' }, rules)).toBe('allow')
    expect(await verdict(tool(), { env: 'staging', region: 'us-1' }, rules)).toBeUndefined()
    expect(await verdict(tool(), { env: 'staging' }, rules)).toBeUndefined()
    expect(await verdict(tool(), { env: 'production' }, rules)).toBe('deny')
    expect(await verdict(tool(), { env: 'x' }, { deny: ['use(something else)'] })).toBe('ask')
    expect(await verdict(tool(), { env: 'x' }, { allow: ['use(something else)'] })).toBeUndefined()
    expect(matchesArguments('n=1', { n: 1 })).toBe(true)
    expect(matchesArguments('n=*', { n: { deep: 1 } })).toBe(false)
    expect(matchesArguments('constructor=*', {})).toBe(false)
  })

  it.each<[pattern: string, url: string, matches: boolean | undefined]>([
    ['https://example.org/*', 'https://example.org/a/b?c=d', true],
    ['https://example.org/docs/*', 'https://example.org/docs/../secret', false],
    ['https://example.org/docs/*', 'https://example.org/docs/%2e%2e/secret', false],
    ['https://example.org', 'https://example.org/anything', true],
    ['https://example.org', 'http://example.org/', false],
    ['example.org', 'http://EXAMPLE.org/', true],
    ['example.org', 'http://example.org./', true],
    ['example.org', 'http://example.org.evil.example/', false],
    ['example.org', 'http://evil-example.org/', false],
    ['*.example.org', 'https://a.example.org/', true],
    ['*.example.org', 'https://example.org/', false],
    ['127.0.0.1', 'http://2130706433/', true],
    ['127.0.0.1', 'http://0x7f.1/', true],
    ['example.org:8080', 'http://example.org:8080/', true],
    ['example.org:8080', 'http://example.org/', false],
    ['ftp://example.org', 'http://example.org/', undefined],
  ])('URL pattern %s and %s: %s', (pattern, url, matches) => {
    expect(matchesUrl(pattern, new URL(url))).toBe(matches)
  })

  it('never cover an ambiguous URL', async () => {
    for (const at of [
      'file:///etc/passwd',
      'javascript:x',
      'https://user@example.org/',
      'https://u:p@example.org',
      'example.org',
      '',
    ]) {
      expect([at, await verdict(onUrl, { at }, { allow: ['use(*)', 'use(example.org)'] })]).toEqual([at, 'ask'])
    }
  })

  it('never cover subjects that a tool cannot name', async () => {
    const failing = tool(() => {
      throw new Error('no')
    })
    const strange = tool(() => [{ kind: 'soul', soul: 'x' } as never])
    const broken = tool(() => [{ kind: 'command' } as never, null as never])
    const silent = tool(() => [])
    for (const each of [failing, strange, broken]) expect(await verdict(each, { at: '' }, { allow: ['use(*)'] })).toBe('ask')
    expect(await verdict(silent, { at: '' }, { allow: ['use(*)'] })).toBeUndefined()
    expect(await verdict(failing, { at: '' }, { allow: ['use'] })).toBe('allow')
  })
})

describe('rules for paths', () => {
  let root = ''
  let linked = ''
  const outside = mkdtempSync(join(tmpdir(), 'cria-rules-outside-'))

  beforeAll(() => {
    const base = mkdtempSync(join(tmpdir(), 'cria-rules-'))
    root = join(base, 'root')
    linked = join(base, 'link-to-root')
    mkdirSync(join(root, 'src', 'deep'), { recursive: true })
    writeFileSync(join(root, 'src', 'a.ts'), '')
    writeFileSync(join(root, 'src', 'secret.env'), '')
    writeFileSync(join(outside, 'passwd'), '')
    symlinkSync(root, linked)
    symlinkSync(outside, join(root, 'src', 'out'))
    symlinkSync(join(outside, 'passwd'), join(root, 'src', 'passwd'))
    symlinkSync(join(outside, 'not-yet'), join(root, 'src', 'dangling'))
    symlinkSync('a.ts', join(root, 'src', 'inside.ts'))
    symlinkSync('secret.env', join(root, 'src', 'harmless.txt'))
    symlinkSync('loop-b', join(root, 'src', 'loop-a'))
    symlinkSync('loop-a', join(root, 'src', 'loop-b'))
  })
  afterAll(() => {
    rmSync(join(root, '..'), { recursive: true })
    rmSync(outside, { recursive: true })
  })

  const judged = (at: string, rules: ToolRules, from: string = root): Promise<string | undefined> =>
    verdict(onPath, { at }, { ...rules, root: from })

  it('apply to the real path', async () => {
    const rules: ToolRules = { allow: ['use(src/**)'] }
    for (const at of [
      'src/a.ts',
      'src/new.ts',
      'src/deep/new/x.ts',
      './src/a.ts',
      'src/deep/../a.ts',
      'src',
      'src/inside.ts',
      'src//a.ts',
    ]) {
      expect([at, await judged(at, rules)]).toEqual([at, 'allow'])
    }
    expect(await judged(join(root, 'src/a.ts'), rules)).toBe('allow')
    expect(await judged(join(realpathSync(root), 'src/a.ts'), rules)).toBe('allow')
    expect(await judged(`src/${'deep/../'.repeat(50)}a.ts`, rules)).toBe('allow')
  })

  it('work when the root is a link', async () => {
    const rules: ToolRules = { allow: ['use(src/**)'] }
    expect(await judged('src/a.ts', rules, linked)).toBe('allow')
    expect(await judged(join(linked, 'src/a.ts'), rules, linked)).toBe('allow')
    expect(await judged(join(root, 'src/a.ts'), rules, linked)).toBe('allow')
    expect(await judged('src/a.ts', { allow: [`use(${linked}/src/*)`] }, linked)).toBe('allow')
  })

  it.each([
    '../x',
    'src/../../x',
    'src/../x',
    '/etc/passwd',
    '..',
    '/',
    'srcx/a.ts',
    'Src/a.ts',
    'src/out/passwd',
    'src/out/new',
    'src/out',
    'src/passwd',
    'src/dangling',
    'src/out/../a.ts',
    'src/loop-a',
    'src/loop-a/x',
    '~/src/a.ts',
    '~root/x',
    'file:///etc/passwd',
    'file:src/a.ts',
    'C:\\src\\a.ts',
    '\\\\server\\share',
    'src\\..\\..\\x',
    'src/%2e%2e/%2e%2e/etc/passwd',
    'src/..%2f..%2fetc',
    'src/a.ts\u0000.png',
    'src/a.ts\n',
    'src/\u202eats',
    'src/...',
    'src/..../x',
    '',
  ])('do not cover %j', async (at) => {
    expect(await judged(at, { allow: ['use(src/**)'] })).not.toBe('allow')
  })

  it('deny a path under every name', async () => {
    const rules: ToolRules = { allow: ['use'], deny: ['use(**/*.env)', `use(${outside}/**)`] }
    for (const at of [
      'src/secret.env',
      'src/harmless.txt',
      'src/new.env',
      'src/out/passwd',
      'src/passwd',
      'src/dangling',
      join(outside, 'x'),
    ]) {
      expect([at, await judged(at, rules)]).toEqual([at, 'deny'])
    }
    expect(await judged('src/a.ts', rules)).toBe('allow')
    expect(await judged('src/loop-a', rules)).toBe('ask')
    expect(await judged(join(root, 'src/a.ts'), { deny: [`use(${linked}/src/**)`] })).toBe('deny')
  })

  it('expand the home folder', async () => {
    expect(await judged(join(homedir(), 'x.txt'), { allow: ['use(~/*.txt)'] })).toBe(
      realpathSync(homedir()) === homedir() ? 'allow' : undefined,
    )
  })
})
