import { defineCommand, jsonOption } from '../command.ts'
import type { Command } from '../command.ts'
import { MODEL_OPTIONS, PROMPT_OPTIONS, SANDBOX_OPTIONS, STORE_OPTIONS, TEMPLATE_OPTIONS } from '../shared-options.ts'

const OPTIONS = {
  allow: { type: 'texts', value: 'RULE', about: 'calls that may run: "edit_file(src/**)", "run_command(npm test)"' },
  deny: { type: 'texts', value: 'RULE', about: 'calls that never run, whatever else is allowed' },
  safe: { type: 'flag', about: 'allow nothing without a rule, not even reading; one call at a time' },
  'max-steps': { type: 'integer', value: 'N', about: 'model calls at most', default: '50', min: 1, max: 10_000 },
  fetch: { type: 'flag', about: 'add fetch_url, which reads public web pages' },
  ...SANDBOX_OPTIONS,
  'no-mcp': { type: 'flag', about: 'start no MCP servers, whatever config.json names' },
  ...STORE_OPTIONS,
  ...MODEL_OPTIONS,
  ...TEMPLATE_OPTIONS,
  ...PROMPT_OPTIONS,
  'show-thinking': { type: 'flag', about: 'show what it thinks, on standard error' },
  'max-cost': { type: 'number', value: 'USD', about: 'end the turn before it costs more', min: 0 },
  'no-log': { type: 'flag', about: 'write nothing to the journal' },
  json: jsonOption('{ answer, steps, toolCalls, refused, changed, notices, model, usage, costUsd, … }'),
  events: { type: 'flag', about: 'print one event per line' },
} as const

export const runTask: Command = defineCommand({
  name: 'run',
  arguments: [
    { name: 'task', about: 'what to do; "-", or nothing, reads it from standard input', required: false, claims: true },
  ],
  options: OPTIONS,
  details: `The model works in the current folder with tools: it reads, lists and searches files freely, and changes files or runs
commands where a rule allows it: --allow, or "rules" in config.json (a project's own counts after cria trust). Nobody is
asked: what no rule allows is refused, and the model is told. The answer goes to standard output; what was done, changed
and refused goes to standard error. Exit code 4: the last thing it tried to change or run was refused. The model is also told
what AGENTS.md and the like say (as instructions once you ran cria trust, else as data) and what git status says. What is
piped in beside a task is data for it, as is what -a names.`,
  examples: [
    'cria run "Why does the build fail?"',
    `cria run "Fix the failing test" --allow='edit_file(src/**)' --allow='run_command(npm test)'`,
    'git diff | cria run "Review this change" --json --max-cost 0.5',
  ],
  async run({ arguments: [word = ''], options }, io) {
    const { runTaskWithTools } = await import('../run-task.ts')
    return runTaskWithTools(word, options, io)
  },
})
