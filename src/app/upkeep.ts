/** Journals that this process has open for writing, and who looks after them. Loads nothing: a command that opened none pays nothing. */

import type { GcReport } from '../core/recorder.ts'

export interface TendedJournal {
  readonly path: string
  /** See `SqliteRecorder.tend`. */
  tend(signal?: AbortSignal): Promise<GcReport | undefined>
}

export const upkeep: { readonly journals: Set<TendedJournal>; readonly derivedStores: Set<string>; atEnd: boolean } = {
  journals: new Set(),
  /** Files of stores that can be made again from their documents. */
  derivedStores: new Set(),
  /** The command line looks after them when a command has ended, and says what was removed; else they look after themselves. */
  atEnd: false,
}

/** A clean-up that nobody asked for, in a sentence. */
export function describeCleanUp(path: string, { turns, oldest, newest, bytes }: GcReport): string {
  const day = (at: number | null): string => (at === null ? '?' : new Date(at).toISOString().slice(0, 10))
  return (
    `the journal ${path} was beyond its limits (365 days, 1 GB): removed ${turns} of its oldest turns, from ${day(oldest)} to ` +
    `${day(newest)}, ${(bytes / 1e6).toFixed(1)} MB.`
  )
}
