/**
 * Messages: a gateway that loses its upstream may begin the answer anew, with a second `message_start` in the same stream. All that came before
 * it is void; the package reports an error and goes on mixing the two. An event before the first `message_start` that it cannot read makes
 * it throw an error that says nothing.
 */

import { asObject, ErrorBody } from '../../wire/dialect.ts'
import { isErrorReport } from '../../wire/error-report.ts'
import type { CreateGap } from './gap.ts'

export const messagesStart: CreateGap = () => {
  let open: unknown
  let isOpen = false
  let hasBegun = false
  return {
    markers: ['message_start', 'message_stop'],
    hasBegun: () => hasBegun,
    event(event) {
      if (event['type'] === 'message_stop') isOpen = false
      if (!hasBegun && isErrorReport(event)) throw new ErrorBody(event)
      if (event['type'] !== 'message_start') return hasBegun || event['type'] === 'ping' ? 'keep' : 'drop'
      hasBegun = true
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
