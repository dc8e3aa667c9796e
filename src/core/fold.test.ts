import { describe, expect, it } from 'vitest'
import type { EventBody } from './event.ts'
import { foldEvents } from './fold.ts'
import { assistant } from './message.ts'

type Shown = EventBody & { readonly step: number }
const text = (step: number, delta: string, attempt = 1): Shown => ({ type: 'text_delta', text: delta, attempt, step })

describe('foldEvents', () => {
  it('ENG-STREAM-001 joins the deltas of the last step', () => {
    expect(foldEvents([text(1, 'first'), text(2, 'se'), text(2, 'cond')]).text).toBe('second')
  })

  it('ENG-STREAM-001 drops the text that a reset takes back', () => {
    const events = [
      text(1, 'wrong'),
      { type: 'thinking' as const, content: 'hm', attempt: 1, step: 1 },
      { type: 'reset' as const, attempt: 1, step: 1 },
      text(1, 'right', 2),
    ]
    expect(foldEvents(events)).toMatchObject({ text: 'right', message: { content: 'right', parts: [{ type: 'text' }] } })
  })

  it('ENG-STREAM-001 prefers the assembled message, and builds one from deltas if there is none', () => {
    const message = assistant('whole')
    expect(foldEvents([text(1, 'who'), { type: 'message', message, step: 1 }]).message).toBe(message)
    expect(foldEvents([{ type: 'thinking', content: 'hm', attempt: 1, step: 1 }, text(1, 'part')]).message).toMatchObject({
      role: 'assistant',
      content: 'part',
      parts: [
        { type: 'thinking', text: 'hm' },
        { type: 'text', text: 'part' },
      ],
    })
    expect(foldEvents([])).toEqual({ message: undefined, text: '', toolResults: [], result: undefined })
  })

  it.each([undefined, null, 5, {}, (async function* () {})()])('refuses a value that is not a list of events: %s', (given) => {
    expect(() => foldEvents(given as never)).toThrow(expect.objectContaining({ code: 'configuration' }) as Error)
  })
})
