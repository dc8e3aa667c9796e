/**
 * Serves answers on Hono as server-sent events that a client can resume. Tool permissions are decided over HTTP, by any process that receives
 * the request.
 */

import { strict as assert } from 'node:assert'
import { CriaError, defineTool, isCriaError, lastEventId, openRecorder, query, startTurn, toResponse } from 'cria'
import type { PermissionAnswer, QueryEvent, QueryOptions } from 'cria'
import { ScriptedModel } from 'cria/testing'
import { Hono } from 'hono'

const recorder = await openRecorder({ path: ':memory:' })
const sent: string[] = []
const sendMail = defineTool({
  name: 'send_mail',
  description: 'Sends a mail.',
  inputSchema: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
  call: (input: { to: string }) => {
    sent.push(input.to)
    return 'Sent.'
  },
})
const turns = {
  // In your server, name a model such as 'openai/gpt-5-mini'.
  model: new ScriptedModel([{ toolCalls: [{ id: 'call_1', name: 'send_mail', input: { to: 'bob' } }] }, 'It is on its way.']),
  tools: [sendMail],
  recorder,
  hasPermissionsToUseTool: () => 'wait',
} satisfies QueryOptions

const app = new Hono<{ Variables: { userId: string } }>()
app.use(async (c, next) => {
  c.set('userId', 'ada') // from your session or token
  await next()
})
app.onError((error, c) => {
  if (!isCriaError(error)) return c.json({ message: 'Internal error.' }, 500)
  const status = { not_found: 404, permission_denied: 403, session_busy: 409, configuration: 400 } as const
  return c.json({ code: error.code, message: error.message }, status[error.code as keyof typeof status] ?? 500)
})

app.post('/ask', async (c) => {
  const { question } = await c.req.json<{ question: string }>()
  const { turnId } = await startTurn(query({ ...turns, prompt: question, userId: c.get('userId') }))
  return toResponse(recorder.follow(turnId))
})
app.get('/turns/:id/events', async (c) => {
  const { turnId } = await own(c.req.param('id'), c.get('userId'))
  return toResponse(recorder.follow(turnId, { after: lastEventId(c.req.raw.headers) }))
})
app.post('/turns/:id/permissions', async (c) => {
  const { turnId, sessionId } = await own(c.req.param('id'), c.get('userId'))
  const decisions = await c.req.json<Record<string, PermissionAnswer>>()
  const next = await startTurn(query({ ...turns, sessionId, decide: { turnId, decisions } }))
  return toResponse(recorder.follow(next.turnId))
})
app.delete('/me', async (c) => c.json(await recorder.deleteUser(c.get('userId'))))

/** Responds with "not found" to a turn of another user. */
async function own(turnId: string, userId: string): Promise<{ turnId: string; sessionId: string }> {
  const turn = (await recorder.read.turn(turnId))?.turn
  if (turn?.userId === userId) return turn
  throw new CriaError('not_found', `There is no turn ${turnId}.`)
}

// Requests of a client.
const eventsOf = async (response: Response): Promise<QueryEvent[]> =>
  (await response.text()).split('\n\n').flatMap((frame) => {
    const data = /^data: (.*)$/m.exec(frame)?.[1]
    return data === undefined ? [] : [JSON.parse(data) as QueryEvent]
  })
const post = (path: string, body: unknown): Promise<Response> =>
  Promise.resolve(app.request(path, { method: 'POST', body: JSON.stringify(body) }))

const asked = await eventsOf(await post('/ask', { question: 'Write to Bob.' }))
const end = asked.at(-1)
assert(end?.type === 'complete' && end.result.finishReason === 'waiting')
const again = await app.request(`/turns/${end.turnId}/events`, { headers: { 'last-event-id': '3' } })
assert.deepEqual(await eventsOf(again), asked.slice(4))
assert.deepEqual(sent, [])
const decided = await eventsOf(await post(`/turns/${end.turnId}/permissions`, { call_1: true }))
assert.equal(decided.at(-1)?.type, 'complete')
assert.deepEqual(sent, ['bob'])
assert.equal((await post(`/turns/${end.turnId}/permissions`, { call_1: true })).status, 404)
assert.deepEqual(await (await app.request('/me', { method: 'DELETE' })).json(), { turns: 2, sessions: 1, wiped: true })
assert.equal((await app.request(`/turns/${end.turnId}/events`)).status, 404)
await recorder.close()
console.log('sent to', sent.join())
