/** Tests questions over one to seven short documents, too few to distinguish rare words from common ones. */

import { describe, expect, test } from 'vitest'
import { MemoryDocumentStore, QueryBot } from '../../src/index.ts'

const OTHERS = [
  'Sheep graze on the hill.',
  'Rye is a kind of grain.',
  'The moon has no air.',
  'Carpets are woven by hand.',
  'Bees gather pollen in June.',
  'Glass is made of sand.',
]

async function answerOf(text: string, question: string, others: number): Promise<boolean> {
  const store = new MemoryDocumentStore()
  await store.extend([text, ...OTHERS.slice(0, others)].map((each, at) => ({ source: `${at}.md`, text: each })))
  const bot = new QueryBot({ docstore: store, model: 'builtin/extractive', recorder: false, streamTarget: 'none' })
  const answer = await bot.ask(question)
  if (answer.abstained !== true) expect(answer.citations?.[0]?.quote).toBe(text)
  return answer.abstained !== true
}

describe.each([0, 1, 6])('QRY-RAG-022 beside %d other documents', (others) => {
  test.each([
    ['How long is the bridge?', 'The bridge measures 300 metres.'],
    ['How tall is the tower?', 'The tower rises 90 metres above the square.'],
    ['When was the mill built?', 'The mill was built in 1874.'],
    ['What is the capital of Freedonia?', 'The capital of Freedonia is Glimmer.'],
    ['How many days do I have to ask for a refund?', 'Refunds are granted within 30 days of purchase.'],
    ['How long must the password be?', 'The password must have at least twelve characters.'],
    ['Which port does the server use?', 'The server listens on port 4242 by default.'],
    ['What port is used by default?', 'The server listens on port 4242 by default.'],
    ['What is a baby llama called?', 'A young llama is called a cria.'],
    ['How much does tea cost?', 'Tea costs two euros, coffee three.'],
    ['What time does the library close on Fridays?', 'The library closes at 18:00 on Fridays.'],
    ['How often does the tide turn?', 'The tide turns every six hours.'],
    ['How often do backups run?', 'Backups run weekly.'],
  ])('%j is answered', async (question, text) => {
    expect(await answerOf(text, question, others)).toBe(true)
  })

  test.each([
    ['Who owns the bakery?', 'The mill was built in 1874.'],
    ['Which train goes to Lisbon?', 'Alice leads the payments team.'],
    ['Is there a swimming pool?', 'The tide turns every six hours.'],
    ['How do I reset my password?', 'Tea costs two euros.'],
  ])('%j is refused', async (question, text) => {
    expect(await answerOf(text, question, others)).toBe(false)
  })
})
