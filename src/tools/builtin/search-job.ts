/** Types the messages between the searching thread and its caller. */

export interface SearchJob {
  readonly pattern: string
  readonly literal: boolean
  readonly ignoreCase: boolean
  /** Real paths. */
  readonly root: string
  readonly start: string
  readonly isFolder: boolean
  readonly globs: readonly string[]
  readonly hidden: boolean
  readonly context: number
  readonly limit: number
  readonly show: 'lines' | 'files' | 'count'
  /** See `ToolContext`. */
  readonly closedPaths: readonly string[]
}

export type SearchNews =
  /** `text` is what the model reads about one file. */
  | { readonly type: 'found'; readonly text: string; readonly matches: number }
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'done'; readonly files: number; readonly skipped: number; readonly limited: boolean }

/** Larger files are left out, and counted as skipped. */
export const MAX_SEARCHED_BYTES = 20_000_000
