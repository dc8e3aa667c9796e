/** Tests questions about tables, settings and notes: the answer is the value, with a valid citation. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { MemoryDocumentStore, QueryBot } from '../../src/index.ts'
import type { SourceDocument } from '../../src/index.ts'

const DOCUMENTS: readonly SourceDocument[] = [
  {
    source: 'seeds.csv',
    format: 'csv',
    text: 'code,name,price,packets,grower\nS-7,Field bean,3.50,140,Morrow\nS-8,Sweet pea,2.80,65,Hallam & Sons\nT-1,Red clover,12.00,8,Morrow\n',
  },
  { source: 'villages.csv', format: 'csv', text: 'Dorf;Einwohner;Müller\nAltsee;12400;Karl Weiss\nNeusee;8300;Eva Sommer\n' },
  { source: 'orders.tsv', format: 'csv', text: 'order\tcustomer\ttotal\n7001\tMaria Silva\t250.00\n7002\tJens Holm\t99.50\n' },
  {
    source: 'boats.csv',
    format: 'csv',
    // Too long for one passage: the names of the columns stand in the first one.
    text: `boat,berth,owner,built\n${Array.from({ length: 120 }, (_, n) => `Cutter${n},${n + 200},Owner of ${n},${1900 + n}`).join('\n')}\n`,
  },
  {
    source: 'chapel.md',
    format: 'markdown',
    text: '# The chapel\n\nWarden: Pia Moos\nVerger: Emil Ott\n\nIt was planned in 1902. In 1911 lightning split the spire. Since 1950 it has been a library.\n',
  },
  {
    source: 'settings.json',
    format: 'json',
    text: JSON.stringify(
      {
        listener: { address: '0.0.0.0', port: 9443, secure: true },
        storage: { folder: '/srv/letters', poolSize: 24, timeoutSeconds: 15 },
        couriers: [
          { courier: 'Ines Falk', district: 'harbour' },
          { courier: 'Otto Brandt', district: 'old town' },
        ],
        retries: 6,
        notes: `Parcels wait in the cellar. ${'Nothing else is said here. '.repeat(15)}Wet stamps are dried on the radiator.`,
      },
      undefined,
      2,
    ),
  },
]

const LONGEST_QUOTE = 210

let docstore: MemoryDocumentStore
let bot: QueryBot

beforeAll(async () => {
  docstore = new MemoryDocumentStore()
  await docstore.extend(DOCUMENTS)
  bot = new QueryBot({ docstore, model: 'builtin/extractive', streamTarget: 'none', recorder: false })
})

afterAll(async () => {
  await docstore.close()
})

test.each([
  ['What is the price of red clover?', '12.00'],
  ['How many packets of field bean are there?', '140'],
  ['How many packets of sweet pea are there?', '65'],
  ['Who is the grower of sweet pea?', 'Hallam & Sons'],
  ['Wie viele Einwohner hat Altsee?', '12400'],
  ['What is the total of the order of Jens Holm?', '99.50'],
  ['Which berth does Cutter112 have?', '312'],
  ['Who is the verger?', 'Verger: Emil Ott'],
  ['What happened in 1911?', 'In 1911 lightning split the spire.'],
  ['Which port does the listener use?', '"port": 9443'],
  ['What is the pool size of the storage?', '"poolSize": 24'],
  ['Which courier has the old town district?', 'Otto Brandt'],
  ['Where are wet stamps dried?', 'Wet stamps are dried on the radiator.'],
])('QRY-RAG-022 %s %s', async (question, value) => {
  const { citations } = await bot.ask(question)
  expect(citations?.[0]?.quote.length).toBeLessThan(LONGEST_QUOTE)
  expect(citations?.[0]).toMatchObject({ quote: expect.stringContaining(value), supported: true, kind: 'verbatim' })
})
