import fc from 'fast-check'
import { expect, test } from 'vitest'
import { frontMatterFacts } from './front-matter.ts'

test.each<[string, object]>([
  ['status: final', { status: 'final' }],
  ['title: Locks\nowner:  Ida Marsh  # since May', { owner: 'Ida Marsh' }],
  ['tags:\n  - water\n\n  # old ones\n- "a: b"\nyear: 1874', { tags: ['water', 'a: b'], year: 1874 }],
  ['tags: [a, \'b, c\', 3, "say \\"so\\""]', { tags: ['a', 'b, c', 3, 'say "so"'] }],
  ['version: 1.10\nzip: 01234\ndate: 2024-03-14\nrate: -0.5', { version: '1.10', zip: '01234', date: '2024-03-14', rate: -0.5 }],
  ['draft: true\nhidden: false', { draft: true, hidden: false }],
  ["name: 'it''s'\nlink: https://example.org/#top", { name: "it's", link: 'https://example.org/#top' }],
  ['depth = 3\nname = "Oak"', { depth: 3, name: 'Oak' }],
  ['none:\nnothing: null\nempty: ~\nlist: []', {}],
  ['text: |\n  a long\n  status: no\nobject: { a: 1 }\nnested: [[1], 2]\ndeep:\n  key: value', {}],
  ['__proto__: x\nconstructor: y', { ['__proto__']: 'x', constructor: 'y' }],
])('%j', (lines, expected) => {
  expect(frontMatterFacts(`---\n${lines}\n---`)).toEqual(expected)
})

test('returns JSON for any front matter', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.string(), fc.constantFrom('a: b', 'a:', '- x', 'a: [', "a: '", 'a: [,]', 'a: # x'))),
      (lines) => {
        const facts = frontMatterFacts(['---', ...lines, '---'].join('\n'))
        expect(JSON.parse(JSON.stringify(facts))).toEqual(facts)
      },
    ),
  )
})
