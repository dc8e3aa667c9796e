import { describe, expect, test } from 'vitest'
import { readCitations } from '../cite.ts'

function isSupported(answer: string, text: string): boolean | undefined {
  const chunk = { id: 'c1', text, source: 'table.md', start: 0, end: text.length, metadata: {}, score: 1 }
  return readCitations(`${answer} [1].`, [{ marker: '1', origin: 'docstore', store: 'docs', chunk }])[0]?.supported
}

const tableOf = (column: string, [one, two, three]: readonly string[]): string =>
  `| ${column} | Fee per day | Colour |\n|---|---|---|\n| ${one} | £31 | red |\n| ${two} | £47 | blue |\n| ${three} | £58 | green |`

describe.each([
  ['Berth', 'A', 'B', 'C'],
  ['Berth', 'K', 'L', 'M'],
  ['Berth', 'L', 'M', 'N'],
  ['Berth', 'x', 'y', 'z'],
  ['Berth', 'a', 'b', 'c'],
  ['Berth', 'Ä', 'Ö', 'Ü'],
  ['Berth', 'α', 'β', 'γ'],
  ['Berth', 'А', 'Б', 'В'],
  ['Berth', '甲', '乙', '丙'],
  ['Berth', 'B', 'B+', 'B-'],
  ['Berth', 'I', 'V', 'X'],
  ['Berth', '**P**', '`Q`', 'R'],
  ['Tool', 'C', 'C++', 'C#'],
  ['Tool', 'C', 'R', 'Go'],
  ['Size', 'S', 'M', 'XL'],
])('QRY-RAG-022 rows of %s that are called %s, %s and %s', (column, ...keys) => {
  const text = tableOf(column, keys)
  const fees = ['£31', '£47', '£58']
  const colours = ['red', 'blue', 'green']
  const named = column.toLowerCase()
  const names = keys.map((key) => key.replaceAll(/[*`]/g, ''))
  test.each(
    names.flatMap((key, row) => fees.map((fee, at) => [`The fee of ${named} ${key} is ${fee} per day`, row === at] as const)),
  )('%s', (answer, supported) => {
    expect(isSupported(answer, text)).toBe(supported)
  })
  test.each(names.flatMap((key, row) => colours.map((colour, at) => [`${column} ${key} is ${colour}`, row === at] as const)))(
    '%s',
    (answer, supported) => {
      expect(isSupported(answer, text)).toBe(supported)
    },
  )
})

const LINES = `line,interval,end
A,every 12 min,Harbour
B,every 24 min,Airport
C,every 36 min,Zoo`

const PUMPS = '| Property | A | B |\n|---|---|---|\n| Flow | 40 | 65 |\n| Weight | 6 | 9 |'

const STAFF = '| Name | Grade | Town |\n|---|---|---|\n| Ann Poe | A | Hull |\n| Bo Ray | B | York |\n| Cy Dow | B | Hull |'

const SYMBOLS = `| Symbol | Element | Number |
|---|---|---|
| H | Hydrogen | 1 |
| He | Helium | 2 |
| N | Nitrogen | 7 |
| O | Oxygen | 8 |`

const CODES = 'code,language,speakers\nen,English,380\nde,German,95\nit,Italian,65'

const BLOCKS =
  '| Block | Floor | Tenant |\n|---|---|---|\n| A | 2 | Rowan Ltd |\n| B | 3 | J. C. Hart |\n| C | 5 | Plan B Media |'

const GRADES = '| 等级 | 标准 |\n|---|---|\n| 甲 | 95 |\n| 乙 | 120 |\n| 丙 | 160 |'

test.each([
  ['Oxygen (O) and nitrogen (N) have the numbers 8 and 7', true, SYMBOLS],
  ['Oxygen (N) has the number 8', false, SYMBOLS],
  ['H has number 1 and He number 2', true, SYMBOLS],
  ['H has number 2 and He number 1', false, SYMBOLS],
  ['German (de) has 95 speakers', true, CODES],
  ['Italian (de) has 65 speakers', false, CODES],
  ['English has 380 speakers, and it is spoken widely', true, CODES],
  ['Block C is let to Plan B Media', true, BLOCKS],
  ['Block B is let to Plan B Media', false, BLOCKS],
  ['Block B is let to J. C. Hart', true, BLOCKS],
  ['J. C. Hart is on floor 3', true, BLOCKS],
  ['乙的标准为120', true, GRADES],
  ['乙的标准为160', false, GRADES],
  ['乙级的标准为120', true, GRADES],
  ['乙级的标准为160', false, GRADES],
  ['Line B goes to the Airport every 24 min', true, LINES],
  ['line b goes to the Airport', true, LINES],
  ['line b goes to the Zoo', false, LINES],
  ['B goes to the Zoo', false, LINES],
  ['A goes to the Harbour', true, LINES],
  ['A goes to the Zoo', false, LINES],
  ["B's end is the Airport", true, LINES],
  ["B's end is the Zoo", false, LINES],
  ['Lines A and B go to the Harbour and the Airport', true, LINES],
  ['Line A goes to the Harbour and line C to the Zoo', true, LINES],
  ['Line A goes to the Zoo and line C to the Harbour', false, LINES],
  ['Line A runs every 12 min, B every 24 min and C every 36 min', true, LINES],
  ['Line A runs every 12 min, B every 36 min and C every 24 min', false, LINES],
  ['Line D goes to the Zoo', false, LINES],
  // Here the letters are words, initials and units.
  ['A line goes to the Zoo every 36 min', true, LINES],
  ['There is a line to the Zoo every 36 min', true, LINES],
  ["C'est toutes les 24 min pour Airport, line B", true, LINES],
  ['The flow of B is 65', true, PUMPS],
  ['The flow of A is 65', false, PUMPS],
  ['The flow of A is 40 and that of B is 65', true, PUMPS],
  ['Ann Poe has grade A', true, STAFF],
  ['Ann Poe has grade B', false, STAFF],
  ['Bo Ray of grade B works in York', true, STAFF],
  ['Bo Ray of grade A works in York', false, STAFF],
  ['Ann Poe lives in a house in Hull', true, STAFF],
])('QRY-RAG-022 a letter is a name only where a table has it as one: %s', (answer, supported, text) => {
  expect(isSupported(answer, text)).toBe(supported)
})
