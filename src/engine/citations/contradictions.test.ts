import { describe, expect, test } from 'vitest'
import { compare, foldedWords } from './comparison.ts'
import { contentWordsOf } from './content-words.ts'
import { contraryOf } from './contrary.ts'
import { haveSwapped } from './swapped.ts'

const words = (text: string): string[] => text.split(' ')

describe('contraryOf', () => {
  test.each([
    ['may', 'in may', 'opened in march', 'march'],
    ['may', 'from march to may', 'opened in march', undefined],
    ['may', 'in may', 'opened in mai', undefined],
    ['increase', 'an increase', 'a decrease of two', 'decrease'],
    ['mill', 'a mill', 'a pump', undefined],
  ])('%s in “%s” beside “%s”: %s', (word, statement, place, expected) => {
    expect(contraryOf(word, words(statement), words(place))).toBe(expected)
  })
})

describe('haveSwapped', () => {
  test.each([
    ['In spring Ida paid Berta.', 'in spring berta paid ida', true],
    ['Ida paid Berta.', 'berta paid ida', true],
    ['In spring Ida paid Berta.', 'in spring ida paid berta', false],
    ['In spring Ida paid Berta.', 'ida paid berta in spring', false],
    ['In spring Ida paid Berta.', 'in spring berta paid', false],
    ['From 3 to 7 metres.', 'from 7 to 3 metres', true],
    ['The mill drives the pump.', 'the pump drives the mill', false],
  ])('“%s” beside “%s”: %s', (statement, place, expected) => {
    const { answer } = compare(statement, [], [])
    const said = { from: 0, to: answer.ids.length }
    const folded = foldedWords(answer, said.from, said.to)
    expect(haveSwapped(folded, contentWordsOf(answer, said, folded), words(place))).toBe(expected)
  })
})
