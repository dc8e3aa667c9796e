import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ModelPart } from '../../core/model.ts'
import { splitThinkTags } from './think-tags.ts'

async function split(
  deltas: readonly string[],
  rest: readonly ModelPart[] = [{ type: 'finish', reason: 'stop' }],
): Promise<{ text: string; thinking: string; kinds: string }> {
  async function* parts(): AsyncGenerator<ModelPart> {
    for (const text of deltas) yield { type: 'text', text }
    yield* rest
  }
  let text = ''
  let thinking = ''
  const kinds: string[] = []
  for await (const part of splitThinkTags(parts())) {
    if (kinds.at(-1) !== part.type) kinds.push(part.type)
    if (part.type === 'text') text += part.text
    if (part.type === 'thinking') thinking += part.text
  }
  return { text, thinking, kinds: kinds.join(' ') }
}

describe('B09 think tags', () => {
  it.each([
    ['<think>\nhm\n</think>\n\nSo.', 'hm\n', 'So.'],
    ['  <think>hm</think>So. <think>this stays</think>', 'hm', 'So. <think>this stays</think>'],
    ['<think></think>So.', '', 'So.'],
    ['So <think>no</think>', '', 'So <think>no</think>'],
    ['<thinking>is another word', '', '<thinking>is another word'],
    ['<think>never closed', 'never closed', ''],
    ['<thi', '', '<thi'],
    ['', '', ''],
  ])('split %j', async (whole, thinking, text) => {
    for (const deltas of [[whole], [...whole], whole.split(/(?=[<>])/)]) {
      expect(await split(deltas)).toMatchObject({ thinking, text })
    }
  })

  it('are found wherever the text is cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('<', 'think', '>', '</think>', '<think>', 'a', '\n', ' '), { maxLength: 20 }),
        async (deltas) => {
          const whole = await split([deltas.join('')])
          const cut = await split([...deltas.join('')])
          expect([cut.text, cut.thinking]).toEqual([whole.text, whole.thinking])
        },
      ),
    )
  })

  it('end thinking before the text begins', async () => {
    expect((await split(['<think>', 'hm', '</think>', '\n\n', 'So.'])).kinds).toBe('thinking thinking-end text finish')
  })
})
