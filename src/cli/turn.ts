/** Shared parts of `ask` and `run`: prepares and checks a turn, and shows it. */

import type { LoadedConfig } from '../app/config.ts'
import { checkReadable } from '../app/hand-over.ts'
import { openJournalToRead } from '../app/journal.ts'
import type { QueryOptions } from '../app/query.ts'
import type { Budget } from '../core/budget.ts'
import type { QueryEvent } from '../core/event.ts'
import { defined } from '../util/check.ts'
import { formatOf, showTurn } from './answer-view.ts'
import type { RecordedTurn, ShowOptions } from './answer-view.ts'
import type { TurnOptions } from './shared-options.ts'
import type { Io } from './io.ts'
import { budgetOf, openModels, requireKey, requirePrices } from './model-choice.ts'
import type { ModelChoice } from './model-choice.ts'
import { readConfig } from './prepare-store.ts'
import { readPrompt } from './prompt.ts'
import type { Prompt } from './prompt.ts'
import { keepingSettings } from './session-settings.ts'

export interface Turn {
  readonly prompt: Prompt
  readonly loaded: LoadedConfig
  readonly models: ModelChoice
  readonly budget: Budget
}

/**
 * Reads the prompt and chooses the models. Sends no request and records nothing.
 *
 * @param word the argument of the command, see `readPrompt`.
 * @throws ConfigurationError for every mistake that can be found before a request is sent
 */
export async function prepareTurn(word: string, what: 'question' | 'task', options: TurnOptions, io: Io): Promise<Turn> {
  const prompt = await readPrompt(word, what, options, io)
  const loaded = await readConfig(io)
  const models = await openModels({ ...options, model: prompt.model }, loaded, io)
  requireKey(models, loaded, io)
  const budget = budgetOf(options, loaded)
  requirePrices(budget, models)
  checkReadable(prompt.handed, models.model)
  return { prompt, loaded, models, budget }
}

/** Returns the query options that both commands read from the command line and the configuration. */
export function recipeOf(
  { prompt, loaded, models, budget }: Turn,
  { thinking }: TurnOptions,
): Pick<QueryOptions, 'budget'> & ModelChoice {
  const { slowAfter } = loaded.config
  return { ...models, budget, ...(thinking ? { enableThinking: true } : {}), ...prompt.settings, ...defined({ slowAfter }) }
}

/** Shows a turn and saves its settings with the session. Resolves to the exit code. */
export function showAsked(
  events: AsyncIterable<QueryEvent>,
  { prompt, models }: Turn,
  options: TurnOptions,
  io: Io,
  more: Pick<ShowOptions, 'sourceBase' | 'more'>,
): Promise<number> {
  const shown = { ...more, format: formatOf(options), showThinking: options['show-thinking'] }
  if (options['no-log']) return showTurn(events, io, shown)
  const kept = keepingSettings(events, prompt.asked, models.model.ref, io)
  return showTurn(kept, io, { ...shown, recorded: (turnId) => recordedTurn(io, turnId) })
}

/** Reads a turn that has just ended from the journal; `undefined` if the journal cannot be read. */
async function recordedTurn(io: Io, turnId: string): Promise<RecordedTurn | undefined> {
  try {
    const journal = await openJournalToRead(io)
    return (await journal?.read.turn(turnId))?.turn
  } catch {
    return undefined
  }
}
