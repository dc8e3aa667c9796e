/** Runs one call: its effect is announced to the journal before it happens, and whatever happens becomes a result. */

import { ATTRIBUTE } from '../core/attributes.ts'
import type { Station } from '../core/context.ts'
import { CriaError } from '../core/error.ts'
import type { ToolContext, ToolOutput, ToolResult } from '../core/tool.ts'
import { orAborted } from '../util/abort.ts'
import { sha256 } from '../util/hash.ts'
import type { PreparedCall, ToolsContext } from './call.ts'

export const DEFAULT_TOOL_TIMEOUT = 120_000
export const DEFAULT_MAX_RESULT_CHARS = 30_000

export async function* runTool({ call, tool, input }: PreparedCall, ctx: ToolsContext): Station<ToolResult> {
  const { id, name } = call
  const startedAt = ctx.clock.now()
  const idempotencyKey = sha256(`${ctx.turnId}\n${ctx.step}\n${id}`).slice(0, 32)
  yield {
    type: 'note',
    entry: {
      type: 'tool_start',
      step: ctx.step,
      callId: id,
      name,
      input: JSON.stringify(call.input),
      idempotencyKey,
      at: startedAt,
    },
  }
  const span = ctx.span.child('execute_tool', {
    [ATTRIBUTE.operation]: 'execute_tool',
    [ATTRIBUTE.toolName]: name,
    [ATTRIBUTE.toolCallId]: id,
  })
  const over = new AbortController()
  const limit = tool.timeout ?? DEFAULT_TOOL_TIMEOUT
  const stopTimer = new AbortController()
  ctx.clock.sleep(limit, stopTimer.signal).then(
    () => over.abort(new CriaError('timeout', `timed out after ${limit / 1000} s`)),
    () => {},
  )
  const signal = AbortSignal.any([ctx.signal, over.signal])
  const finish = (content: string, isError: boolean): ToolResult => ({
    id,
    name,
    content: shortened(content, tool.maxResultChars),
    isError,
    durationMs: ctx.clock.now() - startedAt,
  })
  try {
    const output = yield* outputOf(
      { call, tool, input },
      { signal, idempotencyKey, sessionId: ctx.sessionId, turnId: ctx.turnId, progress: () => {}, span },
    )
    const { content, isError } = asText(output)
    return finish(content, isError)
  } catch (thrown) {
    span.fail(thrown)
    if (ctx.signal.aborted) return finish('Cancelled while it ran: its effects are unknown.', true)
    return finish(`The tool failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`, true)
  } finally {
    stopTimer.abort()
    span.end()
  }
}

async function* outputOf({ call, tool, input }: PreparedCall, ctx: ToolContext): Station<ToolOutput> {
  // The input was checked against the tool's own schema; only the tool knows its type.
  const started = ctx.span.run(() => tool.call(input as never, ctx))
  if (!isGenerator(started)) return await orAborted(Promise.resolve(started), ctx.signal)
  for (;;) {
    const next = await orAborted(
      ctx.span.run(() => started.next()),
      ctx.signal,
    )
    if (next.done === true) return next.value
    yield { type: 'tool_progress', id: call.id, content: String(next.value) }
  }
}

function isGenerator(value: unknown): value is AsyncGenerator<string, ToolOutput> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

/** What a tool returned, as text for the model. */
function asText(output: ToolOutput): { content: string; isError: boolean } {
  if (output === undefined || output === null || output === '') return { content: '(no output)', isError: false }
  if (typeof output === 'string') return { content: output, isError: false }
  if (typeof output === 'object' && 'content' in output && typeof output.content === 'string') {
    return { content: output.content === '' ? '(no output)' : output.content, isError: output['isError'] === true }
  }
  return { content: JSON.stringify(output), isError: false }
}

/** Keeps head and tail, and says how much is missing between them. */
function shortened(content: string, limit: number = DEFAULT_MAX_RESULT_CHARS): string {
  if (content.length <= limit) return content.toWellFormed()
  const half = Math.floor(limit / 2)
  const missing = content.length - 2 * half
  return `${content.slice(0, half)}\n[… ${missing} of ${content.length} characters left out …]\n${content.slice(-half)}`.toWellFormed()
}
