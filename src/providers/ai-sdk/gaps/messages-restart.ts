/**
 * Messages: a gateway that loses its upstream may begin the answer anew, with a second `message_start` in the same stream. All that
 * came before it is void; the package reports an error and goes on mixing the two.
 */

import { asObject } from '../../wire/dialect.ts'
import type { CreateGap } from './gap.ts'

export const messagesRestart: CreateGap = () => {
  let open: unknown
  let isOpen = false
  return {
    markers: ['message_start', 'message_stop'],
    event(event) {
      if (event['type'] === 'message_stop') isOpen = false
      if (event['type'] !== 'message_start') return 'keep'
      const id = asObject(event['message'])?.['id']
      if (isOpen && id !== open) {
        // Asked again when the rest of the stream is read, and then it is the first.
        isOpen = false
        return 'restart'
      }
      if (isOpen) return 'drop'
      isOpen = true
      open = id
      return 'keep'
    },
  }
}
