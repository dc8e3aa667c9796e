/** Hooks: callbacks of the application around prompts, tool calls and the end of a turn. They may refuse, change or add; they decide before rules do. */

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
  /** Aborted when the turn is, and when the time of the hook is up. */
  readonly signal: AbortSignal
}

export const HOOK_NAMES = ['onPrompt', 'onToolCall', 'onToolResult', 'onStop'] as const
/** The name of a hook. */
export type HookName = (typeof HOOK_NAMES)[number]

/** The model is told the reason of a refused call; a prompt that is refused ends the turn with `permission_denied`. */
export interface HookRefusal {
  /** Why not, for the model or the user to read. */
  readonly refuse: string
}

/**
 * The return value of a hook changes something; nothing, or an empty object, changes nothing. One that throws, or does not answer in time, refuses: a
 * guard that fails must not let pass.
 */
export interface Hooks {
  /** Before the first request of a turn, and for each message that steers it; one that is refused is left out. `context` goes to the model with the prompt, as data. */
  readonly onPrompt?: (
    given: { readonly prompt: string },
    ctx: HookContext,
  ) => MaybePromise<HookRefusal | { readonly context?: string } | undefined | void>
  /** Before rules and people are asked about a call whose input fits. Another `input` has to fit as well. */
  readonly onToolCall?: (
    call: ToolUse,
    ctx: HookContext,
  ) => MaybePromise<HookRefusal | { readonly input?: Json } | undefined | void>
  /** After a call has run. `content` is what the model and the journal get in place of the result and its attachments; `refuse` keeps it from them. */
  readonly onToolResult?: (
    given: ToolResult & { readonly input: Json },
    ctx: HookContext,
  ) => MaybePromise<HookRefusal | { readonly content?: string } | undefined | void>
  /** When the model has stopped. `goOn` is told to it as a message of the user, and the turn goes on. One that fails lets the turn end. */
  readonly onStop?: (
    given: { readonly text: string },
    ctx: HookContext,
  ) => MaybePromise<{ readonly goOn?: string } | undefined | void>
  /** Milliseconds that each of them may take; default 10,000. */
  readonly timeout?: number
}
