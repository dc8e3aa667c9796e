/** Shows tool calls: each on a line, and their changes, commands and refusals in a summary. */

import type { EventOf, QueryEvent } from '../core/event.ts'
import { isTerminal } from '../core/event.ts'
import type { ToolUse } from '../core/tool.ts'
import { visibleLine, visibleText } from '../util/terminal.ts'
import { formatMs, plural } from './format.ts'
import { broken } from './io.ts'
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
  const { isError } = event.result
  if (showsOutput || isError) for (const row of outputLines(call)) await line(`  ${row}`)
  if (isError) await line(`  ${call.name}: ${problemOf(call)}`)

  async function line(text: string): Promise<void> {
    const indent = event.parent === undefined ? '' : '  '
    const shown = await broken(`${indent}${visibleLine(text)}`, stderr, INDENT)
    await stderr.writeRaw(`${stderr.style('dim', shown)}\n`)
  }
}

/** Indentation of continued lines, in cells. */
const INDENT = 2
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

function outcomeOf(call: ToolCallRecord): string {
  if (call.refused !== undefined || call.isError === true) return problemOf(call, MAX_OUTCOME)
  const lines = linesOf(call.content)
  const [first = '', ...more] = lines.filter((line) => line.trim() !== '')
  return more.length === 0 ? cut(first, MAX_OUTCOME) : plural(lines.length, 'line')
}

/** Returns why a call was refused, or how it failed. */
function problemOf(call: ToolCallRecord, most = MAX_TITLE): string {
  const { name, content, refused } = call
  if (refused !== undefined) return `refused: ${reasonOf(refused.reason) ?? 'no rule allows it'}`
  return cut(endOf(call) ?? firstLine(content).replace(` of ${name}:`, ':'), most)
}

/** Returns the last line of a command that failed, which has its exit code; `undefined` for a list of problems, such as wrong arguments. */
function endOf({ effect, content }: ToolCallRecord): string | undefined {
  const lines = effect === 'command' ? linesOf(content) : []
  const last = lines.at(-1)
  return last?.startsWith('[') === false && isHeading(lines[0]) ? undefined : last
}

function isHeading(line: string | undefined): boolean {
  return line?.trimEnd().endsWith(':') === true
}

const USUAL = 'The tool needs permission.'
const NO_USER = / No user is available to answer\.$/
/** Matches a suggested rule, as JSON. Only at the end, because a reason may quote a call before it. */
const SUGGESTION =
  / The rule ("(?:[^"\\\p{Cc}]|\\["\\/bfnrt]|\\u[\da-f]{4})*") would allow it\.(?= No user is available to answer\.$)/u

/**
 * Returns the reason of a refusal without what only the model needs: nobody can answer in a run, and its summary lists the rule. `undefined`
 * when the reason only says that no rule allows the call.
 */
function reasonOf(reason: string): string | undefined {
  const alone = suggestedRule(reason) === undefined ? reason : reason.replace(SUGGESTION, '')
  const shown = alone.replace(NO_USER, '')
  return shown === USUAL ? undefined : shown
}

/** Returns the rule that a reason suggests; `undefined` without one, and for a rule that does not fit into one line. */
function suggestedRule(reason: string): string | undefined {
  const quoted = SUGGESTION.exec(reason)?.[1]
  const rule: unknown = quoted === undefined ? undefined : JSON.parse(quoted)
  return typeof rule === 'string' && !/[\n\t]/.test(rule) ? rule : undefined
}

/** Splits an output into lines, blank lines included; empty for an output without text. */
function linesOf(content: string): readonly string[] {
  const text = content.trimEnd()
  return text === '' ? [] : text.split('\n')
}

const MOST_SHOWN = 5

/**
 * Returns the first lines of a command's output, or the last ones if it failed; empty for other tools, and for one line. Without the lines that
 * are shown beside the call: one line, and the last line of a command that failed.
 */
export function outputLines(call: ToolCallRecord): readonly string[] {
  const { effect, refused, isError, content } = call
  const all = effect === 'command' && refused === undefined ? linesOf(content) : []
  if (all.length < 2 || (isError === true && endOf(call) === undefined)) return []
  const lines = (isError === true ? all.slice(0, -1) : all).map((line) => cut(line))
  const left = lines.length - MOST_SHOWN
  // A note takes a row, as one more line does.
  if (left <= 1) return lines
  if (isError === true) return [`… ${left} earlier lines`, ...lines.slice(-MOST_SHOWN)]
  return [...lines.slice(0, MOST_SHOWN), `… ${left} more lines`]
}

/** Returns the first line with text; if it ends in a colon, the following lines are appended as a list. */
function firstLine(content: string): string {
  const [first = '', ...more] = content.split('\n').filter((line) => line.trim() !== '')
  return isHeading(first) ? `${first.trim()} ${more.map((line) => line.trim().replace(/^- /, '')).join('; ')}` : first
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
    Refused: [...new Set(refused.map((call) => [callLine(call), reasonOf(call.refused?.reason ?? '') ?? []].flat().join(': ')))],
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
  const suggested = suggestedRule(reason)
  if (suggested !== undefined) return suggested
  const what = memberOf(input, 'command') ?? memberOf(input, 'path') ?? memberOf(input, 'url')
  // Rules cannot express a command with shell syntax, or a path with a star.
  if (what === undefined || what.length > MAX_TITLE || /[\n*$`<>|;&(){}]/.test(what)) return undefined
  return `${name}(${what})`
}
