/** Names with digits and hyphens, and what is written in code, in questions to one or a few short documents. */

import { expect, test } from 'vitest'
import { MemoryDocumentStore, QueryBot } from '../../src/index.ts'

async function ask(documents: Readonly<Record<string, string>>, question: string): Promise<string> {
  const store = new MemoryDocumentStore()
  await store.extend(
    Object.entries(documents).map(([source, text]) => ({ source, text, format: source.endsWith('.ts') ? 'code' : 'markdown' })),
  )
  const bot = new QueryBot({ docstore: store, model: 'builtin/extractive', recorder: false, streamTarget: 'none' })
  const { abstained, content } = await bot.ask(question)
  return abstained ? REFUSED : content.replaceAll(/\s\[\d\]/g, '').replaceAll('\n\n', ' / ')
}

const REFUSED = 'refused'

const PUMPS =
  '# Pumps\n\nThree people run the site. Tablets are given five times a day.\n\n## Error codes\n\n| Code | Meaning |\n|---|---|\n| E1 | Water too low |\n| E2 | Lid open |\n| E3 | Sensor broken |\n| E4 | Base overheated |\n| E7 | No mains |\n'
const KETTLES =
  '# Kettles\n\nThe K2 is a kettle with variable temperature, made in Leeds. It went on sale in March and replaced the K1, which was sold for three years.\n\n| Property | K2 Standard | K2 Pro |\n|---|---|---|\n| Capacity | 1.2 litres | 1.7 litres |\n| Weight | 980 g | 1340 g |\n| Price | £79 | £119 |\n\nHold the lever for three seconds to switch on keep-warm. The kettle then holds the temperature for 30 minutes and switches itself off.\n'
const FLIGHTS = '# Flights\n\nApollo-11 landed in 1969. COVID-19 closed the museum. The F-16 flies at Mach 2.\n'

test.each([
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
  ['When did Apollo 11 land?', FLIGHTS, /^Apollo-11 landed/],
  ['How fast does the F16 fly?', FLIGHTS, /The F-16 flies/],
  ['How fast does the F 16 fly?', FLIGHTS, /The F-16 flies/],
  ['How fast does the F-18 fly?', FLIGHTS, REFUSED],
  ['What did covid close?', FLIGHTS, /COVID-19 closed/],
])('QRY-RAG-022 a letter and its number are one name: %j', async (question, text, expected) => {
  expect(await ask({ 'a.md': text }, question)).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected))
})

const MAP = '# river-map\n\nThe river-map library draws rivers. It was made in Ghent. Maps are saved as SVG files.\n'
const LEDGER =
  '# ledger-lite\n\nA small double-entry ledger library. Amounts are kept as integers of the smallest unit (cents), never as floats.\n\n## Design\n\nEntries are immutable once posted. A journal is saved to disk as JSON lines. There is no support for more than one currency in a ledger.\n\n## Licence\n\nMIT. Maintained by Ida Sol.\n'

test.each([
  ['Where was river-map made?', MAP, /Ghent/],
  ['What does river-map do?', MAP, /draws rivers/],
  ['Does river-map support PostgreSQL?', MAP, REFUSED],
  ['Who wrote river-map?', MAP, REFUSED],
  ['How much does river-map cost?', MAP, REFUSED],
  ['Who maintains ledger-lite?', LEDGER, /Ida Sol/],
  ['Are amounts stored as floats?', LEDGER, /never as floats/],
  ['Does ledger-lite support PostgreSQL?', LEDGER, REFUSED],
  ['Who wrote ledger-lite?', LEDGER, REFUSED],
  ['When was ledger-lite first released?', LEDGER, REFUSED],
])('QRY-RAG-022 the parts of a name count once: %j', async (question, text, expected) => {
  expect(await ask({ 'a.md': text }, question)).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected))
})
