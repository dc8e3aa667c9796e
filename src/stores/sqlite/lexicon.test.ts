import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Analyzer } from '../../text/analyzer.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { openStoreFile } from './file.ts'
import { Lexicon } from './lexicon.ts'

function terms(connection: Connection, lexicon: Lexicon, text: string): (string | undefined)[] {
  const ids: number[] = []
  lexicon.begin()
  lexicon.read(text, ids)
  const names = connection.all<{ id: number; term: string }>(
    'SELECT id, term FROM terms WHERE id IN (SELECT value FROM json_each(?))',
    [JSON.stringify(ids)],
  )
  const byId = new Map(names.map(({ id, term }) => [id, term]))
  lexicon.takeAdded()
  lexicon.end(0)
  return ids.map((id) => byId.get(id))
}

it('indexes a text by the same terms as a question', () => {
  const connection = openStoreFile({ path: ':memory:', readOnly: false, synchronous: 'normal' })
  const lexicon = new Lexicon(connection)
  const piece = fc.oneof(
    fc.constantFrom(
      ..."a B é ß 7 _ . - ' ’ + # & / ( ) , ; : @ * ` = < > \" C++ C# getUserName get_user_name v1.2.3 don't the mill ไทย 東京タワー ﬁle".split(
        ' ',
      ),
      ' ',
      '\n',
      '\t',
      '\u00a0',
      '\u3000',
      '\u0301',
      '\u0338',
      '\u{1f600}',
    ),
    fc.string({ unit: 'grapheme', maxLength: 4 }),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const text = pieces.join('')
      expect(terms(connection, lexicon, text)).toEqual(new Analyzer().terms(text))
    }),
    { numRuns: 1000 },
  )
  connection.close()
})

it('words of similar length or beginning keep distinct numbers, also with a full cache', () => {
  const connection = openStoreFile({ path: ':memory:', readOnly: false, synchronous: 'normal' })
  const lexicon = new Lexicon(connection)
  const words = Array.from({ length: 140_000 }, (_, at) => `w${at.toString(36)}x`).filter((word) => !/\d/.test(word))
  const once = connection.write(() => terms(connection, lexicon, words.join(' ')))
  expect(new Set(once).size).toBeGreaterThan(10_000)
  expect(connection.write(() => terms(connection, lexicon, words.join(' ')))).toEqual(once)
  connection.close()
})
