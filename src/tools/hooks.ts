/** Calls hooks of the application with a timeout, and checks their results. */

import type { StationContext } from '../core/context.ts'
import { CriaError } from '../core/error.ts'
import type { HookEvent } from '../core/event.ts'
import type { HookContext, HookName, Hooks } from '../core/hook.ts'
import { orAborted } from '../util/promise.ts'
import { isRecord } from '../util/check.ts'
import { redact } from '../util/redact.ts'
import { messageOf } from './output.ts'

const DEFAULT_TIMEOUT = 10_000

export type HookOutcome =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly reason: string; readonly event: HookEvent }
  | { readonly kind: 'changed'; readonly value: unknown; readonly event: HookEvent }

/**
 * @param member name of the answer's member that holds the changed value.
 * @param id of the tool call that the hook is about.
 * @throws the reason of the signal when the turn is aborted. Any other failure of the hook is a refusal.
 */
export async function askHook(
  hook: HookName,
  hooks: Hooks | undefined,
  given: object,
  member: string,
  ctx: Pick<StationContext, 'sessionId' | 'turnId' | 'signal' | 'clock'> & { readonly step: number },
  id?: string,
): Promise<HookOutcome> {
  const called: ((given: never, ctx: HookContext) => unknown) | undefined = hooks?.[hook]
  if (hooks === undefined || called === undefined) return { kind: 'unchanged' }
  const about = id === undefined ? {} : { id }
  const { timeout = DEFAULT_TIMEOUT } = hooks
  const over = new AbortController()
  const signal = AbortSignal.any([ctx.signal, over.signal])
  ctx.clock.sleep(timeout, signal).then(
    () => over.abort(new CriaError('timeout', `it did not answer within ${timeout / 1000} s`)),
    () => {},
  )
  try {
    const { sessionId, turnId, step } = ctx
    // A copy, so that a hook changes only the value that it returns.
    const asked = async (): Promise<unknown> => called(structuredClone(given) as never, { sessionId, turnId, step, signal })
    const answer = await orAborted(asked(), signal)
    if (answer === undefined || answer === null) return { kind: 'unchanged' }
    if (!isRecord(answer)) throw new CriaError('configuration', 'it must give an object or nothing')
    const { refuse } = answer
    const wrong = Object.keys(answer).find((name) => name !== 'refuse' && name !== member)
    if (wrong !== undefined || ('refuse' in answer && typeof refuse !== 'string'))
      throw new CriaError('configuration', `it must give { refuse: 'why' } or { ${member} }, but gave \`${wrong ?? 'refuse'}\``)
    if (typeof refuse === 'string') {
      const reason = refuse.trim() === '' ? 'It gave no reason.' : refuse
      return { kind: 'refused', reason, event: { type: 'hook', hook, outcome: 'refused', ...about, reason } }
    }
    const value = answer[member]
    return value === undefined
      ? { kind: 'unchanged' }
      : { kind: 'changed', value, event: { type: 'hook', hook, outcome: 'changed', ...about } }
  } catch (thrown) {
    if (ctx.signal.aborted) throw ctx.signal.reason
    const reason = `The hook failed: ${redact(messageOf(thrown))}.`
    return { kind: 'refused', reason, event: { type: 'hook', hook, outcome: 'failed', ...about, reason } }
  } finally {
    over.abort()
  }
}
