/** Reads the files of a folder: PDF and Word files in a thread, HTML and text here. */

import { chunkDocument, loadDocuments, QueryBot, MemoryDocumentStore } from 'cria'

const skipped: string[] = []
const found = await loadDocuments(['files'], { onSkip: ({ reason }) => skipped.push(reason) })
const documents = await found.toArray()
const store = new MemoryDocumentStore()
await store.extend(documents)
const bot = new QueryBot({ docstore: store, model: 'builtin/extractive', recorder: false, streamTarget: 'none' })
const { content } = await bot.ask('What is a young llama called?')

console.log(
  JSON.stringify({
    read: documents.map(({ source, text }) => `${source}: ${text.includes('cria')}`).toSorted(),
    skipped,
    chunks: documents.flatMap((document) => chunkDocument(document)).length,
    answer: content.includes('cria'),
  }),
)
