import { describe, expect, test } from 'vitest'
import type { QueryEvent } from '../core/event.ts'
import { Deeds } from './deeds.ts'
import { summary } from './deeds-view.ts'

/** `-` refused, `!` failed, else done: `edit_file a.ts -`. */
function deedsOf(...lines: readonly string[]): Deeds {
  const deeds = new Deeds()
  const common = { sessionId: 's', turnId: 't', step: 1, at: 0 }
  lines.forEach((line, index) => {
    const [name = '', what = '', outcome] = line.split(' ')
    const id = `c${index}`
    const input = name === 'run_command' ? { command: what } : { path: what }
    const events = [
      { type: 'tool_request', tool: { id, name, input } },
      ...(outcome === '-' ? [{ type: 'permission_decision', decisions: [{ id, granted: false, reason: 'No.' }] }] : []),
      { type: 'tool_result', result: { id, name, content: '', isError: outcome !== undefined, durationMs: 0 } },
    ]
    for (const event of events) deeds.add({ ...common, seq: 3 * index, ...event } as QueryEvent)
  })
  return deeds
}

describe('what held a task back', () => {
  test.each<[boolean, string[]]>([
    [false, []],
    [false, ['edit_file a.ts']],
    [true, ['edit_file a.ts -']],
    [true, ['read_file .env -']],
    [false, ['run_command sed -', 'edit_file a.ts']],
    [true, ['edit_file a.ts', 'run_command test -']],
    [true, ['edit_file a.ts -', 'read_file a.ts']],
    [true, ['edit_file a.ts -', 'run_command test !']],
    [false, ['run_command test', 'run_command test', 'run_command test -']],
    [true, ['run_command test', 'edit_file a.ts -', 'run_command test -']],
  ])('%s for %j', (held, lines) => {
    expect(deedsOf(...lines).wasHeldBack).toBe(held)
  })

  test('the summary names what was done, and a rule for what was refused where there is one', () => {
    const deeds = deedsOf(
      'edit_file a.ts',
      'edit_file a.ts',
      'run_command make !',
      'run_command make;rm -',
      "edit_file it's.ts -",
    )
    expect(summary(deeds)).toBe(
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
    expect(summary(deedsOf('read_file a.ts'))).toBe('')
  })

  test('what no rule helps with is decided in a chat, or not at all', () => {
    const refusedFor = (reason: string): string => {
      const deeds = deedsOf('run_command make')
      const [tool] = deeds.all
      const decision = { type: 'permission_decision', decisions: [{ id: 'c0', granted: false, reason }] }
      deeds.add({ sessionId: 'ses_1', turnId: 't', step: 1, at: 0, seq: 9, ...decision } as QueryEvent)
      expect(tool?.refused?.reason).toBe(reason)
      return summary(deeds)
    }
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

  test('names cannot command the terminal', () => {
    expect(summary(deedsOf('edit_file a\u001B[2J\u202E.ts'))).toBe('Changed:\n  a␛[2J<U+202E>.ts\n')
  })
})
