/** What a passage takes up in a request, with all that stands around it. */

import { retrieved } from '../../core/message.ts'
import type { Message } from '../../core/message.ts'
import { fenced } from '../fence.ts'
import { estimateMessageTokens } from '../request-tokens.ts'
import type { Passage } from './merge.ts'

type Origin = 'docstore' | 'memory'

export function passageMessage({ chunk, alsoIn }: Passage, marker: string, origin: Origin, store: string): Message {
  return retrieved({ marker, origin, store, chunk, ...(alsoIn.length === 0 ? {} : { alsoIn }) })
}

/** For counting, before anybody knows how many there will be. */
const WIDEST_MARKER = '0000'

export function tokensOfPassage(passage: Passage, origin: Origin = 'docstore'): number {
  return estimateMessageTokens(fenced(passageMessage(passage, WIDEST_MARKER, origin, '')))
}
