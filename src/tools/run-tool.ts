/** Runs one tool call: announces its effects to the journal before they happen, and turns every outcome into a result. */

import { ATTRIBUTE } from '../core/span.ts'
import type { Station } from '../core/context.ts'
import { CriaError } from '../core/error.ts'
import type { QueryEvent } from '../core/event.ts'
import type { Span } from '../core/span.ts'
import type { Tool, ToolContext } from '../core/tool.ts'
import { sha256 } from '../util/hash.ts'
import { redact } from '../util/redact.ts'
import { notRun } from './call.ts'
import type { FittingCall, Outcome, ToolsContext } from './call.ts'
import { bounded, messageOf, shortened, told } from './output.ts'
import type { Told } from './output.ts'
import { closedPaths, commandReach } from './permissions/reach.ts'
import { subjectsOf } from './permissions/subject.ts'
import { callKey } from './state.ts'
import { Work } from './work.ts'
import type { Ending } from './work.ts'

const DEFAULT_TOOL_TIMEOUT = 120_000
export const DEFAULT_MAX_RESULT_CHARS = 30_000
/** Milliseconds that a tool has to end by itself after it is cancelled. Short, so that cancelling feels immediate. */
const CANCEL_GRACE = 50
/** Milliseconds that a tool has to end by itself after its timeout. */
const TIMEOUT_GRACE = 1000

/** @param maxChars maximum length of the result; the progress that is shown has the same limit. */
export async function* runTool(fitting: FittingCall, maxChars: number, ctx: ToolsContext): Station<Outcome> {
  const { call, tool, input } = fitting
  const { id, name } = call
  const { clock, sessionId, turnId } = ctx
  const idempotencyKey = idempotencyKeyOf(fitting, ctx)
  const intent = { step: ctx.step, callId: id, name, input: JSON.stringify(fitting.given), idempotencyKey, at: clock.now() }
  const reach = await reachOf(fitting, ctx)
  yield { type: 'note', entry: { type: 'tool_start', ...intent } }
  // Nothing is awaited between here and the start of the tool, so this check stays valid.
  if (ctx.signal.aborted) return notRun(call, 'Cancelled before it began: it has done nothing.')

  const span = ctx.span.child('execute_tool', {
    [ATTRIBUTE.operation]: 'execute_tool',
    [ATTRIBUTE.toolName]: name,
    [ATTRIBUTE.toolCallId]: id,
  })
  const work = new Work(clock, { maxProgressChars: maxChars })
  const { signal } = work
  // A separate signal: many listeners on the signal of the turn would cause a leak warning.
  const cancelled = AbortSignal.any([ctx.signal])
  const cancel = (): void => work.stop(ctx.signal.reason, CANCEL_GRACE)
  cancelled.addEventListener('abort', cancel, { once: true })
  const limit = tool.timeout ?? DEFAULT_TOOL_TIMEOUT
  const timedOut = new CriaError('timeout', `timed out after ${limit / 1000} s`)
  void work.limit(limit, () => work.stop(timedOut, TIMEOUT_GRACE))
  const progress = (content: string): void => work.progress(content)
  const toolContext = { idempotencyKey, span, ...reach, signal, sessionId, turnId, progress }
  const frame = { callId: id, signal, forward: (event: QueryEvent) => work.forward(event) }
  try {
    work.start(
      // The schema of the tool checked the input; its type is known only there.
      () => tool.call(input as never, toolContext),
      (step) => ctx.inCall(frame, () => span.run(step)),
    )
    let news = await work.next()
    for (; news.type === 'progress' || news.type === 'nested'; news = await work.next()) {
      yield news.type === 'progress' ? { type: 'tool_progress', id, content: news.content } : news
    }
    const { content, isError, attachments, sandbox } = readOutcome(news, { tool, maxChars, span, timedOut })
    const result = { id, name, content, isError, durationMs: work.durationMs, ...(sandbox === undefined ? {} : { sandbox }) }
    return { result, attachments }
  } finally {
    await work.end(CANCEL_GRACE)
    cancelled.removeEventListener('abort', cancel)
    span.end()
  }
}

async function reachOf(
  { tool, input }: FittingCall,
  { state }: ToolsContext,
): Promise<Pick<ToolContext, 'closedPaths' | 'reach'>> {
  const { rules, root } = await state.rules()
  const all = [...rules, ...state.grants.rules]
  if (all.length === 0) return {}
  const subjects = await subjectsOf(tool, input, root)
  const reach = tool.confinement === undefined ? {} : { reach: commandReach(all, subjects) }
  return { closedPaths: closedPaths(all, tool.name, subjects), ...reach }
}

/**
 * Returns the same key for every attempt of a call, also when another process resumes the turn: it is derived from the journal.
 * Calls of one step that share an id differ by their position. A call that repeats an interrupted call of an earlier turn reuses
 * its key once; a further repetition has a key of its own.
 */
function idempotencyKeyOf({ index, call, given }: FittingCall, { sessionId, turnId, step, state }: ToolsContext): string {
  const again = callKey(call.name, given)
  const first = state.unsettled.get(again)
  if (first !== undefined) {
    state.unsettled.delete(again)
    return first
  }
  return sha256([sessionId, turnId, step, index, call.id].join('\n')).slice(0, 32)
}

interface Circumstances {
  readonly tool: Tool
  readonly maxChars: number
  readonly span: Span
  /** The abort reason when the tool exceeded its timeout. */
  readonly timedOut: CriaError
}

/** Reads the value that a tool returned or threw. Reading may fail: a getter that throws, a detached buffer. */
function readOutcome(ending: Ending, circumstances: Circumstances): Told {
  try {
    return outcomeOf(ending, circumstances)
  } catch (thrown) {
    const { span, maxChars } = circumstances
    const problem = new CriaError('tool_failure', `What the tool ${ending.type} cannot be read (${redact(messageOf(thrown))}).`)
    span.fail(problem)
    return failure(`${problem.message} ${EFFECTS_UNKNOWN}`, maxChars)
  }
}

function outcomeOf(ending: Ending, { tool, maxChars, span, timedOut }: Circumstances): Told {
  const { stopped } = ending
  const how = stopped === timedOut ? `The tool ${timedOut.message} and was stopped.` : 'Cancelled while it ran.'
  if (ending.type === 'returned') {
    const outcome = told(ending.output, maxChars)
    // Keeps a finished result, also after cancellation.
    if (stopped !== timedOut) return outcome
    span.fail(stopped)
    return { ...outcome, content: shortened(`${how} It returned:\n${outcome.content}`, maxChars), isError: true }
  }
  const thrown = ending.type === 'threw' ? ending.thrown : stopped
  span.fail(thrown)
  const message = redact(messageOf(thrown))
  if (stopped === undefined) return failure(`The tool failed: ${message}`, maxChars)
  const effects = tool.isReadOnly === true ? 'It changes nothing.' : EFFECTS_UNKNOWN
  const lastWords = thrown === stopped || isAbort(thrown) ? '' : ` It ended with: ${message}`
  return failure(`${how} ${effects}${lastWords}`, maxChars)
}

const EFFECTS_UNKNOWN = 'Its effects are unknown: it may have had all of them, some, or none.'

function failure(content: string, maxChars: number): Told {
  return { content: bounded(content, maxChars), isError: true, attachments: [] }
}

function isAbort(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'AbortError'
}
