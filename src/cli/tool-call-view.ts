/** Shows tool calls: each on a line, and their changes, commands and refusals in a summary. */

import type { EventOf, QueryEvent } from '../core/event.ts'
import { isTerminal } from '../core/event.ts'
import type { ToolUse } from '../core/tool.ts'
import { visibleLine, visibleText } from '../util/terminal.ts'
import { formatMs, plural } from './format.ts'
import type { Io } from './io.ts'
import { changedFiles, memberOf, refusedCalls } from './tool-calls.ts'
import type { ToolCallRecord, ToolCalls } from './tool-calls.ts'

/**
 * Passes the events on and records tool calls. In text format, shows each call on standard error when it begins and when it fails, and passes
 * the text of a step on only if it is the answer; text between tool calls goes to standard error.
 */
export async function* shownToolCalls(
  events: AsyncIterable<QueryEvent> | Iterable<QueryEvent>,
  calls: ToolCalls,
  { io, isText, showsOutput = false }: { readonly io: Io; readonly isText: boolean; readonly showsOutput?: boolean },
): AsyncGenerator<QueryEvent> {
  let text: EventOf<'text_delta'>[] = []
  for await (const event of events) {
    const call = calls.add(event)
    if (isText && event.parent === undefined) {
      if (event.type === 'text_delta') text.push(event)
      if (event.type === 'reset') text = []
      if (event.type === 'text_delta' || event.type === 'reset') continue
      if (event.type === 'message' || isTerminal(event)) {
        if (event.type === 'message' && (event.message.toolCalls ?? []).length > 0) await printAside(text, io)
        else yield* text
        text = []
      }
    }
    if (isText && call !== undefined) await printCall(event, call, io, showsOutput)
    yield event
  }
}

async function printAside(deltas: readonly EventOf<'text_delta'>[], { stderr }: Io): Promise<void> {
  const text = deltas.map((delta) => delta.text).join('')
  // Escaped even without a terminal: the log may be viewed in one later.
  if (text.trim() !== '') await stderr.writeRaw(`${visibleText(text.trim())}\n`)
}

async function printCall(event: QueryEvent, call: ToolCallRecord, { stderr }: Io, showsOutput: boolean): Promise<void> {
  if (event.type === 'tool_request') await line(`> ${callLine(call)}`)
  if (event.type !== 'tool_result') return
  if (showsOutput) for (const row of outputLines(call)) await line(`  ${row}`)
  if (!event.result.isError) return
  const what = call.refused === undefined ? firstLine(call.content) : `refused: ${call.refused.reason}`
  await line(`  ${call.name}: ${what}`)

  function line(text: string): Promise<void> {
    const indent = event.parent === undefined ? '' : '  '
    return stderr.writeRaw(`${stderr.style('dim', `${indent}${visibleLine(text)}`)}\n`)
  }
}

/** Characters of a title or a result on the line of a call that begins, and on that of one that has ended. */
const MAX_TITLE = 200
const MAX_OUTCOME = 120

/** Formats a call as the name of its tool and its title: `edit_file src/a.ts`. */
export function callLine({ name, title }: Pick<ToolCallRecord, 'name' | 'title'>): string {
  return title === undefined ? name : `${name} ${cut(title)}`
}

/** Returns the mark of a call that has ended, and its colour. */
export function markOf({ refused, isError }: ToolCallRecord): {
  readonly mark: string
  readonly colour: 'green' | 'red' | 'yellow'
} {
  if (refused !== undefined) return { mark: '⊘', colour: 'yellow' }
  return isError === true ? { mark: '✗', colour: 'red' } : { mark: '✓', colour: 'green' }
}

/** Formats a call that has ended in one line, without styles: `✓ run_command npm test · 12 lines · 1.2 s · /show 3`. */
export function foldedLine(call: ToolCallRecord): string {
  const facts = [`${markOf(call).mark} ${callLine(call)}`, outcomeOf(call)]
  if (call.refused === undefined) {
    if (call.asksUser !== true && call.durationMs >= 1000) facts.push(formatMs(call.durationMs))
    facts.push(`/show ${call.number}`)
  }
  return visibleLine(facts.filter((fact) => fact !== '').join(' · '))
}

function outcomeOf({ effect, content, refused, isError }: ToolCallRecord): string {
  if (refused !== undefined) return `refused: ${refused.reason}`
  const lines = linesOf(content)
  // The output of a command ends with its exit code.
  if (isError === true) return cut((effect === 'command' ? lines.at(-1) : undefined) ?? firstLine(content), MAX_OUTCOME)
  const [first = '', ...more] = lines.filter((line) => line.trim() !== '')
  return more.length === 0 ? cut(first, MAX_OUTCOME) : plural(lines.length, 'line')
}

/** Splits an output into lines, blank lines included; empty for an output without text. */
function linesOf(content: string): readonly string[] {
  const text = content.trimEnd()
  return text === '' ? [] : text.split('\n')
}

const MOST_SHOWN = 5

/** Returns the first lines of a command's output; empty for other tools, and for one line, which is shown beside the call. */
export function outputLines({ effect, refused, content }: ToolCallRecord): readonly string[] {
  const lines = effect === 'command' && refused === undefined ? linesOf(content) : []
  if (lines.length < 2) return []
  const left = lines.length - MOST_SHOWN
  return [...lines.slice(0, MOST_SHOWN).map((line) => cut(line)), ...(left > 0 ? [`… ${plural(left, 'more line')}`] : [])]
}

/** Returns the first line with text; if it ends in a colon, the following lines are appended. */
function firstLine(content: string): string {
  const lines = content.split('\n').filter((line) => line.trim() !== '')
  const [first = '', ...more] = lines
  return cut(first.trimEnd().endsWith(':') ? [first, ...more].map((line) => line.trim()).join(' ') : first)
}

function cut(text: string, most = MAX_TITLE): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`
}

/** Matches reasons for asking despite an allow rule: a call that is repeated after an interruption or in a loop. */
const IN_SPITE_OF_RULES = /^The same /
const INTERRUPTED = /^The same call was interrupted/

/** Lists changes, commands and refusals, with rules that would allow the refused calls; empty when there are none. */
export function summary(calls: readonly ToolCallRecord[], sessionId: string | undefined): string {
  const refused = refusedCalls(calls)
  const commands = calls.filter((call) => call.effect === 'command' && call.refused === undefined)
  const rules = refused.flatMap((call) => {
    const lacksARule = call.refused?.rule === undefined && !IN_SPITE_OF_RULES.test(call.refused?.reason ?? '')
    return (lacksARule ? ruleFor(call, call.refused?.reason) : undefined) ?? []
  })
  const wasInterrupted = refused.some((call) => INTERRUPTED.test(call.refused?.reason ?? ''))
  const lists = {
    Changed: changedFiles(calls),
    Ran: commands.map(({ title = '', isError }) => `${cut(title)}${isError === false ? '' : '  (failed)'}`),
    Refused: [...new Set(refused.map((call) => `${callLine(call)}: ${call.refused?.reason ?? ''}`))],
    'To allow it': [...new Set(rules)].map((rule) => `--allow='${rule.replaceAll("'", `'\\''`)}'`),
    'To decide about the interrupted call': wasInterrupted ? [`cria chat --resume ${sessionId ?? ''}`] : [],
  }
  const lines = Object.entries(lists).flatMap(([title, items]) =>
    items.length === 0 ? [] : [`${title}:`, ...items.map((item) => `  ${visibleLine(item)}`)],
  )
  return lines.map((line) => `${line}\n`).join('')
}

/** Returns the narrowest rule that allows a call which needs permission for this reason; `undefined` if no rule can express it. */
export function ruleFor({ name, input }: Pick<ToolUse, 'name' | 'input'>, reason = ''): string | undefined {
  // MCP tools do not declare what they act on. A tool that has changed is allowed by its current version.
  if (name.startsWith('mcp__')) return /"(mcp__[\w-]+#[\da-f]+)"/.exec(reason)?.[1] ?? name
  const what = memberOf(input, 'command') ?? memberOf(input, 'path') ?? memberOf(input, 'url')
  // Rules cannot express a command with shell syntax, or a path with a star.
  if (what === undefined || what.length > MAX_TITLE || /[\n*$`<>|;&(){}]/.test(what)) return undefined
  return `${name}(${what})`
}
