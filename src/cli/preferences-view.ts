/** Shows what choices between two answers say. */

import { preferenceStats } from '../app/preferences.ts'
import type { PositionBias, PreferenceStats, WinRate } from '../app/preferences.ts'
import type { JournalReader } from '../core/recorder.ts'
import { plural, shorten, table } from './format.ts'
import { note, roomOf, toJsonLine } from './io.ts'
import type { Io } from './io.ts'

/** From this p on the place is taken to have decided. */
const BIASED = 0.05

export async function tellPreferences(read: JournalReader | undefined, isJson: boolean, io: Io): Promise<number> {
  const stats = read === undefined ? NONE : await preferenceStats(read)
  if (isJson) {
    await io.stdout.write(toJsonLine(stats))
  } else if (stats.choices === 0) {
    await note(io, 'no choices are recorded yet: "cria compare" makes them.')
  } else {
    const rows = stats.models.map(cells)
    if (rows.length > 0)
      await io.stdout.writeRaw(
        table(
          [['model', 'prompt', 'wins', 'losses', 'ties', 'both bad', 'win rate', '95 %'], ...rows],
          NUMBERS,
          roomOf(io.stdout),
        ),
      )
    await note(io, `${plural(stats.choices, 'choice')}, ${plural(stats.ties, 'tie')}, ${stats.bothBad} where neither would do.`)
    if (stats.position.choices > 0) await note(io, positionNote(stats.position))
    if (stats.missing > 0) await note(io, `of ${plural(stats.missing, 'choice')} the turns are no longer in the journal.`)
  }
  return 0
}

const NUMBERS = [2, 3, 4, 5, 6, 7]
const NONE: PreferenceStats = {
  choices: 0,
  ties: 0,
  bothBad: 0,
  models: [],
  position: { choices: 0, firstChosen: 0, share: null, interval: null, p: 1 },
  missing: 0,
}

function cells({ model, promptHash, wins, losses, ties, bothBad, winRate, interval }: WinRate): readonly string[] {
  return [
    shorten(model, 40),
    promptHash === null ? '–' : promptHash.slice(0, 8),
    String(wins),
    String(losses),
    String(ties),
    String(bothBad),
    winRate === null ? '–' : percent(winRate),
    interval === null ? '–' : `${percent(interval[0])} to ${percent(interval[1])}`,
  ]
}

function positionNote({ choices, firstChosen, share, interval, p }: PositionBias): string {
  const range = interval === null ? '' : ` (95 %: ${percent(interval[0])} to ${percent(interval[1])})`
  const chance = `p = ${p < 0.001 ? '< 0.001' : p.toFixed(3)}`.replace('= <', '<')
  const verdict = p < BIASED ? 'the place seems to decide: read the win rates with care' : 'no sign that the place decides'
  return `shown first and chosen: ${firstChosen} of ${choices}, ${percent(share ?? 0)}${range}, ${chance}; ${verdict}.`
}

function percent(share: number): string {
  return `${(100 * share).toFixed(0)} %`
}
