/** Asks the user for permission to run a tool call, and shows exactly what the call would do. */

import type { PermissionChecker, PermissionDecision, PermissionRequest, Tool } from '../../core/tool.ts'
import { rowsOf } from '../../util/cells.ts'
import { defined } from '../../util/check.ts'
import { countChanges } from '../../util/line-diff.ts'
import { exactText } from '../../util/terminal.ts'
import { plural } from '../format.ts'
import type { Style } from '../io.ts'
import { ruleFor } from '../tool-call-view.ts'
import { subjectKinds, titleOf } from '../tool-calls.ts'
import type { Front } from './front.ts'

export interface Asking {
  readonly front: Front
  readonly tools: () => readonly Tool[]
  /** Each call needs permission, so no choice allows more than one call. */
  readonly isSafe: boolean
  /** Stores a rule beyond the session. @param where absolute path of a folder; `null`: everywhere. */
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
  const { name, reason } = request
  const tool = tools().find((candidate) => candidate.name === name)
  await front.print(describeRequest(request, await previewOf(request, tool), front))
  const rule = ruleFor(request, reason)
  const always = rule === undefined ? 'exactly this call' : exactText(rule)
  const choices = [
    { key: 'y', label: 'yes' },
    { key: 'n', label: 'no, and give a reason' },
    { key: 'a', label: `yes, and do not ask again in this session about ${always}` },
    { key: 'f', label: `the same, always in ${exactText(folder)}`, where: folder, howLong: 'always in this folder' },
    { key: 'e', label: 'the same, always and everywhere', where: null, howLong: 'always' },
  ]
  // Without a rule, another session could not recognise the call.
  const offered = isSafe ? choices.slice(0, 2) : choices.slice(0, rule === undefined ? 3 : 5)
  const chosen = await front.choose(`May ${name} do this?`, offered, { signal })
  const { key, where, howLong = '' } = offered[chosen ?? -1] ?? {}
  if (key === undefined) return UNANSWERED
  if (key === 'y') return { granted: true, reason: 'The user allowed it.' }
  if (key === 'n') {
    const why = (await front.ask('Why not? The answer is sent to the model; Enter alone gives no reason.', signal))?.trim() ?? ''
    return { granted: false, reason: why === '' ? 'The user refused it.' : `The user refused it: ${why}` }
  }
  let kept = 'for this session'
  try {
    if (rule !== undefined && where !== undefined) {
      keep(rule, where)
      kept = howLong
    }
  } catch (thrown) {
    await front.note(`${messageOf(thrown)} The call is allowed for this session only.`)
  }
  return { granted: true, reason: `The user allowed it ${kept}.`, remember: 'session', ...defined({ rule }) }
}

/** The effect of a call, to be shown. */
interface Preview {
  readonly text: string
  readonly kind: 'diff' | 'command' | 'input'
  /** Identifies the call in one line; left out where it is the same as the text. */
  readonly title: string | undefined
}

async function previewOf({ input }: PermissionRequest, tool: Tool | undefined): Promise<Preview> {
  const asInput = JSON.stringify(input, undefined, 2)
  const title = titleOf(tool, input)
  try {
    // The input has been checked against the schema of the tool.
    const text = (await tool?.preview?.(input as never)) ?? ''
    if (text === '') return { text: asInput, kind: 'input', title }
    return { text, kind: subjectKinds(tool, input).includes('command') ? 'command' : 'diff', title }
  } catch (thrown) {
    return { text: `${asInput}\nThe change cannot be shown: ${messageOf(thrown)}`, kind: 'input', title }
  }
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** Lines that are shown at most, because the user must see what they agree to; a note counts the others. */
const MOST_LINES = 5000
/** Rows of a diff above which its file and its counts are repeated below it. */
const LONG_DIFF = 15
/** Cells of the longest mark before a row, and the last cell of the line, which terminals treat differently. */
const INDENT = 5
const LEAST_COLUMNS = 20
/** Marks the rest of a line that is longer than a row. */
const CONTINUED = '  ↳ '
/** Not shown, because the question says the same. */
const USUAL = 'The tool needs permission.'
const DIFF_STYLES: Readonly<Record<string, Style>> = { '+': 'green', '-': 'red', '@': 'cyan' }

/** Formats a request: the tool and its title, the reason, and the whole effect of the call. */
export function describeRequest(
  { name, reason = USUAL }: Pick<PermissionRequest, 'name' | 'reason'>,
  { text, kind, title }: Preview,
  { style, columns }: Pick<Front, 'style' | 'columns'>,
): string {
  const what = title === undefined || title === text ? name : `${name} ${title.replaceAll('\n', '␊')}`
  const lines = text.replaceAll('\r\n', '\n').replace(/\n$/, '').split('\n')
  // Broken here, not by the terminal: there, spaces could push the rest of a line to the beginning of a row, as if it were another line.
  const cut = (line: string): readonly string[] => rowsOf(exactText(line), Math.max(LEAST_COLUMNS, columns - INDENT))
  const rows = lines.slice(0, MOST_LINES).flatMap((line, index) => {
    const ofDiff = kind === 'diff' ? DIFF_STYLES[line.charAt(0)] : undefined
    const painted = kind === 'command' ? 'bold' : ofDiff
    // Only the first line has a prompt: another line may continue the command.
    const ofCommand = index === 0 ? '  $ ' : '  │ '
    const lead = kind === 'command' ? ofCommand : '  '
    return cut(line).map((row, part) => `${part > 0 ? CONTINUED : lead}${painted === undefined ? row : style(painted, row)}`)
  })
  const left = lines.length - MOST_LINES
  const { added, removed } = countChanges(text)
  // The heading of a long diff has scrolled off the screen.
  const again = kind === 'diff' && rows.length > LONG_DIFF ? `${what}: ${plural(added, 'line')} added, ${removed} removed` : ''
  return [
    '',
    ...cut(what).map((row, part) => `${part === 0 ? `${style('yellow', '?')} ` : CONTINUED}${style('bold', row)}`),
    ...(reason === USUAL ? [] : [style('dim', `  ${exactText(reason)}`)]),
    ...rows,
    ...(left > 0 ? [style('red', `  … and ${left} more lines, not shown`)] : []),
    ...(again === '' ? [] : cut(again).map((row) => style('bold', `  ${row}`))),
    '',
  ].join('\n')
}
