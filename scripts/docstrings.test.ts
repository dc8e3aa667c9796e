import { expect, test } from 'vitest'
import { countDocstrings } from './docstrings.ts'

const count = (files: Readonly<Record<string, string>>): ReturnType<typeof countDocstrings> =>
  countDocstrings(['src/index.ts'], (path) => {
    const text = files[path]
    if (text === undefined) throw new Error(`there is no ${path}`)
    return text
  })

test.each([
  ['a docstring', '/** Asks. */\nexport function ask(): void {}', []],
  ['a comment for a tool after the docstring', '/** Asks. */\n// oxlint-disable-next-line x\nexport function ask(): void {}', []],
  ['no docstring', 'export function ask(): void {}', ['ask']],
  ['a comment that is no docstring', '// Asks.\nexport function ask(): void {}', ['ask']],
  ['the head of the file', "/** About asking. */\n\nimport { a } from './b.ts'\nexport function ask(): void { a() }", ['ask']],
  [
    'a member',
    '/** A. */\nexport interface ask {\n  /** B. */\n  readonly b: string\n  readonly c: string\n  d(): void\n}',
    ['ask.c', 'ask.d'],
  ],
  [
    'members of a union',
    "/** A. */\nexport type ask = { readonly type: 'x'; readonly b: string } | { readonly type: 'y' }",
    ['ask.b'],
  ],
  [
    'members of a class',
    '/** A. */\nexport class ask {\n  #a = 1\n  private b = 2\n  protected c = 3\n  constructor(d: string) {}\n  e(): void {}\n}',
    ['ask.e'],
  ],
  [
    'one docstring for all overloads',
    '/** A. */\nexport function ask(a: string): void\nexport function ask(a: number): void\nexport function ask(): void {}',
    [],
  ],
  [
    'what an interface says of a method',
    '/** P. */\ninterface Port {\n  /** A. */\n  a(): void\n}\n/** C. */\nexport class ask implements Port {\n  a(): void {}\n  b(): void {}\n}',
    ['ask.b'],
  ],
])('%s', (_, text, missing) => {
  const files = { 'src/index.ts': "export { ask } from './ask.ts'", 'src/ask.ts': text }
  expect(count(files).missing.map(({ name }) => name)).toEqual(missing)
})

test('a name is followed through re-exports', () => {
  const files = {
    'src/index.ts': "export { outer } from './a.ts'",
    'src/a.ts': "export { inner as outer } from './b/c.ts'",
    'src/b/c.ts': 'export const inner = 1',
  }
  expect(count(files)).toMatchObject({ exports: 1, missing: [{ file: 'src/b/c.ts', line: 1, name: 'inner' }] })
})

test('a member inherits the docstring of an interface', () => {
  const files = {
    'src/index.ts': "export { Store } from './a.ts'",
    'src/a.ts':
      "import type { Port } from './b.ts'\n/** S. */\nexport class Store implements Port {\n  a(): void {}\n  b(): void {}\n}",
    'src/b.ts':
      '/** B. */\ninterface Base {\n  /** A. */\n  a(): void\n}\n/** P. */\nexport interface Port extends Base {\n  a(): void\n}',
  }
  expect(count(files).missing.map(({ name }) => name)).toEqual(['Store.b'])
})
