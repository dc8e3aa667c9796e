/**
 * The port for context that a request holds beside the conversation: instructions of the project, current files, the state of
 * the repository. It is loaded anew for each turn and never becomes part of the session's history.
 */

export interface ContextSource {
  /** Name of the source: `project`, `files`, `git`, or a name of your own. */
  readonly name: string
  /** Maximum number of tokens of all its pieces, labels included. */
  readonly maxTokens: number
  /** `true`: seldom changes, so it is placed before the conversation, where providers can cache it. Default: after it. */
  readonly isStable?: boolean
  /** Milliseconds after which a source that has not answered is left out with a notice; default 10,000. */
  readonly timeout?: number
  /** Returns pieces in the order of the request. If they exceed `maxTokens`, the last ones are kept. A failure skips the source. */
  load(request: ContextRequest): Promise<readonly ContextPiece[]>
}

/** The turn, as a context source sees it. */
export interface ContextRequest {
  /** Aborted with the turn. */
  readonly signal: AbortSignal
  /** Longer texts are cut to this many tokens: a source need not read more. */
  readonly maxTokens: number
  /** Files that tools have read earlier in the session, oldest first. */
  readonly reads: readonly EarlierRead[]
  /** Reports to the user, as a notice event, for example what was left out and why. */
  notice(message: string): void
}

/** A file that a tool has read in an earlier turn of the session. */
export interface EarlierRead {
  /** As the tool names it in `resources`. */
  readonly name: string
  /** The result that the model received then. */
  readonly result: string
}

/** Text that a context source adds to a request. */
export interface ContextPiece {
  /** Title of the piece for the model: `instructions of this project`. */
  readonly title: string
  /** Origin of the text: a path or a command. */
  readonly source: string
  /** The text; it is fenced as data unless `isTrusted`. */
  readonly text: string
  /** The user has approved exactly this text as instructions: it goes into the system prompt. Default: it is data. */
  readonly isTrusted?: boolean
  /** `text` is cut: only the beginning is present. */
  readonly isCut?: boolean
}

/** The origin of a piece of context, kept with its message. */
export interface Injected {
  /** Name of the source. */
  readonly by: string
  /** Title of the piece for the model. */
  readonly title: string
  /** Origin of the text: a path or another name. */
  readonly source: string
  /** The text may give instructions; default false: it is data. */
  readonly isTrusted?: boolean
  /** The text was longer than its share of the window. */
  readonly isCut?: boolean
}
