/** Holds the message that is being written: its text, earlier messages, long pastes and completion. */

import type { HomePaths } from '../../app/paths.ts'
import { beginSearch, older, textOf, withQuery } from './backward-search.ts'
import type { BackwardSearch } from './backward-search.ts'
import { commonStart, complete } from './completion.ts'
import type { Completable } from './completion.ts'
import { graphemes } from '../../util/cells.ts'
import { edited, EMPTY_DRAFT, insert, vertical, withText } from './editor.ts'
import type { Draft } from './editor.ts'
import { keepInHistory, readHistory, recalled, recallOf, remembered } from './history.ts'
import type { Recall } from './history.ts'
import type { Key } from './keys.ts'

const MOST_WRITTEN = 20_000

export class Composer {
  readonly #paths: HomePaths
  readonly #completable: Completable
  #draft: Draft = EMPTY_DRAFT
  #pasted: Pasted = NOTHING_PASTED
  #recall: Recall = recallOf([])
  #search: BackwardSearch | undefined
  /** What Tab could complete to, for the user to see. */
  candidates: readonly string[] = []

  constructor(paths: HomePaths, completable: Completable) {
    this.#paths = paths
    this.#completable = completable
  }

  get draft(): Draft {
    return this.#draft
  }

  get isEmpty(): boolean {
    return this.#draft.text === ''
  }

  /** What is looked for in what was typed before, for the user to see. */
  get searching(): string | undefined {
    if (this.#search === undefined) return undefined
    const { query, isLost } = this.#search
    return `${isLost ? 'nothing older with' : 'search back'}: ${query}`
  }

  /** What is found stays in the line. */
  endSearch(): void {
    this.#search = undefined
  }

  /** Brings back what was being written. */
  giveUpSearch(): void {
    if (this.#search === undefined) return
    this.write(this.#search.draft)
    this.#search = undefined
  }

  /** Fetches what was typed in earlier sessions. */
  async remember(): Promise<void> {
    this.#recall = recallOf(await readHistory(this.#paths))
  }

  /** The message, when the key sends it. */
  press(key: Key): string | undefined {
    this.candidates = []
    const name = key.type === 'key' ? key.name : undefined
    if (this.#pressInSearch(key, name)) return undefined
    if (name === 'enter') return this.#send()
    if (name === 'up' || name === 'ctrl-p') this.#move(-1)
    else if (name === 'down' || name === 'ctrl-n') this.#move(1)
    else if (key.type === 'paste') this.#insertPaste(key.text)
    else this.#draft = edited(this.#draft, name === 'ctrl-d' ? { type: 'key', name: 'delete' } : key) ?? this.#draft
    return undefined
  }

  /** Completes what stands before the cursor; nothing may be pressed until it is done. */
  async complete(): Promise<void> {
    const wereShown = this.candidates.length > 0
    this.candidates = []
    this.endSearch()
    const { text, cursor } = this.#draft
    const { start, candidates } = await complete(text.slice(0, cursor), this.#completable)
    const taken = commonStart(candidates)
    if (taken.length > cursor - start) {
      this.#draft = { ...this.#draft, text: text.slice(0, start) + taken + text.slice(cursor), cursor: start + taken.length }
    }
    this.candidates = candidates.length > 1 && !wereShown ? candidates : []
  }

  /** Takes the text away; Ctrl-Y brings it back. */
  clear(): void {
    this.#draft = { ...EMPTY_DRAFT, killed: this.#draft.text }
  }

  /** So much text takes one row, as if it had been pasted: every key would lay it out anew. */
  write(text: string): void {
    const isLong = text.length > MOST_WRITTEN
    this.#draft = withText(this.#draft, isLong ? '' : text)
    if (isLong) this.#insertPaste(text)
  }

  /** Puts messages that were not said yet before what is being written. */
  takeBack(messages: readonly string[]): void {
    if (messages.length > 0) this.write([...messages, ...(this.isEmpty ? [] : [this.#draft.text])].join('\n'))
  }

  /** Any other key ends the search, and does to what was found what it always does. */
  #pressInSearch(key: Key, name: string | undefined): boolean {
    const { entries } = this.#recall
    if (name === 'ctrl-r') {
      this.#search = this.#search === undefined ? beginSearch(entries, this.#draft.text) : older(this.#search, entries)
    } else if (this.#search === undefined) {
      return false
    } else if (name === 'ctrl-g') {
      this.giveUpSearch()
      return true
    } else if (name === 'backspace') {
      this.#search = withQuery(this.#search, entries, graphemes(this.#search.query).slice(0, -1).join(''))
    } else if (key.type !== 'key') {
      this.#search = withQuery(this.#search, entries, this.#search.query + key.text.split('\n', 1).join(''))
    } else {
      this.#search = undefined
      return false
    }
    this.write(textOf(this.#search, entries))
    return true
  }

  #send(): string | undefined {
    const { text, cursor, killed } = this.#draft
    // A backslash before Enter is a line end that is meant.
    if (text[cursor - 1] === '\\') {
      this.#draft = insert({ text: text.slice(0, cursor - 1) + text.slice(cursor), cursor: cursor - 1, killed }, '\n')
      return undefined
    }
    const message = unfolded(text, this.#pasted).trim()
    if (message === '') return undefined
    this.#draft = { ...EMPTY_DRAFT, killed }
    this.#pasted = NOTHING_PASTED
    this.#recall = remembered(this.#recall, message)
    void keepInHistory(message, this.#paths)
    return message
  }

  #move(by: -1 | 1): void {
    const within = vertical(this.#draft, by)
    if (within !== undefined) {
      this.#draft = within
      return
    }
    const found = recalled(this.#recall, this.#draft.text, by)
    if (found === undefined) return
    this.#recall = found.recall
    this.write(found.text)
  }

  #insertPaste(text: string): void {
    const { shown, pasted } = paste(text, this.#pasted)
    this.#pasted = pasted
    this.#draft = insert(this.#draft, shown)
  }
}

export interface Pasted {
  readonly texts: ReadonlyMap<string, string>
}

export const NOTHING_PASTED: Pasted = { texts: new Map() }

/** What is longer than this would push everything else off the screen. */
const MOST_LINES = 10
const MOST_CHARACTERS = 2000

/** What is put into the draft for a text that was pasted. */
export function paste(text: string, pasted: Pasted): { readonly shown: string; readonly pasted: Pasted } {
  const lines = text.split('\n').length
  if (lines <= MOST_LINES && text.length <= MOST_CHARACTERS) return { shown: text, pasted }
  const size = lines > 1 ? `${lines} lines` : `${text.length} characters`
  const shown = `[pasted text ${pasted.texts.size + 1}: ${size}]`
  return { shown, pasted: { texts: new Map([...pasted.texts, [shown, text]]) } }
}

/** The message that is meant. */
export function unfolded(draft: string, { texts }: Pasted): string {
  if (texts.size === 0) return draft
  return draft.replaceAll(/\[pasted text \d+: \d+ (?:lines|characters)\]/g, (name) => texts.get(name) ?? name)
}
