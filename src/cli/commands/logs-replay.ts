import type { QueryEvent } from '../../core/event.ts'
import { showTurn } from '../answer-view.ts'
import { defineCommand } from '../command.ts'
import type { Command } from '../command.ts'
import { findTurn } from '../find-turn.ts'

export const logsReplay: Command = defineCommand({
  name: 'logs replay',
  arguments: [{ name: 'id', about: 'id of a turn, or "last"', offers: () => ['last'] }],
  options: {
    json: { type: 'flag', about: 'print one JSON object, as `cria ask --json` does' },
    events: { type: 'flag', about: 'print one event per line' },
  },
  details: 'No model is asked: the answer comes from the journal, and the exit code is that of the turn.',
  examples: ['cria logs replay last', 'cria logs replay last --events'],
  async run({ arguments: [id = ''], options }, io) {
    const { detail } = await findTurn(io, id)
    const format = options.events ? 'events' : options.json ? 'json' : 'text'
    return showTurn(each(detail.events), io, { format, showThinking: false, recorded: () => Promise.resolve(detail.turn) })
  },
})

async function* each(events: readonly QueryEvent[]): AsyncGenerator<QueryEvent> {
  yield* events
}
