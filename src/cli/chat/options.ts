/** Types the options of a chat. */

import type { LoadedConfig } from '../../app/config.ts'
import type { StoreChoice } from '../../app/store-choice.ts'
import type { FilledPrompt } from '../../core/prompt.ts'
import type { OptionValues } from '../command.ts'
import type { Io } from '../io.ts'
import type { MODEL_OPTIONS, SANDBOX_OPTIONS, STORE_OPTIONS, TEMPLATE_OPTIONS } from '../shared-options.ts'

type SharedOptions = typeof MODEL_OPTIONS & typeof TEMPLATE_OPTIONS & typeof SANDBOX_OPTIONS & typeof STORE_OPTIONS

/** What `cria chat` takes. */
export interface ChatOptions extends OptionValues<SharedOptions> {
  readonly safe: boolean
  /** Id of a session; empty: choose from a list. Once a chat is started, the one that was chosen. */
  readonly resume: string | undefined
  /** Go on with the last session of the folder. */
  readonly continue: boolean
  readonly plain: boolean
  /** Seconds from which a turn is a long one; empty: 10. Absent: nothing rings. */
  readonly bell?: string | undefined
  readonly allow: readonly string[]
  readonly deny: readonly string[]
  readonly fetch: boolean
  readonly 'no-mcp': boolean
  readonly 'max-cost': number | undefined
}

export interface Start {
  readonly options: ChatOptions
  readonly loaded: LoadedConfig
  readonly io: Io
  /** The store of the documents that were named, up to date. */
  readonly documents: StoreChoice | undefined
  /** Puts the first message of a session into the template that was named. */
  readonly begin: ((said: string) => FilledPrompt) | undefined
}
