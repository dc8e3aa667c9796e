import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { chatTerminal } from '../../test/support/chat-terminal.ts'
import { fakeIo } from '../../test/support/fake-io.ts'
import { builtinTools } from '../app/agent-tools.ts'
import { homePaths } from '../app/paths.ts'
import type { QueryEvent } from '../core/event.ts'
import type { Json } from '../core/json.ts'
import type { Tool, ToolResult } from '../core/tool.ts'
import { defineTool, query } from '../index.ts'
import { ScriptedModel } from '../testing.ts'
import { showTurn } from './answer-view.ts'
import { PlainFront } from './chat/plain-front.ts'
import { ScreenFront } from './chat/screen-front.ts'
import { foldedLine, outputLines, shownToolCalls, summary } from './tool-call-view.ts'
import { ToolCalls, wasHeldBack } from './tool-calls.ts'
import type { ToolCallRecord } from './tool-calls.ts'

const folder = mkdtempSync(join(tmpdir(), 'cria-tool-calls-'))
afterAll(() => rmSync(folder, { recursive: true }))
const TOOLS = builtinTools({ root: folder })
const COMMON = { sessionId: 'ses_1', turnId: 't', step: 1, seq: 0, at: 0 }

interface Call {
  readonly name?: string
  readonly input?: Json
  /** Why it was refused. */
  readonly refused?: string
  readonly result?: Partial<ToolResult>
}

/** Records calls, each from its request to its result. */
function recorded(...given: readonly Call[]): ToolCalls {
  const calls = new ToolCalls(() => TOOLS)
  for (const [index, { name = 'run_command', input = { command: 'ls' }, refused, result }] of given.entries()) {
    const id = `c${index}`
    const decision = { type: 'permission_decision', decisions: [{ id, granted: false, reason: refused }] }
    const ended = { id, name, content: '', isError: refused !== undefined, durationMs: 0, ...result }
    const events = [
      { type: 'tool_request', tool: { id, name, input } },
      ...(refused === undefined ? [] : [decision]),
      { type: 'tool_result', result: ended },
    ]
    for (const event of events) calls.add({ ...COMMON, ...event } as QueryEvent)
  }
  return calls
}

/** `-` refused, `!` failed, else done: `edit_file a.ts -`. */
function callsOf(...lines: readonly string[]): readonly ToolCallRecord[] {
  const given = lines.map((line) => {
    const [name = '', what = '', outcome] = line.split(' ')
    return {
      name,
      input: name === 'run_command' ? { command: what } : { path: what },
      ...(outcome === '-' ? { refused: 'No.' } : {}),
      result: { isError: outcome !== undefined },
    }
  })
  return recorded(...given).all
}

function lineOf(call: Call): string {
  const { last } = recorded(call)
  return last === undefined ? '' : foldedLine(last)
}

describe('a task that lacked permission', () => {
  test.each<[boolean, string[]]>([
    [false, []],
    [false, ['edit_file a.ts']],
    [true, ['edit_file a.ts -']],
    [true, ['read_file .env -']],
    [false, ['run_command sed -', 'edit_file a.ts']],
    [true, ['edit_file a.ts', 'run_command test -']],
    [true, ['edit_file a.ts -', 'read_file a.ts']],
    [true, ['edit_file a.ts -', 'todo x']],
    [false, ['edit_file a.ts -', 'mcp__notes__write a.ts']],
    [true, ['edit_file a.ts -', 'run_command test !']],
    [false, ['run_command test', 'run_command test', 'run_command test -']],
    [true, ['run_command test', 'edit_file a.ts -', 'run_command test -']],
  ])('%s for %j', (held, lines) => {
    expect(wasHeldBack(callsOf(...lines))).toBe(held)
  })

  test('the summary lists changes, commands and refusals, and the rules that would allow them', () => {
    const calls = callsOf(
      'edit_file a.ts',
      'edit_file a.ts',
      'run_command make !',
      'run_command make;rm -',
      "edit_file it's.ts -",
    )
    expect(summary(calls, 'ses_1')).toBe(
      [
        'Changed:',
        '  a.ts',
        'Ran:',
        '  make  (failed)',
        'Refused:',
        '  run_command make;rm: No.',
        "  edit_file it's.ts: No.",
        'To allow it:',
        String.raw`  --allow='edit_file(it'\''s.ts)'`,
        '',
      ].join('\n'),
    )
    expect(summary(callsOf('read_file a.ts'), 'ses_1')).toBe('')
  })

  test('the summary names a chat for an interrupted call, and no rule for a repeated one', () => {
    const refusedFor = (reason: string): string => summary(recorded({ input: { command: 'make' }, refused: reason }).all, 'ses_1')
    expect(refusedFor('The tool needs permission.')).toContain("--allow='run_command(make)'")
    const interrupted = refusedFor(
      'The same call was interrupted before, and its effects are unknown. No user is available to answer.',
    )
    expect(interrupted).toMatch(/To decide about the interrupted call:\n {2}cria chat --resume ses_1\n$/)
    expect(interrupted).not.toContain('--allow')
    expect(refusedFor('The same call was made three times in a row; the outcome will not change.')).not.toMatch(
      /--allow|--resume/,
    )
  })

  test('the summary makes control characters in names visible', () => {
    expect(summary(callsOf('edit_file a\u001B[2J\u202E.ts'), 'ses_1')).toBe('Changed:\n  a␛[2J<U+202E>.ts\n')
  })
})

describe('the line of a call that has ended', () => {
  test.each<[string, Call, string]>([
    [
      'counts the lines of its output',
      { result: { content: 'a\nb\n[exit code 0]', durationMs: 1234 } },
      '✓ run_command ls · 3 lines · 1.2 s · /show 1',
    ],
    ['counts blank lines', { result: { content: 'a\n\nb\n' } }, '✓ run_command ls · 3 lines · /show 1'],
    ['shows one line as it is', { result: { content: '\npassed\n' } }, '✓ run_command ls · passed · /show 1'],
    [
      'shows the last line of a command that failed',
      { result: { content: 'x\n[exit code 1]', isError: true, durationMs: 1234 } },
      '✗ run_command ls · [exit code 1] · 1.2 s · /show 1',
    ],
    [
      'appends the lines after a colon',
      {
        name: 'read_file',
        input: { path: 'a' },
        result: { content: 'Wrong arguments:\n  offset is missing\n  limit is not a number', isError: true },
      },
      '✗ read_file a · Wrong arguments: offset is missing limit is not a number · /show 1',
    ],
    [
      'has only the name of the tool for arguments that do not fit',
      { name: 'read_file', input: ['a'], result: { content: 'Wrong arguments', isError: true } },
      '✗ read_file · Wrong arguments · /show 1',
    ],
    [
      'leaves out the time that a person took to answer',
      { name: 'ask_user', input: { question: 'Which?' }, result: { content: 'ok', durationMs: 90_000 } },
      '✓ ask_user Which? · ok · /show 1',
    ],
    ['names the reason of a refusal', { refused: 'Not now.' }, '⊘ run_command ls · refused: Not now.'],
    [
      'makes control characters visible',
      { input: { command: 'a\nb\u001B[2J' }, result: { content: 'ok' } },
      '✓ run_command a␊b␛[2J · ok · /show 1',
    ],
    [
      'has the most telling argument of a tool without a title',
      { name: 'mcp__notes__find', input: { limit: 3, query: 'boats' }, result: { content: 'ok' } },
      '✓ mcp__notes__find boats · ok · /show 1',
    ],
  ])('%s', (_, call, line) => {
    expect(lineOf(call)).toBe(line)
  })
})

test('the first lines of the output of a command are shown below it', () => {
  const content = Array.from({ length: 8 }, (_, index) => (index === 1 ? '' : `line ${index}`)).join('\n')
  const shown = (call: Call): readonly string[] => recorded(call).all.flatMap(outputLines)
  expect(shown({ result: { content } })).toEqual(['line 0', '', 'line 2', 'line 3', 'line 4', '… 3 more lines'])
  expect(shown({ result: { content: 'one\n' } })).toEqual([])
  expect(shown({ name: 'read_file', input: { path: 'a' }, result: { content } })).toEqual([])
  expect(shown({ refused: 'no', result: { content } })).toEqual([])
})

test('a full collection drops its oldest calls and keeps their numbers', () => {
  const calls = new ToolCalls(() => TOOLS, 2)
  for (const id of ['a', 'b', 'c'])
    calls.add({ ...COMMON, type: 'tool_request', tool: { id, name: 'todo', input: { items: [] } } })
  expect([calls.find(1), calls.find(2)?.id, calls.last?.number]).toEqual([undefined, 'b', 3])
})

describe("a user's own tool", () => {
  const lookUp = defineTool({
    name: 'look_up',
    description: 'Looks up a tide.',
    inputSchema: { type: 'object', properties: { harbour: { type: 'string' } }, required: ['harbour'] },
    needsPermission: false,
    title: ({ harbour }) => `the tide of ${harbour}`,
    showsResult: true,
    call: () => 'High at 6.\nLow at 12.',
  })
  const tools = (): readonly Tool[] => [lookUp]
  const turn = (): AsyncIterable<QueryEvent> => {
    const toolCalls = [{ name: 'look_up', input: { harbour: 'Husum' } }]
    return query({ prompt: 'When?', model: new ScriptedModel([{ toolCalls }, 'At 6.']), tools: [lookUp] })
  }

  test('shows its title in cria run', async () => {
    const io = fakeIo()
    await showTurn(shownToolCalls(turn(), new ToolCalls(tools), { io, isText: true }), io, {
      format: 'text',
      showThinking: false,
    })
    expect([io.out(), io.err()]).toEqual(['At 6.\n', '> look_up the tide of Husum\n'])
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('no')
      },
    ],
    [
      'returns a promise that rejects',
      async () => {
        throw new Error('no')
      },
    ],
    ['returns null', () => null],
  ])('has no title and an unknown effect when what describes it %s', async (_, odd) => {
    const tool = { ...lookUp, title: odd, resources: odd, subjects: odd } as unknown as Tool
    const calls = new ToolCalls(() => [tool])
    calls.add({ ...COMMON, type: 'tool_request', tool: { id: 'c', name: 'look_up', input: { path: 'a.md' } } })
    // A rejection without a handler would fail the test.
    await setImmediate()
    expect(calls.last).toMatchObject({ title: undefined, effect: 'other' })
  })

  test('shows its title in a chat by lines', async () => {
    const io = fakeIo()
    const front = new PlainFront(io)
    expect(await front.follow(turn, new ToolCalls(tools))).toBe(0)
    await front.close()
    expect(io.err()).toContain('> look_up the tide of Husum\n')
  })

  test('shows its title, and its result, in a chat on the screen', async () => {
    const env = { CRIA_HOME: folder, TERM: 'xterm' }
    const { io, terminal } = chatTerminal({ cwd: folder, env })
    const completable = { commands: [], values: {}, cwd: folder }
    const front = new ScreenFront({ io, paths: homePaths({ env, cwd: folder }), completable })
    expect(await front.follow(turn, new ToolCalls(tools))).toBe(0)
    await front.close()
    await setImmediate()
    const text = stripVTControlCharacters(terminal.text)
    expect(text).toContain('✓ look_up the tide of Husum · 2 lines · /show 1\n  High at 6.\n  Low at 12.\n')
  })
})
