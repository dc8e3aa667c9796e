/** Runs an agent with two tools: the built-in search, which runs in a thread, and one whose input is validated against JSON Schema. */

import { writeFileSync } from 'node:fs'
import { AgentBot, builtinTools, defineTool } from 'cria'
import { collect, ScriptedModel } from 'cria/testing'

writeFileSync('llamas.md', 'A young llama is called a cria.\n')
const weigh = defineTool<{ animal: string }>({
  name: 'weigh',
  description: 'Tells what an animal weighs.',
  inputSchema: { type: 'object', properties: { animal: { type: 'string' } }, required: ['animal'] },
  isReadOnly: true,
  needsPermission: false,
  call: ({ animal }) => `A ${animal} weighs ten kilograms.`,
})
const model = new ScriptedModel([
  { toolCalls: [{ name: 'search_files', input: { pattern: 'young (\\w+)' } }] },
  { toolCalls: [{ name: 'weigh', input: { animal: 7 } }] },
  { toolCalls: [{ name: 'weigh', input: { animal: 'cria' } }] },
  'Done.',
])
const tools = [...builtinTools({ root: process.cwd() }), weigh]
const bot = new AgentBot({ model, tools, recorder: false, streamTarget: 'none' })
const { events } = await collect(bot.events('What does a young llama weigh?'))
const results = events.flatMap((event) => (event.type === 'tool_result' ? [event.result] : []))

console.log(JSON.stringify(results.map(({ content, isError }) => `${isError ? 'error: ' : ''}${content.split('\n')[0]}`)))
