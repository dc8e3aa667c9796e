/** Asks for permission, and keeps the answer. */

import type { Station } from '../../core/context.ts'
import type { EventOf } from '../../core/event.ts'
import type { Confinement, PermissionDecision, Tool } from '../../core/tool.ts'
import { orAborted } from '../../util/promise.ts'
import { canonicalJson } from '../../util/hash.ts'
import { takenValues } from '../../util/environment.ts'
import { redactJson } from '../../util/redact.ts'
import { readAnswers } from './answers.ts'
import type { Answered } from './answers.ts'
import type { Job, ToolsContext } from '../call.ts'
import { changedSince, judge } from './judge.ts'
import { footprintOf } from '../conflicts.ts'
import type { Judgement } from './judge.ts'
import { messageOf } from '../output.ts'
import { decide, exactRule, nearMiss } from './decide.ts'
import { readRule } from './rule-book.ts'
import type { ReadRule } from './rule-book.ts'
import { meansVersion, parseRule } from './rule.ts'
import { subjectsOf } from './subject.ts'
import type { Subject } from './subject.ts'
import { callKey } from '../unsettled.ts'
import { validated } from '../validate.ts'

export type Decision = EventOf<'permission_decision'>['decisions'][number]

export interface Asked {
  readonly job: Job
  readonly reason: string
  /** The rule that asks. */
  readonly rule?: string
}

/** @param period see `repeatedPeriod`. */
export async function judgeJob(job: Job, period: number | undefined, ctx: ToolsContext): Promise<Judgement> {
  const { tool, input } = job
  const { state, safeMode, permit } = ctx
  const decided = decidedFor(job, ctx)
  const book = await state.rules()
  const subjects = await subjectsOf(tool, input, book.root)
  const rules = meant(book.rules, tool)
  const confinement = (await tool.confinement?.()) ?? { confined: false }
  const near = nearMiss(rules, tool.name, subjects)
  const suggestion = exactRule(tool.name, subjects)
  const judgement = judge({
    needsPermission: needsPermission(job),
    safeMode,
    canAsk: permit !== undefined || decided !== undefined,
    rule: decide(rules, tool.name, subjects, confinement),
    nearMiss: confinement.confined ? undefined : near,
    suggestion,
    remembered: remembered(job, subjects, ctx, confinement),
    period,
    unsettled: (tool.isIdempotent ?? tool.isReadOnly) !== true && state.unsettled.has(callKey(job.call.name, job.given)),
    changed: changedSince(tool, rules, subjects),
    untrusted: book.afterUntrusted === 'ask' && state.untrusted && tool.isReadOnly !== true,
  })
  // What was refused while it waited must not run because rules have changed.
  if (judgement.verdict === 'run' && decided !== undefined) return { verdict: 'ask', reason: 'It waited for a decision.' }
  if (judgement.verdict === 'run') pin(tool, ctx)
  return judgement
}

/** The call is allowed, whether that can be kept or not. */
function pin({ name, pin: kept }: Tool, { state }: ToolsContext): void {
  try {
    kept?.allow()
  } catch (thrown) {
    const message = `${name} was allowed, but that cannot be kept, so it will be asked about again: ${messageOf(thrown)}`
    if (!state.notices.some((notice) => notice.message === message))
      state.notices.push({ type: 'notice', code: 'pin_not_kept', message })
  }
}

function meant(rules: readonly ReadRule[], { pin }: Tool): readonly ReadRule[] {
  return rules.filter((rule) => meansVersion(rule, pin?.fingerprint))
}

/** Only a plain `false` means that nobody has to be asked. */
function needsPermission({ tool, input }: Job): boolean {
  try {
    const { needsPermission } = tool
    // The input was checked against the tool's own schema.
    return (typeof needsPermission === 'function' ? needsPermission(input as never) : needsPermission) !== false
  } catch {
    return true
  }
}

function remembered(
  job: Job,
  subjects: readonly Subject[],
  { state }: ToolsContext,
  confinement: Confinement,
): Pick<PermissionDecision, 'granted'> | undefined {
  const call = state.grants.calls.get(callKey(job.tool.name, job.given))
  if (call !== undefined) return call
  const verdict = decide(meant(state.grants.rules, job.tool), job.tool.name, subjects, confinement)?.verdict
  return verdict === 'allow' || verdict === 'deny' ? { granted: verdict === 'allow' } : undefined
}

/**
 * Asks about several calls at once. Whoever is granted becomes ready, with the input that was granted; the others are returned with the
 * decision against them. Those that are to wait are marked so, and stay as they are.
 */
export async function* ask(
  asked: readonly Asked[],
  ctx: ToolsContext,
): Station<readonly { readonly job: Job; readonly decision: Decision }[]> {
  const requests = asked.map(({ job, reason }) => ({ id: job.call.id, name: job.call.name, input: job.given, reason }))
  const before = asked.map(({ job }) => decidedFor(job, ctx))
  const open = requests.filter((_, index) => before[index] === undefined)
  if (open.length > 0) yield { type: 'permission_request', tools: open }
  const answers = open.length === 0 ? [] : await answersTo(open, ctx)
  const settled: { readonly job: Job; readonly decision: Decision }[] = []
  for (const [index, { job, rule }] of asked.entries()) {
    const answer = before[index] ?? answers.shift() ?? { granted: false }
    const obstacle = answer === 'wait' ? cannotWait(job, ctx) : undefined
    const request = requests[index]
    if (answer === 'wait' && obstacle === undefined && request !== undefined) job.waits = request
    else
      settled.push({
        job,
        decision: await settle(job, rule, answer === 'wait' ? { granted: false, reason: obstacle ?? '' } : answer, ctx),
      })
  }
  if (settled.length > 0) yield { type: 'permission_decision', decisions: settled.map(({ decision }) => decision) }
  return settled.filter(({ decision }) => !decision.granted)
}

/** What was decided about exactly this call while it waited. */
function decidedFor({ call, given }: Job, { decided }: ToolsContext): Answered | undefined {
  const found = decided?.get(call.id)
  if (found === undefined || canonicalJson(found.input) !== canonicalJson(given)) return undefined
  return readAnswers([found.answer], 1)[0]
}

/** Why the call cannot be taken up later; `undefined`: it can. */
export function cannotWait({ call, given }: Pick<Job, 'call' | 'given'>, ctx: ToolsContext): string | undefined {
  if (ctx.cannotWait !== undefined) return ctx.cannotWait
  const secrets = takenValues()
  const isKept = [call.input, given].every((input) => canonicalJson(redactJson(input, secrets)) === canonicalJson(input))
  return isKept ? undefined : 'Its arguments hold a secret, which the journal does not keep, so it cannot wait for a decision.'
}

/** A checker that throws has not granted anything. */
async function answersTo(
  requests: Parameters<NonNullable<ToolsContext['permit']>>[0],
  { permit, sessionId, turnId, signal, state }: ToolsContext,
): Promise<Answered[]> {
  if (permit === undefined) return requests.map(() => ({ granted: false, reason: 'There is nobody to ask.' }))
  try {
    // A copy: what the one who is asked does with the input changes no history.
    const answers = Promise.resolve(permit(structuredClone(requests), { sessionId, turnId, signal, untrusted: state.untrusted }))
    return readAnswers(await orAborted(answers, signal), requests.length)
  } catch (thrown) {
    signal.throwIfAborted()
    return requests.map(() => ({ granted: false, reason: `The permission check failed: ${messageOf(thrown)}` }))
  }
}

async function settle(job: Job, rule: string | undefined, answer: PermissionDecision, ctx: ToolsContext): Promise<Decision> {
  const { id } = job.call
  const problem = answer.granted && answer.input !== undefined ? await change(job, answer.input, ctx) : undefined
  if (problem !== undefined) return { id, granted: false, ...problem }
  // Also what was changed: this very call, as it was granted.
  await remember(job, answer, ctx)
  const named = rule === undefined ? {} : { rule }
  if (!answer.granted) return { id, granted: false, reason: answer.reason ?? 'The user refused it.', ...named }
  job.phase = 'ready'
  pin(job.tool, ctx)
  return { id, granted: true, reason: answer.reason ?? 'Granted.', ...named }
}

/** The one who granted the call changed its input: that has to fit as well, and no prohibition may meet it. */
async function change(job: Job, given: Job['given'], ctx: ToolsContext): Promise<{ reason: string; rule?: string } | undefined> {
  const fit = await validated({ name: job.call.name, input: given }, job.tool)
  if ('problem' in fit) return { reason: `The changed input does not fit. ${fit.problem}` }
  const book = await ctx.state.rules()
  const verdict = decide(meant(book.rules, job.tool), job.tool.name, await subjectsOf(job.tool, fit.input, book.root))
  if (verdict?.verdict === 'deny') {
    return { reason: `The input was changed. ${verdict.reason}`, ...(verdict.rule === undefined ? {} : { rule: verdict.rule }) }
  }
  job.given = given
  job.input = fit.input
  job.footprint = footprintOf(job.tool, fit.input)
  return undefined
}

async function remember(job: Job, { granted, remember, rule }: PermissionDecision, { state }: ToolsContext): Promise<void> {
  if (remember !== 'session') return
  if (rule === undefined) {
    state.grants.calls.set(callKey(job.tool.name, job.given), { granted })
    return
  }
  const { root } = await state.rules()
  state.grants.rules.push(await readRule(parseRule(rule, granted ? 'allow' : 'deny'), root))
}
