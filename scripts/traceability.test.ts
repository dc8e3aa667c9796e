import { expect, test } from 'vitest'
import { problems, readProofs, readRequirements, renderPage } from './traceability.ts'

const PAGE = `
| ID | Status | What holds |
|---|---|---|
| CORE-MSG-001 | done | one |
| ENG-QUERY-001 | planned | two |
`
const requirements = readRequirements(PAGE)

test('requirements are the rows of the tables', () => {
  expect(requirements).toEqual([
    { id: 'CORE-MSG-001', status: 'done' },
    { id: 'ENG-QUERY-001', status: 'planned' },
  ])
})

test('an unknown status is rejected', () => {
  expect(() => readRequirements('| CORE-MSG-001 | maybe | x |')).toThrow('CORE-MSG-001 has the status "maybe"')
})

test('a repeated ID is rejected', () => {
  expect(() => readRequirements('| CORE-MSG-001 | done | x |\n| CORE-MSG-001 | done | y |')).toThrow('twice')
})

const id = 'CORE-MSG-001'

test.each([
  [`test('${id} plain', () => {})`, [`${id} plain`]],
  [`it("${id} it", () => {})`, [`${id} it`]],
  [`describe('${id} group', () => {})`, [`${id} group`]],
  [`test.each([1, 2])('${id} each %d', () => {})`, [`${id} each %d`]],
  ['test.each`a\n${1}`(`' + id + ' table`, () => {})', [`${id} table`]],
  [`test.concurrent.for([1])('${id} for', () => {})`, [`${id} for`]],
  ['test(`' + id + ' of ${name}`, () => {})', [`${id} of …`]],
  [`test.skip('${id} skipped', () => {})`, []],
  [`describe.todo('${id} later')`, []],
  [`expect('${id} is no title')`, []],
  [`// test('${id} in a comment')`, []],
])('titles of %s', (text, titles) => {
  expect(readProofs('a.test.ts', text).map(({ title }) => title)).toEqual(titles)
})

test('one title may name several requirements', () => {
  expect(readProofs('a.test.ts', `test('${id} ENG-QUERY-001 both', () => {})`).map((proof) => proof.id)).toEqual([
    id,
    'ENG-QUERY-001',
  ])
})

test('a done requirement needs a test, a planned one does not', () => {
  expect(problems(requirements, [])).toEqual(['CORE-MSG-001 is done, but no test names it'])
})

test('a test that names an unknown requirement is reported with its file', () => {
  const proofs = [
    { id: 'CORE-MSG-001', file: 'a.test.ts', title: 'x' },
    { id: 'CORE-MSG-999', file: 'b.test.ts', title: 'y' },
  ]
  expect(problems(requirements, proofs)).toEqual(['b.test.ts: "y" names CORE-MSG-999, which is not in docs/requirements.md'])
})

test('the page lists every requirement with its tests, in an order that does not depend on the files', () => {
  const proofs = [
    { id: 'CORE-MSG-001', file: 'b.test.ts', title: 'b | c' },
    { id: 'CORE-MSG-001', file: 'a.test.ts', title: 'a' },
  ]
  const page = renderPage(requirements, proofs)
  expect(page).toContain('| CORE-MSG-001 | done | a (`a.test.ts`)<br>b \\| c (`b.test.ts`) |')
  expect(page).toContain('| ENG-QUERY-001 | planned |  |')
  expect(page).toBe(renderPage(requirements, proofs.toReversed()))
})
