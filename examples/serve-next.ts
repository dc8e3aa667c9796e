/**
 * Route handlers for Next.js, and for any other framework whose handlers receive a `Request` and return a `Response`. In Next, export each handler
 * from a file of its own, `app/api/ask/route.ts` and `app/api/turns/[id]/events/route.ts`, under the name of its method.
 */

import { strict as assert } from 'node:assert'
import { AsyncSimpleBot, isCriaError, lastEventId, openRecorder, startTurn, toResponse } from 'cria'

// In a file that both routes import: opened once per process.
const recorder = await openRecorder({ path: ':memory:' })
// In your application, name a model such as 'openai/gpt-5-mini', without `mockResponse`.
const bot = new AsyncSimpleBot({ model: 'builtin/extractive', mockResponse: 'Six times seven.', recorder })

/** app/api/ask/route.ts */
async function POST(request: Request): Promise<Response> {
  const { question } = (await request.json()) as { question: string }
  const { turnId } = await startTurn(bot.events(question))
  return toResponse(recorder.follow(turnId))
}

/** app/api/turns/[id]/events/route.ts */
async function GET(request: Request, { params }: { params: Promise<{ id: string }> }): Promise<Response> {
  try {
    return toResponse(recorder.follow((await params).id, { after: lastEventId(request.headers) }))
  } catch (error) {
    if (isCriaError(error) && error.code === 'not_found') return Response.json({ message: error.message }, { status: 404 })
    throw error
  }
}

// Requests of a client.
const body = JSON.stringify({ question: 'What makes 42?' })
const asked = await (await POST(new Request('http://localhost/api/ask', { method: 'POST', body }))).text()
const id = /"turnId":"(\w+)"/.exec(asked)?.[1] ?? ''
const take = (turnId: string, lastEvent: string): Promise<Response> =>
  GET(new Request('http://localhost/api', { headers: { 'last-event-id': lastEvent } }), {
    params: Promise.resolve({ id: turnId }),
  })
const again = await (await take(id, '1')).text()
assert(!again.includes('id: 1\n') && again.includes('id: 2\n') && again.includes('"type":"complete"'))
assert.equal((await take('turn_x', '')).status, 404)
await recorder.close()
console.log('answered, and read again from event 2')
