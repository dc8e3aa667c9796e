import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stopwatch } from '../../../test/support/stopwatch.ts'
import { answerFromPassages, LONGEST_QUOTE, paragraph } from './answer.ts'
import type { Passage } from './passage.ts'
import { shortAnswer } from './short-answer.ts'
import { ABSTENTION, NO_QUESTION } from './wording.ts'
import { wordCounter } from './words.ts'

const passage = (marker: string, title: string | undefined, text: string, score: number): Passage => ({
  marker,
  title,
  text,
  score,
})

/** A small town chronicle; every question below is answered in one place of it. */
const CHRONICLE: readonly Passage[] = [
  passage(
    '1',
    'Gull Light',
    'Gull Light is a lighthouse on the island of Harn. It was built by the engineer Ida Marsh between 1871 and 1874. The tower is 31 metres tall and painted white because sailors mistook the old grey one for a rock. Its lamp was first lit on 3 May 1874.',
    12,
  ),
  passage(
    '2',
    'Harn',
    'Harn is an island in the Sund with 412 inhabitants. Most of them live in the village of Oster. The ferry to the mainland sails four times a day. Fishing gave way to tourism after 1960.',
    9,
  ),
  passage(
    '3',
    'Ida Marsh',
    'Ida Marsh (1839–1911) was an engineer from Velm. She studied in Ghent and married the painter Tom Oak in 1866. She died of pneumonia in Oster.',
    8,
  ),
  passage('4', 'Herring gull', 'The herring gull is a large bird. It nests on cliffs and eats fish, crabs and waste.', 4),
  passage('5', 'Ferry Act', 'The Ferry Act set the rules for boats that carry people over the Sund.', 3),
]

/** As a search returns them that finds the right one first. */
function foundFirst(marker: string): Passage[] {
  const first = CHRONICLE.filter((one) => one.marker === marker).map((one) => ({ ...one, score: 15 }))
  return [...first, ...CHRONICLE.filter((one) => one.marker !== marker)]
}

describe('the first quote answers', () => {
  test.each([
    ['Who built Gull Light?', '1', 'Ida Marsh'],
    ['When was the lamp of Gull Light first lit?', '1', '3 May 1874'],
    ['How tall is the tower of Gull Light?', '1', '31 metres'],
    ['Why is the lighthouse painted white?', '1', 'because sailors mistook'],
    ['How many inhabitants does Harn have?', '2', '412'],
    ['where do most people on harn live', '2', 'Oster'],
    ['How often does the ferry sail to the mainland?', '2', 'four times a day'],
    ['Who was the husband of Ida Marsh?', '3', 'Tom Oak'],
    ['Where did Ida Marsh study?', '3', 'Ghent'],
    ['what does the herring gull eat', '4', 'fish, crabs and waste'],
  ])('%j from [%s] with %j', (question, marker, expected) => {
    const { abstained, quotes } = answerFromPassages(question, foundFirst(marker))
    expect(abstained).toBe(false)
    expect(quotes[0]).toMatchObject({ marker, text: expect.stringContaining(expected) })
  })

  test.each([
    [
      '灯台はいつ完成しましたか',
      [
        passage('1', '灯台', '島の人口は四百人です。灯台は1874年に完成しました。港は小さい。', 5),
        passage('2', '港', '港は1900年に拡張されました。', 2),
      ],
      '灯台は1874年に完成しました。',
    ],
    [
      'من بنى منارة النورس؟',
      [passage('1', 'منارة', 'المنارة بيضاء. بنى المهندس سالم منارة النورس عام 1874. الجزيرة صغيرة.', 5)],
      'سالم',
    ],
    [
      'Wer baute den Leuchtturm von Harn?',
      [passage('1', 'Harn', 'Harn liegt im Sund. Den Leuchtturm von Harn baute die Ingenieurin Ida Marsch.', 5)],
      'Ida Marsch',
    ],
  ])('in other languages: %j', (question, passages, expected) => {
    const { abstained, quotes } = answerFromPassages(question, passages)
    expect(abstained).toBe(false)
    expect(quotes[0]?.text).toContain(expected)
  })
})

describe('it refuses', () => {
  test.each([
    'Who painted the ceiling of the Sistine Chapel?',
    'What is the boiling point of mercury?',
    'When did Queen Berengaria visit Zanzibar?',
  ])('%j', (question) => {
    expect(answerFromPassages(question, CHRONICLE)).toMatchObject({ abstained: true, text: ABSTENTION, quotes: [] })
  })

  test.each([
    ['every word', 'Who is the mayor of Oster?', 0.5],
    ['no passage with a name of the question', 'Who is the mayor of Brunnia?', 0.9],
    ['no number where one is asked for', 'How much does the inn cost?', 0.9],
    ['half of the question unsaid', 'Who is the treasurer of the inn?', 0.9],
    ['nothing said but the name in the title', 'Who is the treasurer of Oster?', 0.995],
    ['relatives of its words only', 'Who majored?', 0.9],
  ])('QRY-RAG-022 with %s: %j needs a confidence of %d', (_, question, needed) => {
    const passages = [
      passage(
        '1',
        'Oster',
        'The mayor of Oster is elected every year, and the oldest house of the village of Oster is the inn.',
        15,
      ),
      passage('2', 'Harn', 'Harn is an island.', 2),
    ]
    const answer = answerFromPassages(question, passages)
    expect(answer.needed).toBe(needed)
    expect(answer.abstained).toBe(answer.confidence < needed)
  })

  test.each(['', '  \n ', '?!'])('the empty question %j', (question) => {
    expect(answerFromPassages(question, CHRONICLE)).toMatchObject({ abstained: true, text: NO_QUESTION, confidence: 0 })
  })

  test('where there are no passages, and where they are empty', () => {
    expect(answerFromPassages('Who built it?', []).abstained).toBe(true)
    expect(answerFromPassages('Who built it?', [passage('1', '', '', 1), passage('2', undefined, '  \n', 1)]).abstained).toBe(
      true,
    )
  })
})

test('each quote is a paragraph of one line with its marker', () => {
  const { text, quotes } = answerFromPassages('Who built Gull Light?', [
    passage('7', 'Gull Light', 'Gull Light was built\nby Ida Marsh.', 3),
  ])
  expect(text).toBe('Gull Light was built by Ida Marsh. [7]')
  expect(quotes).toEqual([{ marker: '7', start: 0, end: 34, text: 'Gull Light was built\nby Ida Marsh.' }])
})

test('code is quoted as code', () => {
  const install = passage('2', 'Installation of gull', 'Install gull with npm:\n\n```sh\nnpm install gull[0] `now`\n```\n', 3)
  expect(answerFromPassages('npm install gull', [install]).text).toContain('`` npm install gull[0] `now` `` [2]')
})

test('what stands in two passages is quoted once', () => {
  const text = 'Gull Light was built by Ida Marsh in 1874.'
  const { quotes } = answerFromPassages('Who built Gull Light?', [
    passage('1', 'Gull Light', text, 3),
    passage('2', 'Gull Light', `${text} `, 3),
  ])
  expect(quotes).toHaveLength(1)
})

describe('short answers', () => {
  test.each([
    ['Who built Gull Light?', 'It was built by the engineer Ida Marsh between 1871 and 1874.', 'Ida Marsh'],
    ['When was the lamp lit?', 'Its lamp was first lit on 3 May 1874.', '3 May 1874'],
    ['How tall is the tower?', 'The tower is 31 metres tall and has 4 rooms.', '31 metres'],
    ['How much did it cost?', 'The tower cost $1.5 million.', '$1.5 million'],
    ['How many people live there?', 'Since 1874 only 412 people live there.', '412'],
    ['Where did she study?', 'She studied in Ghent and married Tom Oak.', 'Ghent'],
    ['Why is it white?', 'It is white because sailors mistook it.', undefined],
    ['Who built it?', 'nobody knows.', undefined],
    ['', '', undefined],
  ])('%j in %j is %j', (question, quote, expected) => {
    expect(shortAnswer(question, quote)).toBe(expected)
  })
})

const TEXT_PIECE = fc.oneof(
  fc.constantFrom(
    'Ida Marsh ',
    'built ',
    'the lighthouse ',
    'in 1874',
    '. ',
    ', ',
    '\n\n',
    '- ',
    '[3]',
    '(',
    ')',
    '| a | b |\n',
    '```\n',
    '漢字です。',
    'مرحبا ',
    '\u{1F600}',
    '\uD800',
    '\0',
    '# ',
    '“',
    '” ',
  ),
  fc.string({ unit: 'binary', maxLength: 8 }),
)
const TEXT = fc.array(TEXT_PIECE, { maxLength: 120 }).map((pieces) => pieces.join(''))
const PASSAGES = fc.array(fc.record({ text: TEXT, title: fc.option(TEXT, { nil: undefined }), score: fc.double() }), {
  maxLength: 6,
})

test('QRY-RAG-022 every quote is a slice of its passage, short enough, with the marker of that passage; equal input gives equal output', () => {
  fc.assert(
    fc.property(TEXT, PASSAGES, (question, bare) => {
      const passages = bare.map((one, index) => ({ ...one, marker: String(index + 1) }))
      const answer = answerFromPassages(question, passages)
      expect(answerFromPassages(question, passages)).toEqual(answer)
      expect(answer.abstained).toBe(answer.quotes.length === 0)
      expect(answer.quotes.length).toBeLessThanOrEqual(3)
      expect(answer.confidence).toBeGreaterThanOrEqual(0)
      expect(answer.confidence).toBeLessThanOrEqual(1)
      for (const { marker, start, end, text, code } of answer.quotes) {
        const source = passages[Number(marker) - 1]?.text ?? ''
        expect(text).toBe(source.slice(start, end))
        expect(text.trim()).not.toBe('')
        expect(wordCounter(text)(0, text.length)).toBeLessThanOrEqual(LONGEST_QUOTE)
        if (code !== true) expect(text.replaceAll(/`[^`\n]*`/g, '')).not.toMatch(/\[\d{1,4}\]/)
      }
    }),
    { numRuns: 300 },
  )
})

test('a megabyte of anything is answered or refused in time', () => {
  const elapsed = stopwatch()
  const question = 'Who built the lighthouse of Harn? '.repeat(30_000)
  for (const text of [
    'lighthouse '.repeat(40_000),
    'a'.repeat(400_000),
    '漢'.repeat(100_000),
    '(. '.repeat(100_000),
    'Ida Marsh '.repeat(30_000),
    '\n'.repeat(400_000),
  ]) {
    expect(answerFromPassages(question, [passage('1', 'Harn', text, 1)]).quotes.length).toBeLessThanOrEqual(3)
  }
  expect(elapsed()).toBeLessThan(15_000)
})

test.each([
  ['a sentence of as many clauses', { text: `// lighthouse\nfunction lighthouse(${'a, '.repeat(300_000)}) {}`, isCode: true }],
  ['a cell with as many spaces', { text: `name,built\nlighthouse,by${' '.repeat(500_000)}Ida\nx,y`, isTable: true }],
  ['a remark with as many spaces', { text: `// lighthouse${' '.repeat(300_000)}is lit.\nlight()`, isCode: true }],
  ['as many columns', { text: `${'a,'.repeat(140_000)}b\n${'c,'.repeat(140_000)}d`, isTable: true }],
  ['a cell of as many lines', { text: `"lighthouse",b\n${`"${'x\n'.repeat(33_000)}",`.repeat(9)}`, isTable: true }],
])('hundreds of thousands in one place are read once: %s', (_, more) => {
  const passages = [{ ...passage('1', 'Harn', '', 1), ...more }]
  expect(answerFromPassages('Who built the lighthouse?', passages).quotes.length).toBeLessThanOrEqual(3)
})

test.each([' ', '*', '\n ', '*/ '])('the margin of a remark is found among hundreds of thousands of %j', (sign) => {
  const quote = { marker: '1', start: 0, end: 1, text: `a${sign.repeat(300_000)}b`, remark: true }
  expect(paragraph(quote)).toMatch(/^a[^]*b \[1\]$/)
})
