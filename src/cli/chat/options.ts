/** Types the options of a chat. */

import type { LoadedConfig } from '../../app/config.ts'
import type { StoreChoice } from '../../app/store-choice.ts'
import type { FilledPrompt } from '../../core/prompt.ts'
import type { Io } from '../io.ts'
import type { PROMPT, RunOptions, TOOLS } from '../shared-options.ts'

/** What chat and `cria run` take alike. */
type SharedName = (typeof PROMPT)[number] | (typeof TOOLS)[number] | 'safe' | 'allow' | 'deny' | 'continue' | 'max-cost'

/** What `cria chat` takes. With `continue` it goes on with the last session of the folder. */
export interface ChatOptions extends Pick<RunOptions, SharedName> {
  /** Id of a session; empty: choose from a list. Once a chat is started, the one that was chosen. */
  readonly resume: string | undefined
  readonly plain: boolean
  /** Seconds from which a turn is a long one; empty: 10. Absent: nothing rings. */
  readonly bell?: string | undefined
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
