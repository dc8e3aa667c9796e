import { expect, test } from 'vitest'
import { list, number, object, record, string } from './check.ts'
import type { Problem } from './check.ts'

interface Garden {
  readonly name?: string
  readonly beds?: readonly number[]
  readonly plants?: Readonly<Record<string, { readonly height?: number }>>
}

const height = number('a height above 0', (value) => value > 0)
const garden = object<Garden>({ name: string(), beds: list(height), plants: record(object<{ height?: number }>({ height })) })

function problemsOf(value: unknown): readonly Problem[] {
  const problems: Problem[] = []
  garden.read(value, '', problems)
  return problems
}

test('a value that fits is returned', () => {
  const value = { name: 'north', beds: [1, 2], plants: { 'sun flower': { height: 3 } } }
  expect(garden.read(value, '', [])).toEqual(value)
})

test('every mistake is reported at once, with its place, what was expected and what was received', () => {
  expect(
    problemsOf({ nmae: 'x', name: '', beds: [1, -2, 'three'], plants: { 'sun flower': { height: null }, rose: [] } }),
  ).toEqual([
    { path: 'nmae', message: 'unknown key; did you mean "name"?' },
    { path: 'name', message: 'expected a string, received ""' },
    { path: 'beds[1]', message: 'expected a height above 0, received -2' },
    { path: 'beds[2]', message: 'expected a height above 0, received "three"' },
    { path: 'plants."sun flower".height', message: 'expected a height above 0, received null' },
    { path: 'plants.rose', message: 'expected an object, received a list' },
  ])
})

test('the error for a key that resembles no known key lists all known keys', () => {
  expect(problemsOf({ zzzzzz: 1 })).toEqual([{ path: 'zzzzzz', message: 'unknown key; the keys are name, beds, plants' }])
})

test('keys of the prototype are unknown keys', () => {
  expect(problemsOf(JSON.parse('{"__proto__": {"name": "x"}, "constructor": 1}'))).toHaveLength(2)
})

test('a long string is cut in the message', () => {
  expect(problemsOf({ beds: ['x'.repeat(1000)] })[0]?.message.length).toBeLessThan(110)
})
