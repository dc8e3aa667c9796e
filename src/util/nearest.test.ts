import { expect, test } from 'vitest'
import { nearest } from './nearest.ts'

const COMMANDS = ['index', 'retrieve', 'ask', 'logs', 'eval', 'models', 'doctor', 'trust']

test.each([
  ['indx', 'index'],
  ['retreive', 'retrieve'],
  ['aks', 'ask'],
  ['LOGS', 'logs'],
  ['docter', 'doctor'],
  ['as', 'ask'],
])('the nearest candidate to %s is %s', (word, meant) => {
  expect(nearest(word, COMMANDS)).toBe(meant)
})

test.each(['', 'xyz', 'frobnicate', 'a'.repeat(10_000)])('returns no candidate for a word that is far from all (%#)', (word) => {
  expect(nearest(word, COMMANDS)).toBeUndefined()
})
