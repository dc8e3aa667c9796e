/** Turns choices between two answers into training pairs, and into win rates with confidence intervals. */

import type { Message } from '../core/message.ts'
import type { FeedbackRecord, JournalReader, TurnDetail } from '../core/recorder.ts'
import { binomialP, wilson } from './statistics.ts'

interface Said {
  readonly role: string
  readonly content: string
}

/** One line of a preference data set, in the conversational form that trainers read. */
export interface PreferencePair {
  readonly prompt: readonly Said[]
  readonly chosen: readonly Said[]
  readonly rejected: readonly Said[]
  readonly chosenModel: string
  readonly rejectedModel: string
  readonly chosenTurnId: string
  readonly rejectedTurnId: string
  /** The chosen answer was shown first. */
  readonly chosenFirst: boolean
  readonly comment?: string
  /** Epoch milliseconds. */
  readonly at: number
}

/** Yields the choices with both turns; without turns where the journal no longer contains them. */
async function* choices(
  read: JournalReader,
): AsyncGenerator<{ readonly record: FeedbackRecord; readonly turns?: readonly [first: TurnDetail, second: TurnDetail] }> {
  for (const record of await read.feedback()) {
    const [first, second] = await Promise.all([read.turn(record.first), read.turn(record.second)])
    yield first === undefined || second === undefined ? { record } : { record, turns: [first, second] }
  }
}

/** Yields a pair for each choice that prefers one answer; skips and counts choices whose turns are no longer in the journal. */
export async function* preferencePairs(
  read: JournalReader,
): AsyncGenerator<PreferencePair, { readonly missing: number }, undefined> {
  let missing = 0
  for await (const { record, turns } of choices(read)) {
    if (record.choice === 'none') continue
    if (turns === undefined) {
      missing++
      continue
    }
    const chosenFirst = record.choice === 'first'
    const [chosen, rejected] = chosenFirst ? turns : [turns[1], turns[0]]
    const { prompt, answer } = dialogueOf(chosen)
    const comment = record.details?.['comment']
    yield {
      prompt,
      chosen: answer,
      rejected: dialogueOf(rejected).answer,
      chosenModel: chosen.turn.model,
      rejectedModel: rejected.turn.model,
      chosenTurnId: chosen.turn.turnId,
      rejectedTurnId: rejected.turn.turnId,
      chosenFirst,
      ...(typeof comment === 'string' ? { comment } : {}),
      at: record.at,
    }
  }
  return { missing }
}

/** Splits a turn into the messages up to the question, and the answer with the tool calls that led to it. */
function dialogueOf({ messages, turn }: TurnDetail): { readonly prompt: readonly Said[]; readonly answer: readonly Said[] } {
  const isAsked = ({ role, retrieved, injected }: Message): boolean =>
    role === 'user' && retrieved === undefined && injected === undefined
  const end = messages.findLastIndex(isAsked) + 1
  const answer = messages.slice(end).filter(({ role }) => role === 'assistant' || role === 'tool')
  return {
    prompt: messages.slice(0, end).map(said),
    answer: answer.length === 0 ? [{ role: 'assistant', content: turn.text }] : answer.map(said),
  }
}

function said({ role, content }: Message): Said {
  // Retrieved text is sent to a model with the role `user`.
  return { role: role === 'retrieved' ? 'user' : role, content }
}

export interface WinRate {
  readonly model: string
  /** Hash of the system prompt; `null` without one. */
  readonly promptHash: string | null
  readonly wins: number
  readonly losses: number
  readonly ties: number
  readonly bothBad: number
  /** Wins divided by wins and losses; `null` where both are 0. */
  readonly winRate: number | null
  /** 95 % Wilson score interval of `winRate`. */
  readonly interval: readonly [low: number, high: number] | null
}

export interface PositionBias {
  /** Choices that prefer one of the two answers. */
  readonly choices: number
  readonly firstChosen: number
  readonly share: number | null
  readonly interval: readonly [low: number, high: number] | null
  /** Two-sided exact binomial p against one half: a small value means that the position influenced the choice. */
  readonly p: number
}

export interface PreferenceStats {
  /** All choices. */
  readonly choices: number
  readonly ties: number
  readonly bothBad: number
  /** In descending order of win rate. Two answers of one model under one prompt count only for the position. */
  readonly models: readonly WinRate[]
  readonly position: PositionBias
  /** Choices whose turns are no longer in the journal. */
  readonly missing: number
}

export async function preferenceStats(read: JournalReader): Promise<PreferenceStats> {
  const records: FeedbackRecord[] = []
  const tallies = new Map<string, Tally>()
  let missing = 0
  for await (const { record, turns } of choices(read)) {
    records.push(record)
    if (turns === undefined) missing++
    else count(record, turns, tallies)
  }
  const preferred = records.filter(({ choice }) => choice !== 'none')
  const verdicts = (verdict: string): number => records.filter((record) => verdictOf(record) === verdict).length
  return {
    choices: records.length,
    ties: verdicts('tie'),
    bothBad: verdicts('both_bad'),
    models: [...tallies.values()].map(rateOf).toSorted((a, b) => (b.winRate ?? -1) - (a.winRate ?? -1) || b.wins - a.wins),
    position: positionBias(preferred.filter(({ choice }) => choice === 'first').length, preferred.length),
    missing,
  }
}

type Tally = { -readonly [Key in 'wins' | 'losses' | 'ties' | 'bothBad']: WinRate[Key] } & Pick<WinRate, 'model' | 'promptHash'>

type Verdict = 'first' | 'second' | 'tie' | 'both_bad'

function verdictOf({ choice, details }: FeedbackRecord): Verdict {
  if (choice !== 'none') return choice
  return details?.['verdict'] === 'both_bad' ? 'both_bad' : 'tie'
}

/** The result of a verdict for the answer shown first, and for the other answer. */
const COUNTS_AS = {
  first: ['wins', 'losses'],
  second: ['losses', 'wins'],
  tie: ['ties', 'ties'],
  both_bad: ['bothBad', 'bothBad'],
} as const

function count(record: FeedbackRecord, [first, second]: readonly [TurnDetail, TurnDetail], tallies: Map<string, Tally>): void {
  if (keyOf(first) === keyOf(second)) return
  const [ofFirst, ofSecond] = COUNTS_AS[verdictOf(record)]
  tallyOf(first, tallies)[ofFirst]++
  tallyOf(second, tallies)[ofSecond]++
}

function tallyOf(detail: TurnDetail, tallies: Map<string, Tally>): Tally {
  const { model, promptHash } = detail.turn
  const tally = tallies.get(keyOf(detail)) ?? { model, promptHash, wins: 0, losses: 0, ties: 0, bothBad: 0 }
  tallies.set(keyOf(detail), tally)
  return tally
}

function keyOf({ turn: { model, promptHash } }: TurnDetail): string {
  return JSON.stringify([model, promptHash])
}

function rateOf(tally: Tally): WinRate {
  const decided = tally.wins + tally.losses
  return { ...tally, winRate: decided === 0 ? null : tally.wins / decided, interval: wilson(tally.wins, decided) }
}

/** @param first how many of `choices` preferred the answer shown first. */
export function positionBias(first: number, choices: number): PositionBias {
  return {
    choices,
    firstChosen: first,
    share: choices === 0 ? null : first / choices,
    interval: wilson(first, choices),
    p: binomialP(first, choices),
  }
}
