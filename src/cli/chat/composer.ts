/** Holds the message that the user is writing: its text, earlier messages, long pastes and completion. */

import { readdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import type { HomePaths } from '../../app/paths.ts'
import { graphemes } from '../../util/cells.ts'
import { edited, EMPTY_DRAFT, insert, vertical, withText } from './editor.ts'
import type { Draft } from './editor.ts'
import { keepInHistory, older, readHistory, recalled, recallOf, remembered, textAt, withQuery } from './history.ts'
import type { Recall, Search } from './history.ts'
import type { Key } from './terminal-input.ts'

/** A longer text is shown by a name: a paste so that it does not fill the screen, a draft because each key lays all of it out again. */
const SHOWN = { draft: { characters: 20_000 }, paste: { characters: 2000, lines: 10 } } as const

export class Composer {
  readonly #paths: HomePaths
  readonly #completable: Completable
  #draft: Draft = EMPTY_DRAFT
  /** Long pastes, by the name that replaces them in the draft. */
  #pasted = new Map<string, string>()
  #recall: Recall = recallOf([])
  #search: Search | undefined
  /** Possible completions, to be shown after Tab. */
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

  /** Describes the search in earlier messages, to be shown; `undefined` without a search. */
  get searching(): string | undefined {
    if (this.#search === undefined) return undefined
    return `${this.#search.isExhausted ? 'no older message with' : 'searching for'}: ${this.#search.query}`
  }

  /** Ends the search and keeps the message that it found. */
  endSearch(): void {
    this.#search = undefined
  }

  /** Ends the search and restores the draft from before it. */
  cancelSearch(): void {
    if (this.#search !== undefined) this.write(this.#search.draft)
    this.#search = undefined
  }

  /** Loads the messages of earlier sessions. */
  async loadHistory(): Promise<void> {
    this.#recall = recallOf(await readHistory(this.#paths))
  }

  /** Applies a key. Returns the message when the key sends it. */
  press(key: Key): string | undefined {
    this.candidates = []
    const name = key.type === 'key' ? key.name : undefined
    if (this.#pressInSearch(key, name)) return undefined
    if (name === 'enter') return this.#send()
    if (name === 'up' || name === 'ctrl-p') this.#move(-1)
    else if (name === 'down' || name === 'ctrl-n') this.#move(1)
    else if (key.type === 'paste') this.#paste(key.text)
    else this.#draft = edited(this.#draft, name === 'ctrl-d' ? { type: 'key', name: 'delete' } : key)
    return undefined
  }

  /** Completes the text before the cursor. Keys must wait until it is done. */
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

  /** Cuts the whole text; Ctrl-Y inserts it again. */
  clear(): void {
    this.#draft = { ...EMPTY_DRAFT, killed: this.#draft.text }
  }

  write(text: string): void {
    const isLong = text.length > SHOWN.draft.characters
    this.#draft = withText(this.#draft, isLong ? '' : text)
    if (isLong) this.#paste(text)
  }

  /** Puts messages that were not sent yet before the draft. */
  takeBack(messages: readonly string[]): void {
    if (messages.length > 0) this.write([...messages, ...(this.isEmpty ? [] : [this.#draft.text])].join('\n'))
  }

  /** Applies a key of the search; returns `false` for other keys, which end the search and then have their usual effect. */
  #pressInSearch(key: Key, name: string | undefined): boolean {
    const search = this.#search
    if (name === 'ctrl-r') {
      const started = { ...recallOf(this.#recall.entries, this.#draft.text), query: '', isExhausted: false }
      this.#search = search === undefined ? started : older(search)
    } else if (search === undefined) {
      return false
    } else if (name === 'ctrl-g') {
      this.cancelSearch()
      return true
    } else if (name === 'backspace') {
      this.#search = withQuery(search, graphemes(search.query).slice(0, -1).join(''))
    } else if (key.type !== 'key') {
      this.#search = withQuery(search, search.query + key.text.split('\n', 1).join(''))
    } else {
      this.endSearch()
      return false
    }
    this.write(textAt(this.#search))
    return true
  }

  #send(): string | undefined {
    const { text, cursor, killed } = this.#draft
    // A backslash before Enter makes a new line.
    if (text[cursor - 1] === '\\') {
      this.#draft = insert({ text: text.slice(0, cursor - 1) + text.slice(cursor), cursor: cursor - 1, killed }, '\n')
      return undefined
    }
    const whole = text.replaceAll(/\[pasted text \d+: \d+ (?:lines|characters)\]/g, (name) => this.#pasted.get(name) ?? name)
    const message = whole.trim()
    if (message === '') return undefined
    this.#draft = { ...EMPTY_DRAFT, killed }
    this.#pasted.clear()
    this.#recall = remembered(this.#recall, message)
    void keepInHistory(message, this.#paths)
    return message
  }

  #move(by: -1 | 1): void {
    const within = vertical(this.#draft, by)
    const found = within === undefined ? recalled(this.#recall, this.#draft.text, by) : undefined
    this.#draft = within ?? this.#draft
    if (found === undefined) return
    this.#recall = found
    this.write(textAt(found))
  }

  /** Inserts a paste. A long one is shown by a name but sent whole. */
  #paste(text: string): void {
    const lines = text.split('\n').length
    let shown = text
    if (lines > SHOWN.paste.lines || text.length > SHOWN.paste.characters) {
      const size = lines > 1 ? `${lines} lines` : `${text.length} characters`
      shown = `[pasted text ${this.#pasted.size + 1}: ${size}]`
      this.#pasted.set(shown, text)
    }
    this.#draft = insert(this.#draft, shown)
  }
}

export interface Completable {
  /** Names of commands, without the slash. */
  readonly commands: readonly string[]
  /** Possible arguments of each command, by its name. */
  readonly values: Readonly<Record<string, readonly string[]>>
  readonly cwd: string
}

export interface Completion {
  /** Offset in the text at which the candidates begin. */
  readonly start: number
  /** Replacements for the text between `start` and the cursor. */
  readonly candidates: readonly string[]
}

const MOST_CANDIDATES = 200

/** Finds completions of commands, their arguments, and paths. @param text up to the cursor. */
export async function complete(text: string, from: Completable): Promise<Completion> {
  const command = /^\/(\S*)$/.exec(text)?.[1]
  if (command !== undefined && !command.includes('/')) {
    const names = from.commands.filter((name) => name.startsWith(command))
    return { start: 0, candidates: names.map((name) => `/${name} `) }
  }
  const [, name = '', value = ''] = /^\/(\S+)\s+(\S*)$/.exec(text) ?? []
  // Only own members, because the user may type `/constructor`.
  const known = Object.hasOwn(from.values, name) ? (from.values[name] ?? []) : []
  const values = known.filter((each) => each.startsWith(value))
  if (values.length > 0) return { start: text.length - value.length, candidates: values }
  return completePath(text, from.cwd)
}

async function completePath(text: string, cwd: string): Promise<Completion> {
  const quoted = /@"([^"\n]*)$/.exec(text)?.[1]
  const word = quoted ?? /[^\s"'`(]*$/.exec(text)?.[0] ?? ''
  const nothing = { start: text.length, candidates: [] }
  if (word === '') return nothing
  const isMention = quoted === undefined && word.startsWith('@')
  const path = isMention ? word.slice(1) : word
  const [folder, name] = [path.slice(0, path.lastIndexOf('/') + 1), path.slice(path.lastIndexOf('/') + 1)]
  try {
    const entries = await readdir(locate(folder, cwd), { withFileTypes: true })
    const found = entries
      .filter((entry) => entry.name.startsWith(name) && (name.startsWith('.') || !entry.name.startsWith('.')))
      .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
      .sort()
      .slice(0, MOST_CANDIDATES)
    // A mentioned path with spaces is put in quotes, which are closed after a file but not after a folder.
    const inQuotes = quoted !== undefined || (isMention && found.some((each) => /\s/.test(each)))
    const candidates = inQuotes ? found.map((each) => `"${each}${each.endsWith('/') ? '' : '"'}`) : found
    return { start: text.length - path.length - (quoted === undefined ? 0 : 1), candidates }
  } catch {
    return nothing
  }
}

/** Resolves a path as the user types it, `~/` included. */
export function locate(path: string, cwd: string): string {
  return path.startsWith('~/') ? resolve(homedir(), path.slice(2)) : resolve(cwd, path)
}

/** Returns the longest common beginning of the candidates, in whole characters. */
export function commonStart([first = '', ...others]: readonly string[]): string {
  let length = first.length
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length--
  const start = first.slice(0, length)
  return start.isWellFormed() ? start : start.slice(0, -1)
}
