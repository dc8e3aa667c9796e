import { expect, test } from 'vitest'
import { fakeIo } from '../../test/support/fake-io.ts'
import { CriaError } from '../core/error.ts'
import { tellFailure } from './failure.ts'

const ERROR = new CriaError('auth', 'There is no key for the model that was named.', {
  hint: 'Set OPENAI_API_KEY in the environment.',
})

test('a terminal gets a failure broken between words, message and hint under one indent', async () => {
  const io = fakeIo({ terminal: true, columns: 30 })
  await tellFailure(ERROR, io)
  expect(io.err()).toBe(
    `cria: There is no key for the
      model that was named.
      Set OPENAI_API_KEY in
      the environment.
`,
  )
})

test('a pipe gets each line whole', async () => {
  const io = fakeIo({ columns: 30 })
  await tellFailure(ERROR, io)
  expect(io.err()).toBe('cria: There is no key for the model that was named.\n      Set OPENAI_API_KEY in the environment.\n')
})
