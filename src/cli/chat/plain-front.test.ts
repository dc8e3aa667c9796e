import { Readable } from 'node:stream'
import { afterEach, expect, test } from 'vitest'
import { fakeIo } from '../../../test/support/fake-io.ts'
import { PlainFront } from './plain-front.ts'

let front: PlainFront | undefined
afterEach(() => front?.close())

test('each line is a message, and a line that ends in a backslash continues in the next', async () => {
  const { next } = reading(Readable.from([Buffer.from('one\r\n\ntw'), Buffer.from('o\\\nthree\nfour')]))
  expect([await next(), await next(), await next(), await next()]).toEqual(['one', 'two\nthree', 'four', undefined])
})

test('an endless line is refused before it fills the memory, and earlier lines are messages', async () => {
  const source = endless('one\n', 'x'.repeat(1_000_000))
  const { next } = reading(source.stream)
  expect(await next()).toBe('one')
  await expect(next()).rejects.toThrow('The message has more than 4,000,000 characters, which is too long.')
  expect(source.read()).toBeLessThan(50)
})

test('a message that continues without end is refused as well', async () => {
  const source = endless('', `${'x'.repeat(100_000)}\\\n`)
  const { next } = reading(source.stream)
  await expect(next()).rejects.toThrow('The message has more than 4,000,000 characters')
})

test('lines wait in the pipe, not in memory, while a turn runs', async () => {
  const source = endless('', 'y\n'.repeat(10_000))
  const { next } = reading(source.stream)
  expect(await next()).toBe('y')
  for (let turn = 0; turn < 500; turn++) await new Promise(setImmediate)
  expect(source.read()).toBeLessThan(20)
  for (let turn = 0; turn < 50_000; turn++) expect(await next()).toBe('y')
})

function reading(stdin: Readable): { next: () => Promise<string | undefined> } {
  const made = new PlainFront({ ...fakeIo(), stdin })
  front = made
  return { next: () => made.next() }
}

/** Returns a stream of `first` and then `piece` without end. `read` counts the reads; after 1000 the stream ends, in case the reader does not stop. */
function endless(first: string, piece: string): { readonly stream: Readable; read(): number } {
  let count = 0
  const stream = new Readable({
    read() {
      // Asynchronous, as a pipe is.
      setImmediate(() => {
        count += 1
        this.push(count > 1000 ? null : Buffer.from(count === 1 && first !== '' ? first : piece))
      })
    },
  })
  return { stream, read: () => count }
}
