/** Asks the user whether a tool may do what it wants to do, and shows exactly what that is. */

import type { Json } from '../../core/json.ts'
import type { PermissionChecker, PermissionDecision, PermissionRequest, Tool } from '../../core/tool.ts'
import { countChanges } from '../../util/line-diff.ts'
import { exactText } from '../../util/terminal.ts'
import { memberOf } from '../deeds.ts'
import { ruleFor } from '../deeds-view.ts'
import { rowsOf } from '../../util/cells.ts'
import { plural } from '../format.ts'
import type { Choice, Front } from './front.ts'

export interface Asking {
  readonly front: Front
  readonly tools: () => readonly Tool[]
  /** Every call is asked about, so nothing can be allowed for longer. */
  readonly isSafe: boolean
  /** Keeps a rule beyond the session. @param where absolute path of a folder; `null`: everywhere. */
  readonly keep: (rule: string, where: string | null) => void
  /** The folder of the chat. */
  readonly folder: string
}

export function permissionAsker(asking: Asking): PermissionChecker {
  return async (requests, { signal }) => {
    const decisions: PermissionDecision[] = []
    for (const request of requests) {
      if (signal.aborted) decisions.push(UNANSWERED)
      else decisions.push(await decide(request, asking, signal))
    }
    return decisions
  }
}

const UNANSWERED: PermissionDecision = { granted: false, reason: 'The user did not answer.' }

async function decide(
  request: PermissionRequest,
  { front, tools, isSafe, keep, folder }: Asking,
  signal: AbortSignal,
): Promise<PermissionDecision> {
  const preview = await previewOf(request, tools())
  await front.tell(describeRequest(request, preview, front))
  const { name, input, reason } = request
  const rule = ruleFor(reason === undefined ? { name, input } : { name, input, refused: { reason } })
  const always = rule === undefined ? 'this very call' : exactText(rule)
  const choices: Choice[] = [
    { key: 'y', label: 'yes' },
    { key: 'n', label: 'no, and say why' },
    ...(isSafe ? [] : [{ key: 'a', label: `yes, and do not ask again in this session about ${always}` }]),
    // What no rule can say cannot be told again in another session.
    ...(isSafe || rule === undefined
      ? []
      : [
          { key: 'f', label: `the same, always in ${exactText(folder)}` },
          { key: 'e', label: 'the same, always and everywhere' },
        ]),
  ]
  const chosen = await front.choose(`May ${request.name} do this?`, choices, { signal })
  const answer = chosen === undefined ? undefined : choices[chosen]?.key
  if (answer === 'y') return { granted: true, reason: 'The user allowed it.' }
  if (answer === 'a' || answer === 'f' || answer === 'e') {
    const isKept = answer !== 'a' && rule !== undefined && (await kept(rule, answer === 'f' ? folder : null, { front, keep }))
    const howLong = !isKept ? 'for this session' : answer === 'f' ? 'always in this folder' : 'always'
    return {
      granted: true,
      reason: `The user allowed it ${howLong}.`,
      remember: 'session',
      ...(rule === undefined ? {} : { rule }),
    }
  }
  if (answer === undefined) return UNANSWERED
  const why = (await front.ask('Why not? The model is told; Enter alone gives no reason.', signal))?.trim() ?? ''
  return { granted: false, reason: why === '' ? 'The user refused it.' : `The user refused it: ${why}` }
}

/** A rule that cannot be kept holds for the session all the same. */
async function kept(rule: string, where: string | null, { front, keep }: Pick<Asking, 'front' | 'keep'>): Promise<boolean> {
  try {
    keep(rule, where)
    return true
  } catch (thrown) {
    await front.note(`${thrown instanceof Error ? thrown.message : String(thrown)} It holds for this session.`)
    return false
  }
}

interface Preview {
  readonly text: string
  readonly kind: 'diff' | 'command' | 'input' | 'problem'
}

async function previewOf({ name, input }: PermissionRequest, tools: readonly Tool[]): Promise<Preview> {
  const command = memberOf(input, 'command')
  if (name === 'run_command' && command !== undefined) return { text: command, kind: 'command' }
  const tool = tools.find((candidate) => candidate.name === name)
  if (tool?.preview === undefined) return { text: inputText(input), kind: 'input' }
  try {
    // What is asked about has been checked against the tool's own schema.
    const text = await tool.preview(input as never)
    return text === '' ? { text: inputText(input), kind: 'input' } : { text, kind: 'diff' }
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown)
    return { text: `${inputText(input)}\nWhat it would change cannot be shown: ${why}`, kind: 'problem' }
  }
}

function inputText(input: Json): string {
  return JSON.stringify(input, undefined, 2)
}

/** What one agrees to has to be seen: nothing is left out below this, and what is left out is said. */
const MOST_LINES = 5000

export function describeRequest(
  request: PermissionRequest,
  { text, kind }: Preview,
  { style, columns }: Pick<Front, 'style' | 'columns'>,
): string {
  const path = memberOf(request.input, 'path')
  const what = path === undefined ? request.name : `${request.name} ${path.replaceAll('\n', '␊')}`
  const lines = text.replaceAll('\r\n', '\n').replace(/\n$/, '').split('\n')
  // Cut here and not by the terminal, where spaces could push the rest to the beginning of a row of its own.
  const cut = (line: string): readonly string[] => rowsOf(exactText(line), Math.max(LEAST_COLUMNS, columns - INDENT))
  const paint = (line: string): ((row: string) => string) =>
    kind === 'command' ? (row) => style('bold', row) : kind === 'diff' ? colour(line, style) : (row) => row
  const rows = lines.slice(0, MOST_LINES).flatMap((line, index) =>
    cut(line).map((row, part) => {
      // A second line of a command is a command of its own, or not; in any case it is not another prompt.
      const lead = part > 0 ? GOES_ON : kind !== 'command' ? '  ' : index === 0 ? '  $ ' : '  │ '
      return lead + paint(line)(row)
    }),
  )
  const left = lines.length - MOST_LINES
  return [
    '',
    ...cut(what).map((row, part) => `${part === 0 ? `${style('yellow', '?')} ` : GOES_ON}${style('bold', row)}`),
    ...(request.reason === undefined || request.reason === USUAL ? [] : [style('dim', `  ${exactText(request.reason)}`)]),
    ...rows,
    ...(left > 0 ? [style('red', `  … and ${left} lines that are not shown`)] : []),
    // Above a long diff its file has left the screen.
    ...(kind === 'diff' && rows.length > LONG_DIFF
      ? cut(`${what}: ${changesIn(text)}`).map((row) => style('bold', `  ${row}`))
      : []),
    '',
  ].join('\n')
}

/** Rows of a diff below which its file and its counts are said again. */
const LONG_DIFF = 15

function changesIn(diff: string): string {
  const { added, removed } = countChanges(diff)
  return `${plural(added, 'line')} added, ${removed} removed`
}

/** Of the longest mark before a row, and the last cell, which terminals do not agree on. */
const INDENT = 5
const LEAST_COLUMNS = 20
/** Before the rest of a line that is longer than a row. */
const GOES_ON = '  ↳ '

/** Says nothing that the question does not say. */
const USUAL = 'The tool needs permission.'

function colour(line: string, style: Front['style']): (row: string) => string {
  const name = line.startsWith('+') ? 'green' : line.startsWith('-') ? 'red' : line.startsWith('@@') ? 'cyan' : undefined
  return name === undefined ? (row) => row : (row) => style(name, row)
}
