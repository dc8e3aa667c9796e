/** Provides a recorder that stores nothing and returns one given history. */

import type { Message } from '../../src/core/message.ts'
import type { Recorder } from '../../src/core/recorder.ts'

export function quietRecorder(history: readonly Message[]): Recorder {
  const nothing = (): void => {}
  return {
    openTurn: nothing,
    record: nothing,
    closeTurn: nothing,
    span: nothing,
    feedback: nothing,
    rate: nothing,
    close: nothing,
    read: {
      turns: () => ({ turns: [], nextCursor: null }),
      turn: () => undefined,
      events: () => [],
      history: () => history,
      spans: () => [],
      feedback: () => [],
    },
  }
}
