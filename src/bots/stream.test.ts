/** Streamed answers as readers and terminals see them, including attempts that break off. */

import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { tool } from '../../test/calls.ts'
import { Page } from '../../test/support/page.ts'
import { VirtualTerminal } from '../../test/support/virtual-terminal.ts'
import { openRecorder } from '../app/journal.ts'
import { CriaError } from '../core/error.ts'
import { query } from '../app/query.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import type { ScriptedAnswer } from '../providers/scripted/scripted-model.ts'
import { AgentBot, AsyncToolBot } from './tool-bots.ts'
import { SimpleBot } from './simple-bot.ts'
import type { StreamOptions } from './simple-bot.ts'
import { StructuredBot } from './structured-bot.ts'

const ESC = '\u001B'

const down = (after: number): { after: number; error: CriaError } => ({ after, error: new CriaError('network', 'Down.') })
/** An attempt that breaks off after its text, and one that succeeds. */
const twice = (lost: string, answer: string): readonly ScriptedAnswer[] => [{ text: lost, fail: down(1) }, answer]
const options = { recorder: false, retry: { initialDelay: 0 } } as const

/** A terminal of `columns` × `rows` that a bot writes to. */
function terminal(columns = 40, rows = 10): { screen: VirtualTerminal; output: Writable } {
  const screen = new VirtualTerminal(columns, rows)
  const output = new Writable({ decodeStrings: false, write: (text: string, _, done) => (screen.write(text), done()) })
  return { screen, output: Object.assign(output, { isTTY: true, columns, rows }) }
}

describe('an attempt that breaks off after its first token', () => {
  it('CORE-SIMPLE-005 is struck out on a terminal, and the answer is written again', async () => {
    const { screen, output } = terminal(20)
    const lost = 'Wrong words that take more than one row,\nand 中文 more.'
    const bot = new SimpleBot({ ...options, model: new ScriptedModel(twice(lost, 'Right.')), output })
    expect((await bot.ask('Hi')).content).toBe('Right.')
    expect(screen.text).toBe(`${lost}\nRight.`)
    const struck = screen.drawn.flat().filter(({ style }) => style.includes(9))
    expect(struck.map(({ text }) => text).join('')).toBe(lost.replace('\n', ''))
    expect(screen.drawn.at(-2)).toEqual([{ text: 'Right.', style: [] }])
    expect(screen.strange).toEqual([])
  })

  it('CORE-SIMPLE-005 is struck out as far as it is on the screen; the text of an earlier step stays', async () => {
    const { screen, output } = terminal(20, 5)
    const lost = Array.from({ length: 9 }, (_, at) => `line ${at}`).join('\n')
    const model = new ScriptedModel([
      { text: 'First. ', toolCalls: [{ name: 'look', input: {} }] },
      { text: 'Hm', fail: down(1) },
      { text: lost, fail: down(1) },
      'Right.',
    ])
    const bot = new AgentBot({ ...options, model, tools: [tool('look', () => 'ok')], output })
    await bot.ask('Hi')
    expect(screen.drawn[0]?.map(({ text, style }) => [text, style])).toEqual([
      ['First. ', []],
      ['Hm', [9]],
    ])
    const struck = screen.drawn.flatMap(([piece]) => (piece?.style.includes(9) === true ? [piece.text] : []))
    expect(struck).toEqual(['line 5', 'line 6', 'line 7', 'line 8'])
    expect(screen.text.split('\n').at(-1)).toBe('Right.')
  })

  it('CORE-SIMPLE-005 is followed in a pipe by a line that says so', async () => {
    const output = new Page()
    const bot = new SimpleBot({ ...options, model: new ScriptedModel(twice('Wrong', 'Right.')), output })
    await bot.ask('Hi')
    expect(output.text).toBe('Wrong\n[The answer broke off here. It starts again:]\nRight.\n')
    const panel = new Page()
    await new SimpleBot({
      ...options,
      model: new ScriptedModel(twice('Wrong\n', 'Right.')),
      output: panel,
      streamTarget: 'panel',
    }).ask('Hi')
    expect(panel.text).toBe('Wrong\n[The answer broke off here. It starts again:]\nRight.\n')
  })

  it('CORE-SIMPLE-030 ends a stream, unless its reader can discard text or waits for the successful attempt', async () => {
    const read = async (given: StreamOptions): Promise<unknown> => {
      const deltas: string[] = []
      const model = new ScriptedModel(twice('Wrong', 'Right.'))
      const onReset = 'onReset' in given ? { onReset: () => void deltas.push('<reset>') } : {}
      try {
        for await (const delta of new SimpleBot({ ...options, model }).stream('Hi', { ...given, ...onReset })) deltas.push(delta)
      } catch (error) {
        return [deltas, (error as CriaError).code, model.requests.length]
      }
      return deltas
    }
    expect(await read({})).toEqual([['Wrong'], 'network', 1])
    expect(await read({ recover: 'before-first-token' })).toEqual([['Wrong'], 'network', 1])
    expect(await read({ onReset: () => {} })).toEqual(['Wrong', '<reset>', 'Right.'])
    expect(await read({ recover: 'replay' })).toEqual(['Right.'])
  })

  it('CORE-SIMPLE-030 every stream recovers from a failure before the first token', async () => {
    const model = new ScriptedModel([{ fail: down(0) }, 'Right.'])
    expect(await Array.fromAsync(new SimpleBot({ ...options, model }).stream('Hi'))).toEqual(['Right.'])
  })

  it('CORE-SIMPLE-030 refuses wrong options of a stream at once', () => {
    const bot = new SimpleBot({ ...options, model: new ScriptedModel([]) })
    expect(() => bot.stream('Hi', { recover: 'never' as 'replay' })).toThrow(/recover.*before-first-token, replay/)
    expect(() => bot.stream('Hi', { recover: 'replay', onReset: () => {} })).toThrow(/exclude each other/)
    expect(() => bot.stream('Hi', { onReset: true as never })).toThrow(/onReset.*function/)
    expect(() => bot.stream('Hi', { signal: {} as AbortSignal })).toThrow(/AbortSignal/)
  })
})

describe('a terminal', () => {
  it('CORE-SIMPLE-005 ignores control sequences from a model', async () => {
    for (const streamTarget of ['stdout', 'panel'] as const) {
      const { screen, output } = terminal()
      const evil = `${ESC}[2J${ESC}]0;title\u0007\u009B31mred\r`
      await new SimpleBot({ ...options, model: new ScriptedModel([evil]), output, streamTarget }).ask('Hi')
      expect(screen.strange).toEqual([])
      expect(screen.text).toContain('␛[2J␛]0;title␇<U+009B>31mred')
    }
  })

  it('CORE-SIMPLE-005 measures the text of a panel in cells', async () => {
    const { screen, output } = terminal(26)
    const text = '中文和日本語の文章は幅が二倍です。 and some words\ttoo'
    await new SimpleBot({ ...options, model: new ScriptedModel([text]), output, streamTarget: 'panel' }).ask('Hi')
    const box = screen.screen.split('\n')
    expect(box.map((line) => line.at(0)).join('')).toBe('╭│││╰')
    expect(box.map((line) => line.at(-1)).join('')).toBe('╮│││╯')
    expect(box.slice(1, -1).map((line) => line.slice(2, -2).trimEnd())).toEqual([
      '中文和日本語の文章は幅',
      'が二倍です。 and some',
      'words    too',
    ])
  })
})

describe('a reader that leaves before the first token', () => {
  const hanging = (): ScriptedModel => new ScriptedModel(() => ({ text: 'Never.', hang: { after: 0 } }))

  it('CORE-SIMPLE-030 cancels the turn of every bot, and its next() is done', async () => {
    const recorder = await openRecorder(':memory:')
    const schema = { type: 'object', properties: {} } as const
    const model = hanging()
    const streams: readonly AsyncGenerator[] = [
      new SimpleBot({ model, recorder }).stream('a'),
      new SimpleBot({ model, recorder }).events('b'),
      new StructuredBot({ model, recorder, schema }).streamObjects('c'),
      new StructuredBot({ model, recorder, schema }).stream('d'),
      new AsyncToolBot({ model, recorder, tools: [tool('look', () => 'ok')] }).streamAsync('e'),
      query({ model, recorder, prompt: 'f' }),
    ]
    for (const [at, stream] of streams.entries()) {
      if (at === 1 || at === 5) await stream.next()
      const waiting = stream.next()
      await expect.poll(() => model.requests.length).toBe(at + 1)
      await stream.return(undefined)
      await waiting
      expect(model.open).toBe(0)
      expect(await stream.next()).toEqual({ done: true, value: undefined })
    }
    const { turns } = await recorder.read.turns()
    expect(turns.map(({ question, status }) => [question, status])).toEqual(
      ['f', 'e', 'd', 'c', 'b', 'a'].map((question) => [question, 'cancelled']),
    )
    await recorder.close()
  })
})
