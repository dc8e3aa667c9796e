import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { callerOf } from '../../../test/support/tool-call.ts'
import type { Called } from '../../../test/support/tool-call.ts'
import { findSandbox } from '../sandbox/system-sandbox.ts'
import { objectReturned, returnObjectTool, runCodeTool } from './run-code.ts'
import type { RunCodeOptions } from './run-code.ts'

const confined = (await findSandbox()).kind !== 'none'

const run = (code: string, options: RunCodeOptions = { sandbox: 'off' }, more: object = {}): Promise<Called> =>
  callerOf([runCodeTool(options)])('run_code', { code, ...more })

describe.each([
  ['without a sandbox', 'off' as const],
  ['with the sandbox of the system', 'auto' as const],
])('run_code, JavaScript, %s', (_title, sandbox) => {
  it('returns the value and the console output', async () => {
    const code = `const sum = [1, 2, 3].reduce((a, b) => a + b)\nconsole.log('sum', { sum })\nreturn await Promise.resolve({ sum, text: 'ä' })`
    expect(await run(code, { sandbox })).toMatchObject({ isError: false, content: 'sum {"sum":6}\n{"sum":6,"text":"ä"}' })
    expect((await run('1 + 1', { sandbox })).content).toBe('(no value)')
  })

  it.each([
    ['a file', `const fs = process.getBuiltinModule('fs'); return fs.readFileSync('/etc/hostname', 'utf8')`],
    ['the environment', `return process.env`],
    ['require', `return require('node:fs')`],
    ['the network', `return fetch('http://127.0.0.1/')`],
    ['an import', `return await import('node:fs')`],
    ['an import after a comment', `return await import/* */('node:fs')`],
    ['an import after an HTML comment', `return await import<!-- x\n('node:fs')`],
    ['an import after the end of an HTML comment', `return await import\n--> x\n('node:fs')`],
    ['meta data', `return import.meta.url`],
    ['compiled text', `return new Function('return 1')()`],
    ['compiled text of a constructor', `return this.constructor.constructor('return process')()`],
    ['compiled text of an async function', `return (async () => {}).constructor('return process')()`],
    ['eval', `return (0, eval)('1 + 1')`],
    ['WebAssembly', `return new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])) instanceof Object`],
    [
      'a frame outside',
      `Error.prepareStackTrace = (_, sites) => sites.map((site) => site.getThis() ?? site.getFunction())
      const outside = new Error('x').stack.filter((one) => one !== undefined && one !== globalThis && typeof one === 'object')
      if (outside.length > 0) return 'outside'
      throw new Error('nothing')`,
    ],
    [
      'what broke on a full stack',
      `let seen; const deep = () => { try { deep() } catch (error) { seen = error } }; deep()
      return seen.constructor.constructor('return process')().pid`,
    ],
    [
      'prototypes of outside on a full stack',
      `let seen
      const deep = () => { try { new Error('x').stack; deep() } catch (error) { seen = error } }; deep()
      const outside = Object.getPrototypeOf(Object.getPrototypeOf(Object.getPrototypeOf(seen)))
      if (outside === Object.prototype) throw new Error('nothing of outside')
      Object.defineProperty(outside, 'changed', { value: 1 })`,
    ],
  ])('does not reach %s', async (_what, code) => {
    const { content, isError } = await run(code, { sandbox })
    expect({ content, isError }).toMatchObject({ isError: true, content: expect.not.stringMatching(/root:|outside/) as string })
  })
})

describe('run_code', () => {
  it.each([
    ['throw new TypeError("No such fruit.")', 'TypeError: No such fruit. (line 1)'],
    ['const a = 1\nreturn a.b.c', "TypeError: Cannot read properties of undefined (reading 'c') (line 2)"],
    ['return {', 'SyntaxError: '],
    ['return 1n', 'TypeError: Do not know how to serialize a BigInt'],
    ['await new Promise(() => {})', 'The code waits for something that never comes.'],
    ['throw null', 'Error: null'],
    ['Array.prototype.push = null; console.log(1)', 'TypeError: '],
    ["console.log(1); JSON.stringify = null; Array.prototype.join = () => ({}); throw new Error('mine')", 'Error: mine'],
  ])('reports the error of %j', async (code, message) => {
    const { content, isError } = await run(code)
    expect(isError).toBe(true)
    expect(content).toContain(message)
  })

  it('stops code that takes too long, uses too much memory or writes too much', async () => {
    expect((await run('for (;;);', { sandbox: 'off', timeout: 300 })).content).toBe('It did not end within 0.3 s.')
    const hungry = 'const all = []; for (;;) all.push(new Uint8Array(50_000_000).fill(1))'
    expect(await run(hungry, { sandbox: 'off', memory: 100 })).toMatchObject({ isError: true })
    const heap = 'const all = []; for (;;) all.push({ a: new Array(1000).fill(all.length) })'
    expect((await run(heap, { sandbox: 'off', memory: 64 })).content).toMatch(
      /^Its process ended early .* more than 64 MB of memory\.$/,
    )
    expect((await run(`for (let n = 0; n < 1e6; n++) console.log('x'.repeat(100))\nreturn 1`)).content.length).toBeLessThan(
      210_000,
    )
  })

  it('ends with the turn, and leaves no files or processes', async () => {
    const started = performance.now()
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith('cria-code-')).length
    const stop = new AbortController()
    const running = callerOf([runCodeTool({ sandbox: 'off' })])('run_code', { code: 'for (;;);' }, { signal: stop.signal })
    stop.abort(new Error('enough'))
    expect(await running).toMatchObject({ isError: true, content: 'enough' })
    expect(performance.now() - started).toBeLessThan(5000)
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('cria-code-')).length).toBeLessThanOrEqual(before)
  })

  it('returns an object to the user as a whole', async () => {
    const tool = runCodeTool({ sandbox: 'off' })
    const back = returnObjectTool()
    const call = callerOf([tool, back])
    const code = 'return Array.from({ length: 20_000 }, (_, n) => ({ n }))'
    expect((await call('run_code', { code, returnToUser: true })).content).toMatch(
      /^\(returned to the user: [\d,]+ characters of JSON\)$/,
    )
    const { object } = objectReturned([tool, back], 'turn')
    expect(object).toHaveLength(20_000)
    expect(objectReturned([tool], 'other')).toEqual({})
    await call('return_object_to_user', { value: { fruits: 3 } })
    expect(objectReturned([tool, back], 'turn')).toEqual({ object: { fruits: 3 } })
  })

  it('needs permission for Python, but not for JavaScript', () => {
    const { needsPermission } = runCodeTool({ python: true })
    expect(
      typeof needsPermission === 'function' && [needsPermission({ code: '', language: 'python' }), needsPermission({ code: '' })],
    ).toEqual([true, false])
  })

  it('does not run Python without a sandbox', async () => {
    const { content, isError } = await run('result = 1', { python: true, sandbox: 'off' }, { language: 'python' })
    expect([content, isError]).toEqual(['Python was not run: the operating system confines nothing here. Use JavaScript.', true])
  })

  it.runIf(confined)('runs Python inside the sandbox', async () => {
    const python = (code: string): Promise<Called> => run(code, { python: true }, { language: 'python' })
    expect(await python('print("hi")\nresult = {"sum": sum(range(4))}')).toMatchObject({
      isError: false,
      content: 'hi\n{"sum": 6}',
    })
    expect(await python('result = 1 / 0')).toMatchObject({
      isError: true,
      content: expect.stringContaining('ZeroDivisionError') as string,
    })
    const online = 'import socket\nsocket.create_connection(("127.0.0.1", 9), 1)'
    expect(await python(online)).toMatchObject({ isError: true })
  })
})
