/** Hooks: callbacks of the application around prompts, tool calls and the end of a turn. They run before permission rules. */

import type { Json } from './json.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { ToolResult, ToolUse } from './tool.ts'

/** Where in a session a hook is called. */
export interface HookContext {
  /** The session. */
  readonly sessionId: string
  /** The turn. */
  readonly turnId: string
  /** The step, from 1; 0 before the first. */
  readonly step: number
  /** Aborted with the turn, and when the hook exceeds its time-out. */
  readonly signal: AbortSignal
}

export const HOOK_NAMES = ['onPrompt', 'onToolCall', 'onToolResult', 'onStop'] as const
/** The name of a hook. */
export type HookName = (typeof HOOK_NAMES)[number]

/** A refusal. The model receives the reason of a refused call; a refused prompt ends the turn with `permission_denied`. */
export interface HookRefusal {
  /** The reason, for the model or the user. */
  readonly refuse: string
}

/**
 * Callbacks whose return value may change or refuse something; `undefined` or an empty object changes nothing. A hook that throws or
 * exceeds its time-out refuses: a guard that fails must not let anything pass.
 */
export interface Hooks {
  /** Called before the first request of a turn and for each steering message; a refused steering message is left out. `context` is added as data. */
  readonly onPrompt?: (
    given: { readonly prompt: string },
    ctx: HookContext,
  ) => MaybePromise<HookRefusal | { readonly context?: string } | undefined | void>
  /** Called for a valid tool call, before rules and permission requests. A changed `input` must fit the schema, too. */
  readonly onToolCall?: (
    call: ToolUse,
    ctx: HookContext,
  ) => MaybePromise<HookRefusal | { readonly input?: Json } | undefined | void>
  /** Called after a tool call. `content` replaces the result and its attachments for model and journal; `refuse` withholds them. */
  readonly onToolResult?: (
    given: ToolResult & { readonly input: Json },
    ctx: HookContext,
  ) => MaybePromise<HookRefusal | { readonly content?: string } | undefined | void>
  /** Called when the model has stopped. `goOn` is sent to it as a user message and the turn continues. If this hook fails, the turn ends. */
  readonly onStop?: (
    given: { readonly text: string },
    ctx: HookContext,
  ) => MaybePromise<{ readonly goOn?: string } | undefined | void>
  /** Time-out of each hook in milliseconds; default 10,000. */
  readonly timeout?: number
}
