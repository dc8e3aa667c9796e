import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Citation } from '../core/citation.ts'
import type { Retrieved } from '../core/message.ts'
import { checkAnswer } from './check.ts'

const MILL = 'The mill was built in 1874.\nIt ground rye for “three” villages — until the flood of 1902 took its wheel.'
const BOAT = 'Peter bought a barge in Ludbury. It did not sink. His sister sold salt [4] in the market hall.'

const passage = (marker: string, text: string, more: Partial<Retrieved['chunk']> = {}): Retrieved => ({
  marker,
  origin: 'docstore',
  store: 'docs',
  chunk: {
    id: `chunk-${marker}`,
    text,
    source: `${marker}.md`,
    start: 100,
    end: 100 + text.length,
    lines: [7, 9],
    metadata: {},
    score: 1,
    ...more,
  },
})
const check = (answer: string, ...texts: string[]): readonly Citation[] =>
  checkAnswer(
    answer,
    texts.map((text, index) => passage(String(index + 1), text)),
  ).citations

/** Verdict, kind and reason of the first citation of an answer with one passage. */
const verdictOf = (statement: string, text: string): string => {
  const [first] = check(`${statement} [1]`, text)
  return first === undefined
    ? 'none'
    : first.verdict === 'contradicted'
      ? `${first.kind}: ${first.reason}`
      : `${first.verdict} ${first.kind}`
}
/** Tests the verdict of each statement on its passage. */
const testVerdicts = (rows: readonly (readonly [title: string, statement: string, text: string, expected: string])[]): void => {
  test.each(rows)('%s', (_, statement, text, expected) => {
    expect(verdictOf(statement, text)).toBe(expected)
  })
}

describe('a citation', () => {
  test('QRY-RAG-022 names passage, range, quote, verdict and the place of its statement', () => {
    expect(checkAnswer('The mill was built in 1874. [1]', [passage('1', MILL)])).toEqual({
      citations: [
        {
          marker: '1',
          chunkId: 'chunk-1',
          source: '1.md',
          start: 100,
          end: 127,
          quote: 'The mill was built in 1874.',
          verdict: 'verified',
          supported: true,
          kind: 'verbatim',
          lines: [7, 7],
          claim: { start: 0, end: 31 },
        },
      ],
      uncited: 0,
    })
  })

  test('of an unverified statement shows the nearest place', () => {
    const [first] = check('Rye was ground there until the wheel was gone in a flood [1].', MILL)
    expect(first).toMatchObject({ verdict: 'unverified', supported: null, kind: 'paraphrase', lines: [8, 8] })
    expect(first?.quote).toContain('the flood of 1902 took its wheel')
  })

  test('exists for each statement and marker, with markers included in claims', () => {
    const answer = 'The mill was built in 1874 [1][2]. The mill was built in 1874 [1]!'
    const found = check(answer, MILL, BOAT)
    expect(found.map(({ marker, verdict, claim }) => [marker, verdict, answer.slice(claim.start, claim.end)])).toEqual([
      ['1', 'verified', 'The mill was built in 1874 [1][2]'],
      ['2', 'unverified', 'The mill was built in 1874 [1][2]'],
      ['1', 'verified', 'The mill was built in 1874 [1]'],
    ])
  })

  test('is contradicted when no passage has its marker', () => {
    expect(check('The mill was built in 1874 [9].', MILL)).toMatchObject([
      { marker: '9', verdict: 'contradicted', supported: false, kind: 'no-passage', quote: '', chunkId: '' },
    ])
  })

  test('is unchecked when comparison is turned off', () => {
    const { citations } = checkAnswer('The mill was built in 1999 [1].', [passage('1', MILL)], { compares: false })
    expect(citations).toMatchObject([{ verdict: 'unverified', supported: null, kind: 'unchecked' }])
  })

  test('has the page of its quote', () => {
    const [first] = checkAnswer('Rye is dear [1].', [passage('1', 'A mill.\fRye is dear.', { metadata: { page: 4 } })]).citations
    expect(first).toMatchObject({ verdict: 'verified', page: 5 })
  })
})

describe('verified', () => {
  test.each([
    ['other quotation marks, dashes and case', `it ground rye for "three" villages - until the flood of 1902`],
    ['emphasis and a list mark', '- **The mill** was built in _1874_.'],
    ['code of the same words', 'The mill was built in `1874`.'],
    ['several sentences before one marker', 'The mill was built in 1874. It ground rye for “three” villages'],
    ['a quotation with words that introduce it', 'The chronicle says: “the flood of 1902 took its wheel”.'],
    ['a block quote', '> The mill was built in 1874.\n\n'],
    ['wide letters and a footnote mark', 'Ｔｈｅ mill was built in 1874.'],
  ])('%s', (_, statement) => {
    expect(verdictOf(statement, MILL)).toBe('verified verbatim')
  })

  testVerdicts([
    [
      'an ellipsis',
      'The mill … ground rye for “three” villages.',
      'The mill was built. It ground rye for “three” villages.',
      'verified elided',
    ],
    [
      'an insertion in brackets',
      '“[The mill] ground rye for three villages”.',
      'It ground rye for three villages.',
      'verified verbatim',
    ],
    [
      'links and tags of the source',
      'The old mill stood at the river.',
      'The <b>old</b> [mill](https://a.example/b) stood at the river[3].',
      'verified verbatim',
    ],
    ['characters without spaces', '水磨坊建于1874年。', '据说水磨坊建于1874年。', 'verified verbatim'],
    [
      'a denial before the place',
      'safe to run the wheel at night',
      'It is not safe to run the wheel at night.',
      'negation: says “safe to” where the passage has “not safe”',
    ],
    [
      'an ellipsis that hides a denial',
      'The wheel … runs at night.',
      'The wheel is old. It never runs at night.',
      'unverified paraphrase',
    ],
    [
      'three words of code in another statement',
      'Setting `wheel max speed` deletes all your data.',
      'Use `wheel max speed` for a limit.',
      'unverified paraphrase',
    ],
    [
      'a short quotation in another statement',
      'Because of “the flood” all millers were fired and left town.',
      MILL,
      'unverified paraphrase',
    ],
    ['a quotation that is denied', 'It is not true that “the mill was built in 1874”.', MILL, 'unverified paraphrase'],
    ['another sign of a number', 'It freezes at -5 degrees.', 'It freezes at 5 degrees.', 'unverified paraphrase'],
  ])
})

describe('contradicted', () => {
  testVerdicts([
    [
      'a number',
      'Only 14 villages had rye ground there.',
      'The mill ground rye for 13 villages.',
      'number: says “14” where the passage has “13”',
    ],
    [
      'a counted thing',
      'It served four villages.',
      'The mill served three villages.',
      'number: says “four” where the passage has “three”',
    ],
    [
      'a number with its unit',
      'The wheel measures 4 m.',
      'The wheel is 6 m wide.',
      'number: says “4 m” where the passage has “6 m”',
    ],
    [
      'a percentage',
      'Prices rose by 20 percent.',
      'Rye prices rose by 30 % that year.',
      'number: says “20 percent” where the passage has “30 %”',
    ],
    [
      'a unit',
      'Flour keeps for 100 hours.',
      'Flour keeps for about 100 days.',
      'unit: says “100 hours” where the passage has “100 days”',
    ],
    [
      'a unit without a number',
      'The delay is given in seconds.',
      'The delay is specified in milliseconds.',
      'unit: says “seconds” where the passage has “milliseconds”',
    ],
    [
      'a rate',
      'It grinds 40 sacks a day.',
      'The mill grinds 40 sacks per week.',
      'unit: says “40 per day” where the passage has “40 per week”',
    ],
    ['a year', 'The mill was erected in 1875.', MILL, 'date: says “1875” where the passage has “1874”'],
    [
      'a date',
      'It burned on 3 May 1902.',
      'The mill burned on 4 May 1902.',
      'date: says “3 May 1902” where the passage has “4 May 1902”',
    ],
    [
      'a year of another place',
      'The mill burned down in 1874.',
      'The mill was founded in 1874. Years later, the mill burned down in 1902.',
      'date: says “1874” where the passage has “1902”',
    ],
    [
      'an item that a list does not have',
      'It takes GET, PUT, POST and TRACE.',
      'It takes GET, PUT and POST.',
      'name: lists “TRACE”, which the list of the passage does not have',
    ],
    [
      'an identifier',
      'By default the LinearWheel drives the stones.',
      'By default the TreeWheel drives the stones.',
      'name: says “LinearWheel”, which the passage does not have; it has “TreeWheel”',
    ],
    [
      'a denial of the passage',
      'The wheel supports night work.',
      "The wheel doesn't support night work.",
      'negation: says “supports night” where the passage has “t support”',
    ],
    [
      'a quantifier',
      'Every wheel is made of oak wood.',
      'Most wheels are made of oak wood.',
      'quantifier: says “Every wheel” where the passage has “Most wheels”',
    ],
    [
      'a hedged quantifier',
      'It ground only rye for the market.',
      'It ground almost only rye for the market.',
      'quantifier: says “only rye” where the passage has “almost only”',
    ],
    [
      'an exception',
      'All villages of the valley paid the miller.',
      'All villages of the valley paid the miller except Rothe.',
      'quantifier: says “All villages” where the passage has “except Rothe”',
    ],
    [
      'an obligation',
      'The miller has to wear a hat at work.',
      'The miller is not required to wear a hat at work.',
      'modality: says “has to” where the passage has “not required”',
    ],
    [
      'an order',
      'Open the sluice after starting the wheel.',
      'Open the sluice before starting the wheel.',
      'contrary: says “after starting” where the passage has “before starting”',
    ],
    [
      'a prefix',
      'The white flour was unpopular in town.',
      'White flour was popular in the town.',
      'contrary: says “unpopular in” where the passage has “popular in”',
    ],
    [
      'German: a denial',
      'Die Mühle mahlt Roggen für das Dorf.',
      'Die Mühle, die alt ist, kann nicht mahlen. Roggen für das Dorf gab es.',
      'unverified paraphrase',
    ],
    [
      'Chinese: a quantifier',
      '这些磨坊总是用来磨黑麦。',
      '这些磨坊有时用来磨黑麦和小麦。',
      'quantifier: says “总是” where the passage has “有时”',
    ],
  ])

  test('a changed quotation', () => {
    expect(verdictOf('The chronicle says that “the flood of 1902 took its roof” then.', MILL)).toBe(
      'edited: quotes “roof” where the passage has “wheel”',
    )
  })

  test('a quotation in none of the passages', () => {
    expect(verdictOf('“The mill was painted blue by its owner” they say.', MILL)).toBe(
      'invented: this quotation is in none of the passages',
    )
  })

  test('a quotation or statement of another passage', () => {
    expect(check('They say: “Peter bought a barge in Ludbury” [1].', MILL, BOAT)).toMatchObject([
      { kind: 'misplaced', foundIn: '2' },
    ])
    expect(check('Peter bought a barge in Ludbury [1].', MILL, BOAT)).toMatchObject([
      { verdict: 'contradicted', kind: 'misplaced', foundIn: '2' },
    ])
    expect(check('A barge was what Peter bought in Ludbury [1].', MILL, BOAT)).toMatchObject([
      { kind: 'misplaced', foundIn: '2' },
    ])
  })
})

describe('a value of a table', () => {
  const TABLE = '| wheel | width | price |\n|---|---|---|\n| K1 | 40 cm | £79 |\n| K2 | 60 cm | £99 |\n'
  testVerdicts([
    ['the row that is named', 'The K1 costs £79.', TABLE, 'unverified paraphrase'],
    ['another row', 'The K1 costs £99.', TABLE, 'cell: says “£99” where the row or column that it names has “£79”'],
    [
      'another column',
      'The Alpha costs 99.',
      '| | Alpha | Beta |\n|---|---|---|\n| cost | 79 | 99 |\n| width | 4 | 6 |\n',
      'cell: says “99” where the row or column that it names has “79”',
    ],
    [
      'values parted by commas',
      'K1 sold 14.',
      'name,sold,left\nK1,13,5\nK2,14,7\n',
      'cell: says “14” where the row or column that it names has “13”',
    ],
  ])
})

describe('statements that are not contradicted', () => {
  const STATEMENTS: Readonly<Record<string, readonly [statement: string, text: string]>> = {
    'a rounded number': ['Some 17.79 million live there.', 'The town has 17,786,419 people and 5,105,768 cars.'],
    'a number that only comes near': ['Nearly 300 people came.', 'In the end 297 people came, and 12 dogs.'],
    'converted units': ['One turn takes 60 seconds.', 'One turn takes one minute; a shift 8 hours.'],
    'another way to write a date': ['It opened on 6/10/1973.', 'The mill opened on 6 October 1973, and shut on 7 October 1974.'],
    'an age': ['The miller died aged 86.', 'The miller (10 July 1856 – 7 January 1943) had 17 patents.'],
    'a share in other words': ['One in five mills stood still.', 'In 1902, 20 % of the mills stood still; 30 mills burned.'],
    'a fraction': ['It burned 75 % of them.', 'Three quarters of them burned, and 30 % of the rest.'],
    'a century': ['They left in the 1700s.', 'They left in the 18th century, before 1820.'],
    'Roman numerals': ['It was built in the 18th century.', 'Lo construyeron en el siglo XVIII, no en el 19th century.'],
    'a denial in other words': ['The wheel has no brake.', 'The wheel lacks a brake.'],
    'a limited denial': ['The wheel grinds rye and wheat.', 'The wheel does not only grind rye, it grinds wheat.'],
    'numbers of a name': ['It talks MPEG-4.', 'It talks MPEG-2, 30 times a day.'],
    'a name of the title': ['The Cutter112 is white.', 'It is a white BoatHouse.'],
    'a translated statement': ['Der Müller kaufte ein Boot.', 'The miller did not buy a boat.'],
    'ordinals of a list': ['3. The wheel turns.', 'The wheel turns 4 times and 5 times.'],
  }

  test.each(Object.entries(STATEMENTS))('%s is not contradicted', (_, [statement, text]) => {
    const [first] = checkAnswer(`${statement} [1]`, [passage('1', text, { title: 'Cutter112' })]).citations
    expect([first?.verdict, first?.reason]).toEqual([expect.stringMatching(/^(?:unverified|verified)$/), undefined])
  })

  test('a number contradicts in another language too', () => {
    expect(verdictOf('Die Mühle hat 14 Räder, sagt man.', 'They say that the mill has 12 wheels.')).toBe(
      'number: says “14” where the passage has “12”',
    )
    expect(verdictOf('Die Mühle wurde 1875 gebaut.', MILL)).toBe('date: says “1875” where the passage has “1874”')
  })
})

describe('statements without a marker', () => {
  const uncited = (answer: string): number => checkAnswer(answer, [passage('1', MILL)]).uncited

  test.each([
    ['invented sentences', 'The mill was blue. It had four wheels and a tower.', 2],
    ['a sentence before a cited one', 'The mill was blue and tall. The mill was built in 1874 [1].', 1],
    ['verbatim words before the marker', MILL.replace('\n', ' ') + ' [1]', 0],
    [
      'headings, lead-ins, questions and code',
      '# The mill\n\nIt has these parts:\n\n- The mill was built in 1874 [1]\n\n```\nrun the wheel now\n```\nDo you want to know more of it?',
      0,
    ],
    ['a marker on a line of its own', '> The mill was built in 1874.\n\n[1]', 0],
    ['two words', 'Yes, indeed. The mill was built in 1874 [1].', 0],
  ])('%s', (_, answer, expected) => {
    expect(uncited(answer)).toBe(expected)
  })
})

describe('markers', () => {
  const read = (answer: string): string[] => check(answer, MILL, BOAT).map(({ marker, verdict }) => `${marker} ${verdict}`)

  test.each<[title: string, answer: string, expected: string[]]>([
    ['inside the quotation marks', '"The mill was built in 1874 [1]."', ['1 verified']],
    ['before its quotation', 'According to [1], "the mill was built in 1874".', ['1 verified']],
    [
      'at the head of lines',
      '[1] The mill was built in 1874.\n[2] Peter bought a barge in Ludbury.',
      ['1 verified', '2 verified'],
    ],
    ['as a range, and in other brackets', 'The mill was built in 1874【1-2】', ['1 verified', '2 unverified']],
    ['of a footnote', 'The mill was built in 1874 [^1].', ['1 verified']],
    ['in code', 'Use `a[1]` and\n```\nb[1]\n```', []],
    ['in a list of sources', 'The mill was built in 1874 [1].\n\nSources:\n[1] 1.md', ['1 verified']],
    ['in a fence that is never closed', 'The mill was built in 1874 [1].\n```\nb[2]', ['1 verified']],
    ['behind a fence', 'Thus:\n```text\nThe mill was built in 1874.\n```\n[1]', ['1 verified']],
  ])('%s', (_, answer, expected) => {
    expect(read(answer)).toEqual(expected)
  })
})

describe('a citation of any answer', () => {
  const word = fc.oneof(
    fc.constantFrom(
      'mill',
      'rye',
      'not',
      '1874',
      '“',
      '”',
      '[1]',
      '[2]',
      '|',
      '`',
      '```\n',
      '\n\n',
      '- ',
      'Ida',
      '12 %',
      '…',
      '磨坊',
      '2.1x',
    ),
    fc.string({ unit: 'grapheme', maxLength: 6 }),
  )
  const text = fc.array(word, { maxLength: 40 }).map((words) => words.join(' '))

  test('has quotes at their ranges, claims within it, and consistent verdicts', () => {
    fc.assert(
      fc.property(text, text, (answer, source) => {
        for (const { start, end, quote, claim, verdict, supported, reason, kind } of check(`${answer} [1]`, source, MILL)) {
          if (kind !== 'no-passage')
            expect([source, MILL].some((whole) => whole.slice(start - 100, end - 100) === quote)).toBe(true)
          expect(claim.start >= 0 && claim.start < claim.end && claim.end <= answer.length + 4).toBe(true)
          expect(supported).toBe(verdict === 'verified' ? true : verdict === 'contradicted' ? false : null)
          expect(reason !== undefined).toBe(verdict === 'contradicted')
        }
      }),
    )
  })

  test('a verbatim statement is never contradicted by its passage', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 3, max: 9 }), (from, length) => {
        const words = BOAT.split(' ')
        const piece = words
          .slice(from % (words.length - 3))
          .slice(0, length)
          .join(' ')
        expect(check(`${piece.replaceAll('[4]', '')} [1]`, BOAT).map(({ verdict }) => verdict)).not.toContain('contradicted')
      }),
    )
  })
})
