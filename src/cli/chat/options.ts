/** What `cria chat` takes. */
export interface ChatOptions {
  readonly safe: boolean
  /** Empty: choose from a list. */
  readonly resume: string | undefined
  readonly plain: boolean
  readonly model: string | undefined
  readonly fallback: readonly string[]
  readonly 'no-switch': boolean
  readonly allow: readonly string[]
  readonly deny: readonly string[]
  readonly fetch: boolean
  readonly 'no-mcp': boolean
  readonly store: string | undefined
  readonly docs: readonly string[]
  readonly thinking: boolean
  readonly 'max-cost': number | undefined
}
