/**
 * Chat Completions, Gemini and Responses: servers and gateways report an error in the middle of a stream in the words of another API, or in their
 * own, and the package passes over it (that for Messages refuses what it does not know: see `unknown-events.ts`). The end of the answer that follows, or is missing, would be all that is left of it.
 * An error that is nothing (`null`, `""`) beside the answer, which some servers send with each chunk, is none: the package would drop the chunk.
 */

import { isErrorReport } from '../../wire/error-report.ts'
import type { CreateGap } from './gap.ts'

export const errorReports: CreateGap = () => ({
  markers: ['"object":"error"', '"object": "error"', '"error":{', '"error": {', '"error":""', '"error": ""'],
  event(event) {
    if (isErrorReport(event)) return { replace: { error: event['error'] ?? event } }
    const { error, ...rest } = event
    return 'error' in event && (error ?? '') === '' ? { replace: rest } : 'keep'
  },
})
