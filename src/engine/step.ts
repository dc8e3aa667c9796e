/** Types the callbacks of a step: `prepareStep` and `stopWhen`. */

import type { MaybePromise } from '../core/maybe-promise.ts'
import type { Message } from '../core/message.ts'
import type { LanguageModel, ToolChoice } from '../core/model.ts'
import type { Tool, ToolResult } from '../core/tool.ts'
import type { Usage } from '../core/usage.ts'
import type { ModelChain } from '../model/chain.ts'
import type { RequestOptions } from '../prepare/request.ts'

/** The argument of `prepareStep`. */
export interface StepState {
  /** The step to come, from 1. */
  readonly step: number
  /** What has been said, the system prompt included once the first step has been made. */
  readonly messages: readonly Message[]
  /** The model that is asked unless another one is named. */
  readonly model: string
}

/** Settings of one step; those left out stay as in the options of the turn. */
export interface StepChanges<Model = LanguageModel> {
  /** Asked in this step, before the models of the turn. */
  readonly model?: Model
  /** All tools of this step. */
  readonly tools?: readonly Tool[]
  /** For this step alone. */
  readonly toolChoice?: ToolChoice
  /** In place of the option `system`. */
  readonly system?: string
}

/** Decides before a step what is different about it; `undefined` changes nothing. */
export type PrepareStep<Model = LanguageModel> = (state: StepState) => MaybePromise<StepChanges<Model> | undefined>

/** The argument of `stopWhen`, after a step whose tools have run. */
export interface StepEnd extends StepState {
  /** The answer of the model in this step. */
  readonly message: Message
  /** Results of the tools of this step, in the order of the calls. */
  readonly toolResults: readonly Pick<ToolResult, 'id' | 'name' | 'content' | 'isError'>[]
  /** Of the turn so far. */
  readonly usage: Usage
  /** US dollars of the turn so far; `null`: not known. */
  readonly costUsd: number | null
}

/** Decides after a step whether the turn ends; `true` ends it with the finish reason `stop-when`. */
export type StopWhen = (end: StepEnd) => MaybePromise<boolean>

/** A step, as it is asked for. */
export interface StepSettings {
  readonly chain: ModelChain
  readonly request: RequestOptions
  readonly tools: readonly Tool[]
  /** In place of the system prompt; `undefined`: as it is. */
  readonly system: string | undefined
}
