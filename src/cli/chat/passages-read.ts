/** The passages of documents that the model has read in a turn, listed below its answer. */

import type { DocumentStore, ScoredChunk } from '../../core/store.ts'
import { pageAt } from '../../core/store.ts'
import { sourceBase } from '../../app/stores.ts'
import { visibleLine } from '../../util/terminal.ts'
import type { Io } from '../io.ts'
import { placeOf } from '../sources.ts'

type Store = Parameters<typeof sourceBase>[0]

const MOST = 10

export class PassagesRead {
  /** The store, for tools: what they find in it is remembered. */
  readonly store: DocumentStore
  readonly #store: Store
  #found: ScoredChunk[] = []

  constructor(store: Store) {
    this.#store = store
    const remember = (chunks: readonly ScoredChunk[]): void => void this.#found.push(...chunks)
    this.store = new Proxy<DocumentStore>(store, {
      get(target, name) {
        if (name === 'search') {
          return async (...asked: Parameters<DocumentStore['search']>) => {
            const found = await target.search(...asked)
            remember(found)
            return found
          }
        }
        const member: unknown = Reflect.get(target, name, target)
        return typeof member === 'function' ? (member.bind(target) as unknown) : member
      },
    })
  }

  /**
   * The places of the passages that were found since the last call, best first: those that the answer names, where it names some. Empty when
   * nothing was searched for.
   */
  async list(answer: string, { cwd, stdout }: Pick<Io, 'cwd' | 'stdout'>): Promise<string> {
    const found = this.#found.toSorted((a, b) => b.score - a.score)
    this.#found = []
    if (found.length === 0) return ''
    const base = await sourceBase(this.#store)
    const named = found.filter(({ source }) => answer.includes(source))
    const places = (named.length > 0 ? named : found).map((chunk) =>
      placeOf(chunk.source, { lines: chunk.lines, page: pageAt(chunk) }, { cwd, base }),
    )
    const lines = [...new Set(places)].slice(0, MOST).map((place) => `  ${visibleLine(place)}\n`)
    return `\n${stdout.style('bold', named.length > 0 ? 'Sources' : 'Passages that were read')}\n${lines.join('')}`
  }
}
