/** Registers the journals that this process has open for writing, for the automatic clean-up. Imports no code, so that other commands start fast. */

import type { GcReport } from '../core/recorder.ts'

export interface TendedJournal {
  readonly path: string
  /** See `SqliteRecorder.tend`. */
  tend(signal?: AbortSignal): Promise<GcReport | undefined>
}

export const upkeep: { readonly journals: Set<TendedJournal>; readonly derivedStores: Set<string>; atEnd: boolean } = {
  journals: new Set(),
  /** Files of stores that can be rebuilt from their documents. */
  derivedStores: new Set(),
  /** The command line cleans up after each command and reports removals; if false, each journal cleans up itself. */
  atEnd: false,
}

/** Describes an automatic clean-up in a sentence. */
export function describeCleanUp(path: string, { turns, oldest, newest, bytes }: GcReport): string {
  const day = (at: number | null): string => (at === null ? '?' : new Date(at).toISOString().slice(0, 10))
  return (
    `the journal ${path} was beyond its limits (365 days, 1 GB): removed ${turns} of its oldest turns, from ${day(oldest)} to ` +
    `${day(newest)}, ${(bytes / 1e6).toFixed(1)} MB.`
  )
}
