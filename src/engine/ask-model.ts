/**
 * Prepares a request and gets its answer. A request that is too large is compacted once, then sent to a larger model.
 */

import type { Station } from '../core/context.ts'
import { CriaError } from '../core/error.ts'
import type { LanguageModel } from '../core/model.ts'
import type { Answer, Overflow } from '../model/answer.ts'
import { currentModel, passOn } from '../model/chain.ts'
import { errorInfo } from '../model/error-info.ts'
import { unfitFor } from '../model/fit.ts'
import { streamModel } from '../model/stream.ts'
import type { Demand } from '../prepare/compact/make-room.ts'
import type { Conversation } from '../prepare/conversation.ts'
import { prepare } from '../prepare/prepare.ts'
import type { Prepared } from '../prepare/prepare.ts'
import { completeAside } from './completion.ts'
import { checkRead, CUT_NOTICE, cutNotice, silentCut } from './silent-cut.ts'
import { withSystem } from './step.ts'
import type { StepSettings } from './step.ts'
import type { Turn } from './turn.ts'

/** The token count is an estimate: only a request this much over the limit is surely refused or cut, and is not sent. */
const SURELY_TOO_LARGE = 1.25

/** The answer of a step, and the conversation as it was sent. */
export interface Asked {
  readonly answer: Answer
  readonly conversation: Conversation
}

/** @throws CriaError `context_length`, with the numbers, if neither compaction nor a larger model helps. */
export async function* prepareAndAsk(turn: Turn, settings: StepSettings): Station<Asked> {
  let state: Demand['state'] = 'new'
  let refusal: CriaError | undefined
  let { conversation } = turn
  for (;;) {
    const prepared = yield* prepareFor(state, conversation, turn, settings)
    conversation = prepared.conversation

    // A refused request is not sent again unchanged.
    const isWorthAsking = state === 'refused' ? prepared.compacted : mayFit(prepared)
    if (isWorthAsking) {
      const canShrink = state === 'new' && !prepared.compacted
      const outcome = yield* askFor(prepared, canShrink, turn, settings)
      if (outcome.type === 'answer') return { answer: outcome, conversation }
      refusal = outcome.error
      turn.tooLarge.set(outcome.model.ref, sizeRefused(outcome, prepared))
      if (canShrink) {
        state = 'refused'
        continue
      }
    }
    const { ref } = currentModel(settings.chain)
    const larger = passOn(settings.chain, 'context_too_large', (model) => unfitFor(prepared.request, model) === undefined)
    if (larger === undefined) throw tooLarge(ref, prepared, refusal)
    yield refusal === undefined ? larger : { ...larger, error: errorInfo(refusal) }
    refusal = undefined
    if (prepared.compacted || state === 'refused') state = 'tried'
  }
}

/** @param canShrink `true`: a request that the provider silently cuts can still be compacted or sent to a larger model. */
async function* askFor(
  prepared: Prepared,
  canShrink: boolean,
  turn: Turn,
  { chain, system }: StepSettings,
): Station<Answer | Overflow> {
  const { ctx, options } = turn
  const request =
    system === undefined
      ? prepared.request
      : { ...prepared.request, messages: withSystem(prepared.request.messages, turn.input.system, system) }
  // The request was prepared for one model, and another may answer it.
  const windowOf = ({ ref, facts }: LanguageModel): number | null =>
    ref === request.model ? prepared.window : (facts.contextWindow ?? null)
  const isChecked = canShrink && options.context?.compaction !== false
  const outcome = yield* streamModel(request, { ...ctx, chain, checkRead: isChecked ? checkRead(windowOf) : undefined })
  if (outcome.type === 'overflow' || outcome.cacheHit || ctx.shownNotices.has(CUT_NOTICE)) return outcome
  const cut = await silentCut(request, outcome.model, outcome.usage, windowOf(outcome.model))
  if (cut === undefined) return outcome
  ctx.shownNotices.add(CUT_NOTICE)
  yield cutNotice(cut, outcome.model.ref)
  return outcome
}

function prepareFor(
  state: Demand['state'],
  conversation: Conversation | undefined,
  turn: Turn,
  { chain, request }: StepSettings,
): Station<Prepared> {
  const { ctx, options, input, step } = turn
  const model = currentModel(chain)
  const { compaction = {}, summaryModel } = options.context ?? {}
  const room = { compaction: compactionFor(model, compaction, turn), state, tooLarge: turn.tooLarge.get(model.ref) }
  // No other model helps one that cannot write: its user wants no data to leave the machine.
  const complete = (): ReturnType<typeof completeAside> => {
    if (model.facts.writes === false) return undefined
    const helper = summaryModel?.()
    // A budget cannot be kept with a model of unknown price.
    const isPayable = options.budget === undefined || (helper?.facts.price ?? undefined) !== undefined
    return completeAside([isPayable ? helper : undefined, model], ctx)
  }
  return prepare({ input, request, model, conversation, step, room }, { ...ctx, complete })
}

/** A configured window applies only to the model named with it. */
function compactionFor(model: LanguageModel, compaction: Demand['compaction'], { options }: Turn): Demand['compaction'] {
  if (compaction === false || model === options.model) return compaction
  const { window: _, ...rest } = compaction
  return rest
}

/** Returns the size to remember as refused: the tokens that the provider read, since it may have dropped whole messages. */
function sizeRefused({ error }: Overflow, { size }: Prepared): number {
  const read = error.details?.['inputTokens']
  return typeof read === 'number' ? Math.min(size, Math.max(read, size / 4)) : size
}

function mayFit({ size, window }: Prepared): boolean {
  return window === null || size <= SURELY_TOO_LARGE * window
}

function tooLarge(model: string, { size, window, compacted }: Prepared, refusal: CriaError | undefined): CriaError {
  const limit = window === null ? 'whose window is unknown' : `whose window is ${window}`
  const tried = compacted ? 'although older messages were compacted' : 'and no message in it can be compacted'
  const said = refusal === undefined ? '' : ` The provider said: ${refusal.message}`
  return new CriaError(
    'context_length',
    `The request is about ${Math.round(size)} tokens, too many for ${model}, ${limit}, ${tried}.${said}`,
    {
      hint: 'Ask for less at once, or name a model with a larger window among the fallback models.',
      ...(refusal?.status === undefined ? {} : { status: refusal.status }),
      details: { ...refusal?.details, model, tokens: Math.round(size), contextWindow: window },
      ...(refusal === undefined ? {} : { cause: refusal }),
    },
  )
}
