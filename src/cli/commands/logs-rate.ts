import { orAborted } from '../../util/promise.ts'
import { defineCommand, jsonOption } from '../command.ts'
import type { Command } from '../command.ts'
import { findTurn } from '../find-turn.ts'
import { note, printJson } from '../io.ts'
import { readRating } from '../turn-filter.ts'

export const logsRate: Command = defineCommand({
  name: 'logs rate',
  arguments: [
    { name: 'id', about: 'id of a turn, or "last"', offers: () => ['last'] },
    { name: 'rating', about: '1 to 5, up (1), down (-1), or none to take it back' },
  ],
  options: {
    comment: { type: 'text', value: 'TEXT', about: 'why' },
    json: jsonOption('{ turnId, rating }'),
  },
  examples: ['cria logs rate last 5', 'cria logs rate last down --comment "cites the wrong page"'],
  async run({ arguments: [id = '', word = ''], options }, io) {
    const rating = readRating(word)
    const { journal, detail } = await findTurn(io, id)
    const { turnId } = detail.turn
    await orAborted(Promise.resolve(journal.rate(turnId, rating, options.comment)), io.signal)
    if (options.json) await printJson(io, { turnId, rating })
    else await note(io, rating === null ? `the rating of ${turnId} is taken back.` : `${turnId} is rated ${rating}.`)
  },
})
