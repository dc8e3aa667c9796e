/** The passages of documents that the model has read in a turn, listed below its answer. */

import type { DocumentStore, ScoredChunk } from '../../core/store.ts'
import { pageAt } from '../../core/store.ts'
import { sourceBase } from '../../app/stores.ts'
import { visibleLine } from '../../util/terminal.ts'
import type { Io } from '../io.ts'
import { placeOf } from '../sources.ts'

type Store = Parameters<typeof sourceBase>[0]

const MOST = 10

export interface PassagesRead {
  /** The store, for tools: what they find in it is remembered. */
  readonly store: DocumentStore
  /**
   * Lists the places of the passages that were found since the last call, best first: those that the answer names, where it names some. Empty
   * when nothing was searched for.
   */
  list(answer: string, io: Pick<Io, 'cwd' | 'stdout'>): Promise<string>
}

export function passagesRead(store: Store): PassagesRead {
  let found: readonly ScoredChunk[] = []
  const search: DocumentStore['search'] = async (...asked) => {
    const chunks = await store.search(...asked)
    found = [...found, ...chunks]
    return chunks
  }
  return {
    store: new Proxy<DocumentStore>(store, {
      get(target, name) {
        if (name === 'search') return search
        const member: unknown = Reflect.get(target, name, target)
        return typeof member === 'function' ? (member.bind(target) as unknown) : member
      },
    }),
    async list(answer, { cwd, stdout }) {
      const best = found.toSorted((a, b) => b.score - a.score)
      found = []
      if (best.length === 0) return ''
      const base = await sourceBase(store)
      const named = best.filter(({ source }) => answer.includes(source))
      const places = (named.length > 0 ? named : best).map((chunk) =>
        placeOf(chunk.source, { lines: chunk.lines, page: pageAt(chunk) }, { cwd, base }),
      )
      const lines = [...new Set(places)].slice(0, MOST).map((place) => `  ${visibleLine(place)}\n`)
      return `\n${stdout.style('bold', named.length > 0 ? 'Sources' : 'Passages that were read')}\n${lines.join('')}`
    },
  }
}
