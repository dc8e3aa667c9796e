/** What a turn has used so far, also while a request is under way. */

import type { LanguageModel, ModelRequest } from '../core/model.ts'
import type { Usage } from '../core/usage.ts'
import { addUsage, UNKNOWN_USAGE, ZERO_USAGE } from '../core/usage.ts'
import type { Ledger } from '../model/answer.ts'
import { estimateTokens } from '../prepare/tokens.ts'
import { addCost, costOf } from './cost.ts'

export class TurnLedger implements Ledger {
  /** Of all finished requests. */
  usage: Usage = ZERO_USAGE
  costUsd: number | null = 0
  #underWay: { readonly model: LanguageModel; readonly request: ModelRequest } | undefined

  sent(model: LanguageModel, request: ModelRequest): void {
    this.#underWay = { model, request }
  }

  settled(model: LanguageModel, usage: Usage): void {
    this.#underWay = undefined
    this.#add(model, usage)
  }

  /** Settles a request that was cut off: its input and the text that had come are estimated. */
  abandon(text: string): void {
    if (this.#underWay === undefined) return
    const { model, request } = this.#underWay
    this.#underWay = undefined
    const inputTokens = request.messages.reduce((sum, message) => sum + estimateTokens(message.content), 0)
    const outputTokens = estimateTokens(text)
    this.#add(model, {
      ...UNKNOWN_USAGE,
      inputTokens,
      outputTokens,
      totalTokens: inputTokens + outputTokens,
      exactness: 'estimated',
    })
  }

  #add(model: LanguageModel, usage: Usage): void {
    this.usage = this.usage === ZERO_USAGE ? usage : addUsage(this.usage, usage)
    this.costUsd = addCost(this.costUsd, costOf(usage, model.facts.price))
  }
}
