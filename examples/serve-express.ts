/** Sends answers as server-sent events on Express. A client that loses its connection resumes the stream; the turn continues meanwhile. */

import { strict as assert } from 'node:assert'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { AsyncSimpleBot, isCriaError, lastEventId, openRecorder, startTurn, toResponse } from 'cria'
import express from 'express'

const recorder = await openRecorder({ path: ':memory:' })
// In your server, name a model such as 'openai/gpt-5-mini', without `mockResponse`.
const bot = new AsyncSimpleBot({ model: 'builtin/extractive', mockResponse: 'Six times seven.', recorder })

const app = express()
app.use(express.json({ limit: '64kb' }))
app.post('/ask', async (req, res) => {
  const { question } = req.body as { question?: unknown }
  const { turnId } = await startTurn(bot.events(String(question), { userId: 'ada', tags: ['web'] }))
  await send(toResponse(recorder.follow(turnId)), res)
})
app.get('/turns/:id/events', async (req, res) => {
  await send(toResponse(recorder.follow(req.params.id, { after: lastEventId(req.headers) })), res)
})
app.use(((error, _req, res, next) => {
  if (res.headersSent) next(error)
  else if (isCriaError(error))
    res.status(error.code === 'not_found' ? 404 : 500).json({ code: error.code, message: error.message })
  else res.status(500).json({ message: 'Internal error.' })
}) satisfies express.ErrorRequestHandler)

/** Writes a standard response. When the client disconnects, reading the events stops; the turn continues. */
async function send(response: Response, res: express.Response): Promise<void> {
  res.writeHead(response.status, Object.fromEntries(response.headers))
  await pipeline(Readable.fromWeb(response.body as ReadableStream), res).catch(() => {})
}

// Requests of a client.
const server = app.listen(0)
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const leaving = new AbortController()
const first = await fetch(`${url}/ask`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ question: 'What makes 42?' }),
  signal: leaving.signal,
})
const reader = first.body?.pipeThrough(new TextDecoderStream()).getReader()
let text = ''
while (!text.includes('id: 0')) text += (await reader?.read())?.value ?? ''
leaving.abort()
const turnId = /"turnId":"(\w+)"/.exec(text)?.[1] ?? ''
const rest = await fetch(`${url}/turns/${turnId}/events`, { headers: { 'last-event-id': '0' } })
assert.equal(rest.headers.get('content-type'), 'text/event-stream; charset=utf-8')
const body = await rest.text()
assert(!body.includes('id: 0\n') && body.includes('id: 1\n') && body.includes('"type":"complete"'))
assert.equal((await fetch(`${url}/turns/turn_x/events`)).status, 404)
assert.equal((await recorder.read.turns({ userId: 'ada', tags: ['web'] })).turns.length, 1)
server.close()
server.closeAllConnections()
await recorder.close()
console.log('taken up after event 0')
