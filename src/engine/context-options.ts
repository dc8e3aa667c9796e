/** Types the options of context injection and compaction. */

import type { ContextSource } from '../core/injection.ts'
import type { LanguageModel } from '../core/model.ts'
import type { CompactionOptions } from '../prepare/compact/room.ts'

/** What the engine itself understands of the option `context`. */
export interface EngineContextOptions {
  /** Looked up anew for each turn; default none. Those of the same place stand in this order. */
  readonly sources?: readonly ContextSource[]
  /** When older messages make room, and how; `false`: never. Default at 80 % of the window. */
  readonly compaction?: false | CompactionOptions
  /** Writes summaries of older messages, before the model of the turn is asked; default it alone is. Called when one is needed. */
  readonly summaryModel?: () => LanguageModel | undefined
}

/** The option `context` of the public `query()`, which makes sources of what is switched on. Default: nothing is. */
export interface ContextOptions extends EngineContextOptions {
  /** The working directory, from which project files and the repository are found; default that of the process. */
  readonly cwd?: string
  /** `AGENTS.md` and the like, from the root of the repository down to `cwd`. */
  readonly project?: boolean | ContextBudget
  /** Files that tools have read earlier in the session, where they have changed since or their text is no longer in the conversation. */
  readonly recentFiles?: boolean | ContextBudget
  /** What `git status` says at the beginning of the turn. */
  readonly gitStatus?: boolean | ContextBudget
}

/** How much of the window of a model each kind of text may fill. */
export interface ContextBudget {
  /** Tokens at most; less where the model's context window is small. */
  readonly maxTokens?: number
}
