import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { fakeIo } from '../../test/support/fake-io.ts'
import { loadConfig } from '../app/config.ts'
import { collect, ScriptedModel } from '../testing.ts'
import { defineTool, query } from '../index.ts'
import { withAgent } from './agent.ts'

const folder = mkdtempSync(join(tmpdir(), 'cria-agent-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('a sub-agent gets the tools of the task, except those that wait for a person', async () => {
  const base = { description: 'Helps.', inputSchema: { type: 'object' }, needsPermission: false, call: () => 'done' }
  const tools = [defineTool({ ...base, name: 'look' }), defineTool({ ...base, name: 'ask_user', asksUser: true })]
  const io = fakeIo({ cwd: folder, env: { CRIA_HOME: folder } })
  const all = await withAgent(() => tools, loadConfig(io), io)
  const model = new ScriptedModel([{ toolCalls: [{ name: 'agent', input: { task: 'Look.' } }] }, 'Seen.', 'Done.'])
  await collect(query({ prompt: 'Go', model, tools: all() }))
  expect(model.requests.map((request) => (request.tools ?? []).map(({ name }) => name))).toEqual([
    ['look', 'ask_user', 'agent'],
    ['look'],
    ['look', 'ask_user', 'agent'],
  ])
})
