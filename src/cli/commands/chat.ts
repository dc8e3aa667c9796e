import { defineCommand } from '../command.ts'
import type { Command } from '../command.ts'
import { MODEL_OPTIONS, SANDBOX_OPTIONS, STORE_OPTIONS, TEMPLATE_OPTIONS } from '../shared-options.ts'

const OPTIONS = {
  safe: { type: 'flag', about: 'ask about every call, whatever is allowed; one call at a time' },
  resume: { type: 'optional', value: 'ID', about: 'go on with a session; without an ID choose from a list' },
  continue: { type: 'flag', short: 'c', about: 'go on with the last session of this folder' },
  ...MODEL_OPTIONS,
  ...TEMPLATE_OPTIONS,
  allow: { type: 'texts', value: 'RULE', about: 'calls that need no question: "edit_file(src/**)", "run_command(npm test)"' },
  deny: { type: 'texts', value: 'RULE', about: 'calls that never run, whatever else is allowed' },
  fetch: { type: 'flag', about: 'add fetch_url, which reads public web pages' },
  ...SANDBOX_OPTIONS,
  'no-mcp': { type: 'flag', about: 'start no MCP servers, whatever config.json names' },
  ...STORE_OPTIONS,
  'max-cost': { type: 'number', value: 'USD', about: 'ask no more when the session has cost so much', min: 0 },
  bell: {
    type: 'optional',
    value: 'SECONDS',
    about: 'ring when a turn that took longer ends, or waits for you; 10 when not said',
  },
  plain: { type: 'flag', about: 'lines only, nothing is painted over: for screen readers and simple terminals' },
} as const

export const chat: Command = defineCommand({
  name: 'chat',
  options: OPTIONS,
  details: `The model works in the current folder with tools. It reads, lists and searches files freely; before it changes a file or runs a
command you see the diff or the exact command, and decide. What nobody answers is refused. Esc interrupts, Ctrl-C twice
leaves, /help tells the rest. Without a terminal each line of standard input is a message, answers go to standard output, and
what would be asked is refused.`,
  examples: [
    'cria chat',
    'cria chat -c',
    `cria chat -m anthropic/claude-sonnet-4-5 --allow='run_command(npm test)'`,
    'echo "What does this project do?" | cria chat',
  ],
  async run({ options }, io) {
    const { runChat } = await import('../chat/run-chat.ts')
    return runChat(options, io)
  },
})
