/** Shows tool calls line by line on standard error, and a summary of changes, commands and refusals at the end. */

import type { EventOf, QueryEvent } from '../core/event.ts'
import { isTerminal } from '../core/event.ts'
import { visibleLine, visibleText } from '../util/terminal.ts'
import { memberOf } from './deeds.ts'
import type { Deed, Deeds } from './deeds.ts'
import { plural } from './format.ts'
import type { Io } from './io.ts'

/**
 * Passes the events on and records tool calls. In text format, the text of a step is passed on only if it is the answer; text between tool
 * calls goes to standard error.
 */
export async function* shownDeeds(
  events: AsyncIterable<QueryEvent>,
  deeds: Deeds,
  { io, isText, showsOutput = false }: { readonly io: Io; readonly isText: boolean; readonly showsOutput?: boolean },
): AsyncGenerator<QueryEvent> {
  let text: EventOf<'text_delta'>[] = []
  for await (const event of events) {
    const deed = deeds.add(event)
    if (isText && event.parent === undefined) {
      if (event.type === 'text_delta') text.push(event)
      if (event.type === 'reset') text = []
      if (event.type === 'text_delta' || event.type === 'reset') continue
      if (event.type === 'message' || isTerminal(event)) {
        if (event.type === 'message' && (event.message.toolCalls ?? []).length > 0) await tellAside(text, io)
        else yield* text
        text = []
      }
    }
    if (isText && deed !== undefined) await tell(event, deed, io, showsOutput)
    yield event
  }
}

async function tellAside(text: readonly EventOf<'text_delta'>[], { stderr }: Io): Promise<void> {
  const said = text.map((delta) => delta.text).join('')
  // Escaped even without a terminal: the log may be viewed in one later.
  if (said.trim() !== '') await stderr.writeRaw(`${visibleText(said.trim())}\n`)
}

async function tell(event: QueryEvent, deed: Deed, { stderr }: Io, showsOutput: boolean): Promise<void> {
  if (event.type === 'tool_request') await line(`> ${callLine(deed)}`)
  if (event.type !== 'tool_result') return
  if (showsOutput) for (const row of outputLines(deed, event.result.content)) await line(`  ${row}`)
  if (!event.result.isError) return
  const what = deed.refused === undefined ? firstLine(event.result.content) : `refused: ${deed.refused.reason}`
  await line(`  ${deed.name}: ${what}`)

  function line(text: string): Promise<void> {
    const indent = event.parent === undefined ? '' : '  '
    return stderr.writeRaw(`${stderr.style('dim', `${indent}${visibleLine(text)}`)}\n`)
  }
}

/** Arguments that identify a call best, in order of preference. */
const TELLING = ['command', 'path', 'pattern', 'url', 'query', 'question', 'glob'] as const
const MAX_ARGUMENT = 200

/** Formats a tool call: the name of the tool and its most telling argument. */
export function callLine({ name, input }: Pick<Deed, 'name' | 'input'>): string {
  const told = TELLING.map((key) => memberOf(input, key)).find((value) => value !== undefined)
  return told === undefined ? name : `${name} ${cut(told)}`
}

/** Splits an output into lines, blank lines included; empty for an output without text. */
export function linesOf(content: string): readonly string[] {
  const text = content.trimEnd()
  return text === '' ? [] : text.split('\n')
}

const MOST_SHOWN = 5

/** Returns the first lines of a command's output; empty for other tools, and for one line, which is shown beside the call. */
export function outputLines({ name, refused }: Pick<Deed, 'name' | 'refused'>, content: string): readonly string[] {
  const lines = name === 'run_command' && refused === undefined ? linesOf(content) : []
  if (lines.length < 2) return []
  const left = lines.length - MOST_SHOWN
  return [...lines.slice(0, MOST_SHOWN).map(cut), ...(left > 0 ? [`… ${plural(left, 'more line')}`] : [])]
}

/** Returns the first line with text; if it ends in a colon, the following lines are appended. */
export function firstLine(content: string): string {
  const lines = content.split('\n').filter((line) => line.trim() !== '')
  const [first = '', ...more] = lines
  return cut(first.trimEnd().endsWith(':') ? [first, ...more].map((line) => line.trim()).join(' ') : first)
}

function cut(text: string): string {
  return text.length <= MAX_ARGUMENT ? text : `${text.slice(0, MAX_ARGUMENT).toWellFormed()}…`
}

/** Matches reasons for asking despite an allow rule: a call that is repeated after an interruption or in a loop. */
const IN_SPITE_OF_RULES = /^The same /
const INTERRUPTED = /^The same call was interrupted/

/** Lists the changes, commands and refusals of a turn, with rules that would allow the refused calls; empty when there are none. */
export function summary({ changed, commands, refused, sessionId }: Deeds): string {
  const rules = refused.flatMap((deed) => {
    const lacksARule = deed.refused?.rule === undefined && !IN_SPITE_OF_RULES.test(deed.refused?.reason ?? '')
    return (lacksARule ? ruleFor(deed) : undefined) ?? []
  })
  const wasInterrupted = refused.some((deed) => INTERRUPTED.test(deed.refused?.reason ?? ''))
  const lists = {
    Changed: changed,
    Ran: commands.map(({ input, isError }) => `${cut(memberOf(input, 'command') ?? '')}${isError === false ? '' : '  (failed)'}`),
    Refused: [...new Set(refused.map((deed) => `${callLine(deed)}: ${deed.refused?.reason ?? ''}`))],
    'To allow it': [...new Set(rules)].map((rule) => `--allow='${rule.replaceAll("'", `'\\''`)}'`),
    'To decide about the interrupted call': wasInterrupted ? [`cria chat --resume ${sessionId ?? ''}`] : [],
  }
  const lines = Object.entries(lists).flatMap(([title, items]) =>
    items.length === 0 ? [] : [`${title}:`, ...items.map((item) => `  ${visibleLine(item)}`)],
  )
  return lines.map((line) => `${line}\n`).join('')
}

/** Returns the narrowest rule that allows a refused call; `undefined` if no rule can express it. */
export function ruleFor({ name, input, refused }: Pick<Deed, 'name' | 'input' | 'refused'>): string | undefined {
  // MCP tools do not declare what they act on. A tool that has changed is allowed by its current version.
  if (name.startsWith('mcp__')) return /"(mcp__[\w-]+#[\da-f]+)"/.exec(refused?.reason ?? '')?.[1] ?? name
  const what = memberOf(input, 'command') ?? memberOf(input, 'path') ?? memberOf(input, 'url')
  // Rules cannot express a command with shell syntax, or a path with a star.
  if (what === undefined || what.length > MAX_ARGUMENT || /[\n*$`<>|;&(){}]/.test(what)) return undefined
  return `${name}(${what})`
}
