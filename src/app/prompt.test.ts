import { describe, expect, it } from 'vitest'
import { toMessages, user } from '../core/message.ts'
import { isFilledPrompt } from '../core/prompt.ts'
import { prompt } from './prompt.ts'

const review = prompt('review', 'Review this {{language}} code:\n{{ code }} ({{language}})')

describe('prompt()', () => {
  it('inserts the values unchanged', () => {
    const filled = review({ language: 'Rust', code: '{{language}} $& $1' })
    expect(filled.text).toBe('Review this Rust code:\n{{language}} $& $1 (Rust)')
    expect(String(filled)).toBe(filled.text)
    expect(prompt('count', 'Name {{n}} fruits.')({ n: 3 }).text).toBe('Name 3 fruits.')
  })

  it('leaves braces without a name unchanged', () => {
    expect(prompt('json', 'Answer {{}} like {"a": {{ 1 }}} or {b}.')().text).toBe('Answer {{}} like {"a": {{ 1 }}} or {b}.')
  })

  it('REC-PROMPT-001 is versioned by the hash of its template, not of its values', () => {
    const one = review({ language: 'Rust', code: 'a' })
    expect(one.hash).toMatch(/^[0-9a-f]{64}$/)
    expect(one.hash).toBe(review({ language: 'C', code: 'b' }).hash)
    expect(review.hash).toBe(one.hash)
    expect(prompt('review', 'Review {{code}}')({ code: '' }).hash).not.toBe(one.hash)
  })

  it.each<[string, () => unknown, string]>([
    ['a missing value', () => review({ language: 'C' } as never), 'The variable code of the prompt "review" is missing.'],
    [
      'no values at all',
      () => (review as unknown as () => unknown)(),
      'The variable language of the prompt "review" is missing.',
    ],
    ['an inherited value', () => prompt('p', '{{toString}}')({} as never), 'The variable toString of the prompt "p" is missing.'],
    [
      'a value of another kind',
      () => review({ language: 'C', code: null } as never),
      'The variable code of the prompt "review" must be a text or a number, but is null.',
    ],
    [
      'an additional value',
      () => review({ language: 'C', code: '', style: 'x' } as never),
      'There is no variable style of the prompt "review": it has language, code.',
    ],
    ['a value for a template without variables', () => prompt('p', 'Hi')(...([{ a: 1 }] as unknown as [])), 'it has none.'],
    ['an empty name', () => prompt('', 'Hi'), 'The name of a prompt has 1 to 80 letters'],
    ['a name with a line break', () => prompt('a\nb', 'Hi'), 'The name of a prompt has'],
    ['a template that is not a text', () => prompt('p', undefined as never), 'prompt("p") needs a template: a text.'],
  ])('refuses %s', (_what, make, message) => {
    expect(make).toThrow(expect.objectContaining({ code: 'configuration', message: expect.stringContaining(message) as unknown }))
  })

  it('types its variables', () => {
    const plain = prompt('plain', 'No variables.')
    plain()
    // @ts-expect-error there is no such variable
    expect(() => plain({ a: 1 })).toThrow('no variable a')
    // @ts-expect-error `code` is missing
    expect(() => review({ language: 'C' })).toThrow('code')
    const template: string = 'Of {{any}} kind'
    expect(prompt('any', template)({ any: 'some' }).text).toBe('Of some kind')
  })
})

describe('messages of prompts', () => {
  it('name the version of their prompt', () => {
    const { name, hash, template } = review({ language: 'C', code: '' })
    const filled = review({ language: 'Rust', code: 'x' })
    for (const [message] of [toMessages(filled), toMessages(['', filled].slice(1)), [user(filled)]]) {
      expect(message).toMatchObject({ role: 'user', content: filled.text, prompt: { name, hash, template } })
    }
    const mixed = user('First: ', filled, { type: 'text', text: '!' })
    expect(mixed.content).toBe(`First: ${filled.text}!`)
    expect(mixed.prompt).toEqual({ name, hash, template })
    expect(toMessages(mixed)[0]).toBe(mixed)
  })

  it('contain the text of a prompt parsed from JSON', () => {
    const sent = JSON.parse(JSON.stringify(review({ language: 'C', code: 'x' }))) as ReturnType<typeof review>
    expect(toMessages(sent)[0]?.content).toBe(sent.text)
  })

  it('distinguishes a filled prompt from messages and other objects', () => {
    const filled = review({ language: 'C', code: '' })
    expect(isFilledPrompt(filled)).toBe(true)
    expect([null, 'text', review, { ...filled, role: 'user' }, { ...filled, hash: 1 }].map(isFilledPrompt)).not.toContain(true)
  })
})
