/** Adds up the usage of a turn, and computes what it may still use. */

import { dayOf, NOTHING } from '../../core/budget.ts'
import type { Amount, Budget, BudgetKey, BudgetStore, BudgetUse } from '../../core/budget.ts'
import type { Clock } from '../../core/clock.ts'
import { CriaError } from '../../core/error.ts'
import type { LanguageModel, ModelRequest } from '../../core/model.ts'
import type { ModelUse } from '../../core/recorder.ts'
import type { Usage } from '../../core/usage.ts'
import { addUsage, plus, ZERO_USAGE } from '../../core/usage.ts'
import type { Attempted, Ledger } from '../../model/answer.ts'
import { estimatePartTokens, estimateRequestTokens } from '../../prepare/tokens.ts'
import { settled } from '../../util/promise.ts'
import { costOf, isLimited, planRequest } from './plan.ts'
import type { Account, Plan } from './plan.ts'
import { sumOf } from './memory-budget.ts'

export interface LedgerOptions {
  readonly turnId: string
  readonly sessionId: string
  readonly userId?: string | undefined
  readonly clock: Pick<Clock, 'now'>
  /** Absent: no limits. */
  readonly budget?: Budget | undefined
  /** Returns the store of the budgets of sessions, days, users and tags. */
  readonly store: () => BudgetStore
  /** Ledger of the turn whose tool started this one, or of its batch; use is counted there as well. */
  readonly parent?: TurnLedger | undefined
  /** `batch`: adds up the use of the ledgers below it. Default `turn`. */
  readonly scope?: 'turn' | 'batch'
}

export class TurnLedger implements Ledger {
  /** Usage of all ended requests, including failed ones. */
  usage: Usage = ZERO_USAGE
  costUsd: number | null = 0
  readonly #models = new Map<string, ModelUse>()
  readonly #options: LedgerOptions
  #used: Amount = NOTHING
  /** Reserved for in-flight requests, including those of nested turns. */
  #outstanding: Amount = NOTHING
  #planned: Amount = NOTHING
  /** The shared account with a reservation for the in-flight request. */
  #reserved: BudgetKey | undefined

  constructor(options: LedgerOptions) {
    this.#options = options
  }

  async reserve(model: LanguageModel, request: ModelRequest): Promise<ModelRequest> {
    const { budget, turnId, sessionId, clock, store } = this.#options
    const { session = {}, day = {}, user, tags = {}, ...own } = budget ?? {}
    const isShared = [session, day, user, ...Object.values(tags)].some(isLimited)
    const around = this.#around()
    if (!isShared && !isLimited(own) && around.length === 0) return request

    const demand = {
      inputTokens: estimateRequestTokens(request),
      maxOutputTokens: request.maxOutputTokens,
      facts: model.facts,
      price: model.facts.price ?? undefined,
    }
    const accounts = [this.#account(), ...around.map((ledger) => ledger.#account())]
    let plan: Plan | undefined
    if (isShared) {
      const { userId } = this.#options
      const key = {
        turnId,
        sessionId,
        day: dayOf(clock.now()),
        ...(user === undefined || userId === undefined ? {} : { userId }),
        ...(Object.keys(tags).length === 0 ? {} : { tags: Object.keys(tags) }),
      }
      await store().reserve(key, (used) => {
        const shared: Account[] = [
          { scope: 'session', limits: session, ...used.session },
          { scope: 'day', limits: day, ...used.day },
          ...(user === undefined ? [] : [{ scope: 'user' as const, limits: user, name: userId ?? '', ...kept(used.user) }]),
          ...Object.entries(tags).map(([tag, limits]) => ({
            scope: 'tag' as const,
            limits,
            name: tag,
            ...kept(used.tags?.[tag]),
          })),
        ]
        plan = planRequest(demand, [...accounts, ...shared])
        // Reserve before the next await: others below the same ledger may plan in the meantime.
        this.#setAside(plan.most)
        return plan
      })
      this.#reserved = key
    } else {
      plan = planRequest(demand, accounts)
      this.#setAside(plan.most)
    }
    return plan?.maxOutputTokens === undefined ? request : { ...request, maxOutputTokens: plan.maxOutputTokens }
  }

  async settle(model: LanguageModel, request: ModelRequest, attempt: Attempted): Promise<Usage> {
    const usage = attempt.free ? ZERO_USAGE : completed(attempt, request)
    const costUsd = attempt.free ? 0 : costOf(usage, model.facts.price ?? undefined)
    this.#add(usage, costUsd)
    this.#models.set(model.ref, useOf(model.ref, this.#models.get(model.ref), usage, costUsd))
    const amount = { tokens: (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0), costUsd: costUsd ?? 0 }
    this.#setAside(NOTHING)
    this.#used = sumOf(this.#used, amount)
    for (const ledger of this.#ancestors()) {
      ledger.#used = sumOf(ledger.#used, amount)
      if (ledger.#options.scope === 'batch') ledger.#add(usage, costUsd)
    }
    const key = this.#reserved
    this.#reserved = undefined
    if (key !== undefined) await settled(this.#options.store().settle(key, amount))
    return usage
  }

  /** Use of each model so far. */
  get models(): readonly ModelUse[] {
    return [...this.#models.values()]
  }

  free(): void {
    this.#add(ZERO_USAGE, 0)
  }

  #account(): Account {
    const { session: _, day: __, user: ___, tags: ____, ...limits } = this.#options.budget ?? {}
    return { scope: this.#options.scope ?? 'turn', limits, settled: this.#used, reserved: this.#outstanding }
  }

  #ancestors(): readonly TurnLedger[] {
    const { parent } = this.#options
    return parent === undefined ? [] : [parent, ...parent.#ancestors()]
  }

  /** Ledgers of enclosing turns that have a limit. */
  #around(): readonly TurnLedger[] {
    return this.#ancestors().filter((ledger) => isLimited(ledger.#account().limits))
  }

  /** Reserves an amount for the in-flight request, replacing that of the last request. */
  #setAside(most: Amount): void {
    const { tokens, costUsd } = this.#planned
    for (const ledger of [this, ...this.#ancestors()])
      ledger.#outstanding = sumOf(sumOf(ledger.#outstanding, most), { tokens: -tokens, costUsd: -costUsd })
    this.#planned = most
  }

  #add(usage: Usage, costUsd: number | null): void {
    this.usage = this.usage === ZERO_USAGE ? usage : addUsage(this.usage, usage)
    this.costUsd = plus(this.costUsd, costUsd)
  }
}

/** @throws CriaError if the store does not count users and tags, so that their limits cannot be kept. */
function kept(use: BudgetUse | undefined): BudgetUse {
  if (use !== undefined) return use
  throw new CriaError('configuration', 'The budget store of this recorder does not support budgets of users and tags.', {
    hint: 'Leave `budget.user` and `budget.tags` out, or use openRecorder().',
  })
}

function useOf(
  model: string,
  before: ModelUse | undefined,
  { inputTokens, outputTokens }: Usage,
  costUsd: number | null,
): ModelUse {
  if (before === undefined) return { model, requests: 1, inputTokens, outputTokens, costUsd }
  return {
    model,
    requests: before.requests + 1,
    inputTokens: plus(before.inputTokens, inputTokens),
    outputTokens: plus(before.outputTokens, outputTokens),
    costUsd: plus(before.costUsd, costUsd),
  }
}

/** Estimates the tokens that the provider did not report, and marks the usage as estimated. */
function completed({ usage, parts, finished }: Attempted, request: ModelRequest): Usage {
  if (finished && usage.inputTokens !== null && usage.outputTokens !== null) return usage
  const inputTokens = usage.inputTokens ?? estimateRequestTokens(request)
  // Some providers report the usage of the first tokens at the start.
  const reported = finished ? usage.outputTokens : null
  const outputTokens = reported ?? Math.max(usage.outputTokens ?? 0, estimatePartTokens(parts))
  return { ...usage, inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, exactness: 'estimated' }
}
