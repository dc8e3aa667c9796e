import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ThinkTags } from './think-tags.ts'

function split(deltas: readonly string[], isFinished = false): { text: string; thinking: string; kinds: string } {
  const tags = new ThinkTags()
  const pieces = [...deltas.flatMap((delta) => tags.push(delta)), ...tags.end(isFinished)]
  const of = (kind: 'text' | 'thinking'): string => pieces.map((piece) => (piece.type === kind ? piece.text : '')).join('')
  const kinds = pieces.map(({ type }) => type).filter((type, at, all) => type !== all[at - 1])
  return { text: of('text'), thinking: of('thinking'), kinds: kinds.join(' ') }
}

describe('think tags', () => {
  it.each([
    ['<think>\nhm\n</think>\n\nSo.', 'hm\n', 'So.'],
    ['  <think>hm</think>So. <think>this stays</think>', 'hm', 'So. <think>this stays</think>'],
    ['<think></think>So.', '', 'So.'],
    ['So <think>no</think>', '', 'So <think>no</think>'],
    ['<thinking>is another word', '', '<thinking>is another word'],
    ['<think>never closed', 'never closed', ''],
    ['<thi', '', '<thi'],
    ['', '', ''],
  ])('split %j', (whole, thinking, text) => {
    for (const deltas of [[whole], [...whole], whole.split(/(?=[<>])/)]) {
      expect(split(deltas)).toMatchObject({ thinking, text })
    }
  })

  it('are found wherever the stream is cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('<', 'think', '>', '</think>', '<think>', 'a', '\n', ' '), { maxLength: 20 }),
        fc.boolean(),
        (deltas, isFinished) => {
          const whole = split([deltas.join('')], isFinished)
          const cut = split([...deltas.join('')], isFinished)
          expect([cut.text, cut.thinking]).toEqual([whole.text, whole.thinking])
        },
      ),
    )
  })

  it('end thinking before the text begins', () => {
    expect(split(['<think>', 'hm', '</think>', '\n\n', 'So.']).kinds).toBe('thinking thinking-end text')
  })

  it('repeat an unclosed block as text if the model finished, not if it was cut', () => {
    expect(split(['<think>It is', ' 4.</th'], true)).toMatchObject({ text: 'It is 4.</th', thinking: 'It is 4.</th' })
    expect(split(['<think>It is', ' 4.'], false)).toMatchObject({ text: '', thinking: 'It is 4.' })
  })
})
