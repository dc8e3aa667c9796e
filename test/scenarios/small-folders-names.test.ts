/** Names with digits and hyphens, and what is written in code, in questions to one or a few short documents. */

import { expect, test } from 'vitest'
import { MemoryDocumentStore, QueryBot } from '../../src/index.ts'

async function ask(documents: Readonly<Record<string, string>>, question: string): Promise<string> {
  const store = new MemoryDocumentStore()
  await store.extend(
    Object.entries({ ...OTHERS, ...documents }).map(([source, text]) => ({
      source,
      text,
      format: source.endsWith('.md') ? 'markdown' : 'code',
    })),
  )
  const bot = new QueryBot({ docstore: store, model: 'builtin/extractive', recorder: false, streamTarget: 'none' })
  const { abstained, content } = await bot.ask(question)
  return abstained ? REFUSED : content.replaceAll(/\s\[\d\]/g, '').replaceAll('\n\n', ' / ')
}

const REFUSED = 'refused'

/** They stand beside every document, and say words that a question may lack in the right one. */
const OTHERS = {
  'fields.md':
    'Sheep graze on the hill, and the price of wool is 3 euros. The museum costs 6 euros and was opened in 2019. The office has 12 desks.\n',
  'garden.md': '# Garden\n\n| Plant | Height | Colour |\n|---|---|---|\n| Rose | 90 cm | red |\n| Fern | 40 cm | green |\n',
}

const PUMPS =
  '# Pumps\n\nThree people run the site. Tablets are given five times a day.\n\n## Error codes\n\n| Code | Meaning |\n|---|---|\n| E1 | Water too low |\n| E2 | Lid open |\n| E3 | Sensor broken |\n| E4 | Base overheated |\n| E7 | No mains |\n'
const KETTLES =
  '# Kettles\n\nThe K2 is a kettle with variable temperature, made in Leeds. It went on sale in March and replaced the K1, which was sold for three years.\n\n| Property | K2 Standard | K2 Pro |\n|---|---|---|\n| Capacity | 1.2 litres | 1.7 litres |\n| Weight | 980 g | 1340 g |\n| Price | £79 | £119 |\n\nHold the lever for three seconds to switch on keep-warm. The kettle then holds the temperature for 30 minutes and switches itself off.\n'
const ROOMS =
  '# Rooms\n\nRoom R12 holds eight people. It was painted last year. R14 holds twelve.\n\n## Screens\n\n| Room | Seats | Screen |\n|---|---|---|\n| R12 | 8 | yes |\n| R15 | 4 | |\n'
const MARKS = 'The Mark-2 was built in 1951. Its successor Mark-3 was built in 1955 and weighs 3 tonnes.\n'
const FLIGHTS = '# Flights\n\nApollo-11 landed in 1969. COVID-19 closed the museum. The F-16 flies at Mach 2.\n'

const SYSTEMS = 'Windows 10 is supported until 2025. Windows 11 is supported until 2031.\n'
const FAULTS = 'Error 1: paper jam. Error 2: door open. Error 4: toner empty.\n'

test.each([
  ['Until when is Windows 11 supported?', SYSTEMS, /2031/],
  ['Until when is Windows 12 supported?', SYSTEMS, REFUSED],
  ['What does error 2 mean?', FAULTS, /door open/],
  ['What does error 3 mean?', FAULTS, REFUSED],
  ['how much does pump p2 move', 'Pump P1 moves 5 litres a minute. Pump P2 moves 9 litres a minute.\n', /P2 moves 9 litres/],
  ['how much does pump p3 move', 'Pump P1 moves 5 litres a minute. Pump P2 moves 9 litres a minute.\n', REFUSED],
  ['What does error E4 mean?', PUMPS, 'Base overheated'],
  ['What does E3 mean?', PUMPS, 'Sensor broken'],
  ['What does error E6 mean?', PUMPS, REFUSED],
  ['What does E6 mean?', PUMPS, REFUSED],
  ['What is the price of A5?', PUMPS, REFUSED],
  ['How often is A5 given a day?', PUMPS, REFUSED],
  ['What is the K3?', KETTLES, REFUSED],
  ['How much does the K3 cost?', KETTLES, REFUSED],
  ['What is the capacity of the K1?', KETTLES, REFUSED],
  ['What is the weight of the K1?', KETTLES, REFUSED],
  ['What is the capacity of the K2 Pro?', KETTLES, '1.7 litres'],
  ['How much does the K2 Standard cost?', KETTLES, '£79'],
  ['How many people does R14 hold?', ROOMS, /R14 holds twelve/],
  ['When was R12 painted?', ROOMS, /painted last year/],
  ['When was R14 painted?', ROOMS, REFUSED],
  ['Does R15 have a screen?', ROOMS, REFUSED],
  ['How many people does R13 hold?', ROOMS, REFUSED],
  ['How much does the Mark-3 weigh?', MARKS, /3 tonnes/],
  ['How much does the Mark-2 weigh?', MARKS, REFUSED],
  ['When was the Mark-4 built?', MARKS, REFUSED],
  ['When did Apollo 11 land?', FLIGHTS, /^Apollo-11 landed/],
  ['How fast does the F16 fly?', FLIGHTS, /The F-16 flies/],
  ['How fast does the F 16 fly?', FLIGHTS, /The F-16 flies/],
  ['How fast does the F-18 fly?', FLIGHTS, REFUSED],
  ['What did covid close?', FLIGHTS, /COVID-19 closed/],
])('QRY-RAG-022 a letter and its number are one name: %j', async (question, text, expected) => {
  expect(await ask({ 'a.md': text }, question)).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected))
})

const MAP = '# river-map\n\nThe river-map library draws rivers. It was made in Ghent. Maps are saved as SVG files.\n'
const STORE = '# Cloud Store\n\nCloud Store keeps files in Oslo. It was founded in 2015. Files are kept for 30 days.\n'
const LEDGER =
  '# ledger-lite\n\nA small double-entry ledger library. Amounts are kept as integers of the smallest unit (cents), never as floats.\n\n## Design\n\nEntries are immutable once posted. A journal is saved to disk as JSON lines. There is no support for more than one currency in a ledger.\n\n## Licence\n\nMIT. Maintained by Ida Sol.\n'

test.each([
  ['Where was river-map made?', MAP, /Ghent/],
  ['What does river-map do?', MAP, /draws rivers/],
  ['Does river-map support PostgreSQL?', MAP, REFUSED],
  ['Who wrote river-map?', MAP, REFUSED],
  ['How much does river-map cost?', MAP, REFUSED],
  ['When was Cloud Store founded?', STORE, /2015/],
  ['Who wrote Cloud Store?', STORE, REFUSED],
  ['How much does Cloud Store cost?', STORE, REFUSED],
  ['Does Cloud Store support FTP?', STORE, REFUSED],
  ['Who maintains ledger-lite?', LEDGER, /Ida Sol/],
  ['Are amounts stored as floats?', LEDGER, /never as floats/],
  ['Does ledger-lite support PostgreSQL?', LEDGER, REFUSED],
  ['Who wrote ledger-lite?', LEDGER, REFUSED],
  ['When was ledger-lite first released?', LEDGER, REFUSED],
])('QRY-RAG-022 the parts of a name count once: %j', async (question, text, expected) => {
  expect(await ask({ 'a.md': text }, question)).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected))
})

const BOOK = `/** How often a failed upload is tried again before it is given up. */
const UPLOAD_ATTEMPTS = 5

/** Keeps books. */
export class Book {
  /** Refuses entries dated on or before the day from then on. */
  closeMonth(until: string): void {
    if (until > this.#until) this.#until = until
  }

  /**
   * Gives the sum of all lines.
   *
   * @returns cents.
   */
  total(): number {
    return this.lines.reduce((sum, line) => sum + line.amount, 0)
  }
}
`
const SOURCES = {
  'a.ts': `import { readFile } from 'node:fs/promises'\n\n${BOOK}`,
  'b.ts':
    "import { randomUUID } from 'node:crypto'\n\n/** A new id, which a book needs. */\nexport const next = () => randomUUID()\n",
  'c.ts': "import { join } from 'node:path'\n\n/** Where books are kept. */\nexport const folder = join('a', 'b')\n",
  'd.ts': "import { cpus } from 'node:os'\n\n/** How many shelves are read at once. */\nexport const atOnce = cpus().length\n",
}
const SHELF = `/**
 * How many books
 * fit on one shelf.
 */
export const SHELF_SIZE = 40
`
const LOCK = `def fill(lock):
    """Lets water in until both sides are level.

    It is slow.
    """
    return lock

# Opens the gates, once the sides are level.
@slow
def open_gates(lock):
    fill(lock)
`
const BOOK_TEST = `test('closeMonth refuses what is older', () => {
  const book = new Book()
  book.closeMonth('2024-01-31')
  expect(() => book.closeMonth('2023-12-31')).toThrow()
})
`
const SETTINGS =
  '# Settings\n\n| What | Value |\n|---|---|\n| How often a failed write is tried again before it is given up | 5 |\n| Where backups are kept by the nightly job | on the NAS in room 4 |\n'
const TALLY =
  '# tally\n\nA small library for tallies.\n\n## Install\n\n```sh\nnpm install tally\n```\n\nNeeds Node 18 or newer.\n\n## Licence\n\nMIT.\n'

test.each<[string, Readonly<Record<string, string>>, RegExp]>([
  ['How often is a failed upload tried again?', { 'a.ts': BOOK }, /UPLOAD_ATTEMPTS = 5/],
  ['How often is a failed write tried again?', { 'a.md': SETTINGS }, /^5$/],
  ['Where are backups kept?', { 'a.md': SETTINGS }, /^on the NAS in room 4$/],
  ['What does closeMonth do?', { 'a.ts': BOOK }, /^Refuses entries dated on or before the day from then on\.$/],
  [
    'What does closeMonth do?',
    { 'a.ts': BOOK, 'a.test.ts': BOOK_TEST },
    /^Refuses entries dated on or before the day from then on\.$/,
  ],
  ['What does total do?', { 'a.ts': BOOK, 'a.test.ts': BOOK_TEST }, /^Gives the sum of all lines\.$/],
  ['How many books fit on one shelf?', { 'a.ts': SHELF }, /^`How many books fit on one shelf\. export const SHELF_SIZE = 40`$/],
  ['What is SHELF_SIZE?', { 'a.ts': SHELF }, /SHELF_SIZE = 40/],
  ['What is the value of SHELF_SIZE?', { 'a.ts': SHELF }, /SHELF_SIZE = 40/],
  ['What does fill do?', { 'a.py': LOCK }, /^Lets water in until both sides are level\.$/],
  ['What does open_gates do?', { 'a.py': LOCK }, /^Opens the gates, once the sides are level\.$/],
  ['What does close_gates do?', { 'a.py': LOCK }, /^refused$/],
  [
    'What does next do?',
    { ...SOURCES, 'e.test.ts': "const cases = [\n  ['an id', next()],\n  ['another', next()],\n]\n" },
    /^A new id, which a book needs\.$/,
  ],
  [
    'What does pack do?',
    {
      'a.ts': "/** Boxes are brown. */\nimport { pack } from './pack.ts'\n\npack(box)\n",
      'pack.ts': 'export function pack(box) {\n}\n',
    },
    /^`export function pack\(box\) \{`$/,
  ],
  ['Which Node version is needed?', { 'a.md': TALLY }, /Node 18/],
  ['Which Node version is needed?', { 'a.md': TALLY, ...SOURCES }, /Node 18/],
  ['Which version of Node do I need?', { 'a.md': TALLY, ...SOURCES }, /Node 18/],
  ['Which Python version is needed?', { 'a.md': TALLY, ...SOURCES }, /^refused$/],
])('QRY-RAG-022 what only says the question again is not quoted: %j', async (question, documents, expected) => {
  expect(await ask(documents, question)).toMatch(expected)
})

const PEOPLE = {
  'adler.md': '# Rosa Adler\n\nRosa Adler was a chemist born in Norway. She developed the first dye that does not fade.\n',
  'acorn.md': '# Acorn\n\nThe company Acorn was founded by Hanna Vogt and Luis Prado. Its first computer was sold in 1979.\n',
  'ether.md': '# Ether\n\nIn 1887 the Holm–Berg experiment was carried out in Aarhus. It found no sign of the ether.\n',
  'rail.md': '# Railway\n\nThe narrow gauge railway runs between Tal and Berg. Its steam engine was built in 1904.\n',
  'owls.md': '# Owls\n\nYoung owls are leaving the nest earlier since the winters are milder.\n',
}

test.each<[string, RegExp]>([
  ['Which Norway-born chemist developed the first dye that does not fade?', /Rosa Adler/],
  ['Who were the co-founders of Acorn?', /Hanna Vogt and Luis Prado/],
  ['When was the Holm-Berg experiment carried out?', /1887/],
  ['When was the steam-engine of the narrow-gauge railway built?', /1904/],
  ['Why Are Young Owls Leaving the Nest Earlier?', /milder/],
])('QRY-RAG-022 a hyphen, or a capital, makes no name of other words: %j', async (question, expected) => {
  expect(await ask(PEOPLE, question)).toMatch(expected)
})

const ASKED_OTHERWISE = {
  'voss.md':
    '# Lena Voss\n\nLena Voss (1680–1751) was a Danish architect from Orm. Besides the cathedral she designed the fish market.\n',
  'assembly.md':
    '# Second Assembly\n\nThe Second Assembly met in Ostmark in 1851. It gave women the right to own land and abolished the grain tax.\n',
  'ovens.md':
    '# Ovens\n\n| Gas mark | Celsius | Fahrenheit |\n|---|---|---|\n| 2 | 150 | 300 |\n| 4 | 180 | 350 |\n| 6 | 200 | 400 |\n',
  'staff.csv':
    'id,name,department,city,start_date,salary_eur\n1,Anna Kowalski,Engineering,Riga,2021-05-03,68000\n2,Elif Demir,Sales,Izmir,2022-05-30,71000\n3,Piet Maas,Engineering,Ghent,2019-03-01,59000\n',
  'travel.md':
    '# Travel\n\n| Grade | Hotel per night | Rail class |\n|---|---|---|\n| A | £95 | Standard |\n| B | £120 | First |\n',
  'errors.md':
    '# Errors\n\n| Code | Meaning | What to do |\n|---|---|---|\n| TW-204 | The bucket is full | Delete objects or raise the quota |\n| TW-301 | No answer within 30 seconds | Try again |\n',
  'leute.csv': 'Name;Alter;Ort;Gehalt;Eintritt\nEva Maier;34;Graz;3.400,50;2015-02-01\nTom Huber;51;Wien;4.100,00;2011-10-15\n',
}

test.each<[string, RegExp]>([
  ['What do we know about Lena Voss?', /architect/],
  ["What was Lena Voss's job?", /architect/],
  ['What nationality was Lena Voss?', /Danish/],
  ['What is Lena Voss known for?', /cathedral/],
  ['What is gas mark 6 in Celsius?', /^200$/],
  ['How much does Anna Kowalski earn?', /^68000$/],
  ['Who works in Engineering?', /^Anna Kowalski \/ Piet Maas$/],
  ['When was Mr Maas hired?', /^2019-03-01$/],
  ['Where is Elif Demir based?', /^Izmir$/],
  ['What rail class may grade A travel?', /^Standard$/],
  ['Explain error TW-301', /^No answer within 30 seconds$/],
  ['What is the fix for TW-204?', /^Delete objects or raise the quota$/],
  ['What does TW-555 mean?', /^refused$/],
  ['Did the Second Assembly meet before 1900?', /1851/],
  ['Wie alt ist Eva Maier?', /^34$/],
  ['Wo wohnt Tom Huber?', /^Wien$/],
  ['Who wrote about Lena Voss?', /^refused$/],
  ['Who was president of the Second Assembly?', /^refused$/],
  ['Did the Second Assembly abolish slavery in Peru?', /^refused$/],
])('QRY-RAG-022 what is asked of a name in other words is answered with what is said of it: %j', async (question, expected) => {
  expect(await ask(ASKED_OTHERWISE, question)).toMatch(expected)
})
