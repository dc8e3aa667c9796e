/**
 * The port for what a request holds beside what was said: instructions of the project, files as they are now, the state of the
 * repository. It is looked up anew for each turn and never becomes part of the session's history.
 */

export interface ContextSource {
  /** Names its pieces: `project`, `files`, `git`, or a name of your own. */
  readonly name: string
  /** Tokens that its pieces may take together, their labels included. */
  readonly maxTokens: number
  /** `true`: seldom changes, and stands before the conversation, where providers can keep it in their caches. Default: after it. */
  readonly isStable?: boolean
  /** Milliseconds after which a source that has not answered is left out, and the user is told; default 10,000. */
  readonly timeout?: number
  /** In the order in which they are to stand. Where the budget is short, the last ones are kept. A failure skips the source. */
  load(request: ContextRequest): Promise<readonly ContextPiece[]>
}

/** The turn, as a context source sees it. */
export interface ContextRequest {
  /** Aborted with the turn. */
  readonly signal: AbortSignal
  /** Whole texts beyond this many tokens are cut anyway: no source needs to read more. */
  readonly maxTokens: number
  /** Files that tools have read earlier in the session, oldest first. */
  readonly reads: readonly EarlierRead[]
  /** Tells the user what was left out and why, or what else there is to know. */
  notice(message: string): void
}

/** A file that a tool has read in an earlier turn of the session. */
export interface EarlierRead {
  /** As the tool names it in `resources`. */
  readonly name: string
  /** The result that the model got then. */
  readonly result: string
}

/** Text that a context source adds to a request. */
export interface ContextPiece {
  /** Names the piece to the model: `instructions of this project`. */
  readonly title: string
  /** Where it comes from: a path, a command. */
  readonly source: string
  /** The text; it is fenced as data unless `isTrusted`. */
  readonly text: string
  /** The user has said that this very text may instruct the model: it stands in the system prompt. Default: it is data. */
  readonly isTrusted?: boolean
  /** `text` is only the beginning. */
  readonly isCut?: boolean
}

/** The origin of a piece of context, kept with its message. */
export interface Injected {
  /** Name of the source. */
  readonly by: string
  /** Names the piece to the model. */
  readonly title: string
  /** Where the text is from: a path or another name. */
  readonly source: string
  /** The text may give instructions; default false: it is data. */
  readonly isTrusted?: boolean
  /** The text was longer than its share of the window. */
  readonly isCut?: boolean
}
