import { expect, test } from 'vitest'
import { fakeIo } from '../../test/support/fake-io.ts'
import { CriaError } from '../core/error.ts'
import { printFailure } from './failure.ts'

const ERROR = new CriaError('auth', 'There is no key for the model that was named.', {
  hint: 'Set OPENAI_API_KEY in the environment.',
})

test('on a terminal a failure is wrapped between words, message and hint under one indent', async () => {
  const io = fakeIo({ terminal: true, columns: 30 })
  await printFailure(ERROR, io)
  expect(io.err()).toBe(
    `cria: There is no key for the
      model that was named.
      Set OPENAI_API_KEY in
      the environment.
`,
  )
})

test('in a pipe each line is whole', async () => {
  const io = fakeIo({ columns: 30 })
  await printFailure(ERROR, io)
  expect(io.err()).toBe('cria: There is no key for the model that was named.\n      Set OPENAI_API_KEY in the environment.\n')
})
