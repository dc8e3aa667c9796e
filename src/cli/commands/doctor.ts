/** Declares `cria doctor`, which checks providers, stores, MCP servers and the system. */

import { diagnose } from '../../app/doctor.ts'
import type { Check } from '../../app/doctor.ts'
import { visibleText } from '../../util/terminal.ts'
import { defineCommand, jsonOption } from '../command.ts'
import type { Command } from '../command.ts'
import { EXIT } from '../failure.ts'
import { broken, printJson } from '../io.ts'
import type { Channel } from '../io.ts'

const MARKS: Readonly<Record<Check['status'], readonly [mark: string, style: 'green' | 'yellow' | 'red']>> = {
  ok: ['ok', 'green'],
  warning: ['warning', 'yellow'],
  failed: ['FAILED', 'red'],
}

export const doctor: Command = defineCommand({
  name: 'doctor',
  options: {
    offline: { type: 'flag', about: 'send no request to providers, and start no MCP server' },
    json: jsonOption('{ ok, checks: [{ name, status, message, hint, skipped }] }'),
  },
  details: `Sends each provider that has a key or a base URL one small request, which costs a few tokens, and waits up to 30 seconds.
Starts and stops each enabled MCP server. Changes nothing and shows no key. Exits with 1 when a check fails; a warning is not a failure.`,
  examples: ['cria doctor', 'cria doctor --offline --json'],
  async run({ options }, io) {
    const diagnosis = await diagnose(io, { signal: io.signal, offline: options.offline })
    if (options.json) await printJson(io, diagnosis)
    else for (const check of diagnosis.checks) await io.stdout.writeRaw(await broken(line(check, io.stdout), io.stdout, INDENT))
    return diagnosis.ok ? EXIT.done : EXIT.failed
  },
})

/** Indentation of messages, in cells. */
const INDENT = 9

function line({ name, status, message, hint, skipped }: Check, out: Channel): string {
  const [mark, style] = skipped === true ? (['–', 'dim'] as const) : MARKS[status]
  const advice = hint === undefined ? '' : `${' '.repeat(INDENT)}${hint}\n`
  return `${out.style(style, mark.padEnd(7))}  ${visibleText(`${name}: ${message}`)}\n${visibleText(advice)}`
}
