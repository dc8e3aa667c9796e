/** Lets a model call a tool and prints every event. A scripted model replaces the provider, so that the example runs without an API key. */

import { strict as assert } from 'node:assert'
import { defineTool, query } from 'cria'
import { ScriptedModel } from 'cria/testing'

const weather = defineTool({
  name: 'weather',
  description: 'The weather of a town, today.',
  inputSchema: { type: 'object', properties: { town: { type: 'string' } }, required: ['town'] },
  isReadOnly: true,
  needsPermission: false,
  call: ({ town }: { town: string }) => `Fog in ${town}, 7 °C.`,
})

const model = new ScriptedModel([
  { text: 'Let me look. ', toolCalls: [{ name: 'weather', input: { town: 'Bergen' } }] },
  'Take a coat.',
])

const seen: string[] = []
for await (const event of query({ prompt: 'What do I wear in Bergen?', model, tools: [weather] })) {
  seen.push(event.type)
  if (event.type === 'text_delta') process.stdout.write(event.text)
  if (event.type === 'tool_result') console.log(`\n  ${event.result.name}: ${event.result.content}`)
}
console.log()
assert.equal(seen.at(-1), 'complete')
