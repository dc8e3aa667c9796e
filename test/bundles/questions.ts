/** Answers a question as a server would: with documents in a file, searched in a thread, a journal, and a model over HTTP. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AsyncQueryBot, createModel, openRecorder, SqliteDocumentStore } from 'cria'

const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const choice = (content: string, finish_reason: string | null): string =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason }] })}\n\n`
  response.end(`${choice('A cria [1].', null)}${choice('', 'stop')}data: [DONE]\n\n`)
})
await new Promise<void>((resolve) => {
  server.listen(0, '127.0.0.1', resolve)
})
const { port } = server.address() as AddressInfo

const docstore = await SqliteDocumentStore.open({ path: 'documents.db' })
await docstore.append({ source: 'llamas.md', text: 'A young llama is called a cria.' })
// Large enough to be indexed in a thread.
await docstore.append({ source: 'large.txt', text: 'Sheep graze on the hill. '.repeat(50_000) })
const recorder = await openRecorder({ path: 'journal.db' })
const question = 'What is a young llama called?'
const quoted = await new AsyncQueryBot({ docstore, recorder, model: 'builtin/extractive' }).ask(question)
const model = createModel('openai-compatible/any', { baseURL: `http://127.0.0.1:${port}/v1` })
const asked = await new AsyncQueryBot({ docstore, recorder, model }).ask(question)
const { turns } = await recorder.read.turns()
const price = createModel('openai/gpt-5-mini').facts.price?.input

console.log(
  JSON.stringify({
    quoted: quoted.content.includes('cria'),
    asked: asked.content,
    citations: asked.citations?.length,
    turns: turns.length,
    price,
  }),
)
await docstore.close()
await recorder.close()
server.close()
