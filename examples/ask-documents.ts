/** Answers a question from documents without an API key: the builtin model quotes the best passages and cites them. */

import { strict as assert } from 'node:assert'
import { loadDocuments, QueryBot, SqliteDocumentStore } from 'cria'

const store = await SqliteDocumentStore.open({ path: ':memory:' })
await store.extend(await loadDocuments(['docs/architecture.md']))

const bot = new QueryBot({ docstore: store, model: 'builtin/extractive', streamTarget: 'none', recorder: false })
const answer = await bot.ask('When is the row of a turn written?')

console.log(answer.content)
for (const { marker, source, lines, quote } of answer.citations ?? []) {
  console.log(`[${marker}] ${source}:${lines?.[0] ?? 1}  ${JSON.stringify(quote.slice(0, 60))}`)
}
assert(answer.citations?.every((citation) => citation.supported))
await store.close()
