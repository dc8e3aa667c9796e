/** Prepares benchmarks of streamed answers: a server in a separate process, and a journal. Measures interleaved cases. */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openRecorder } from '../../src/app/journal.ts'
import type { Journal } from '../../src/app/journal.ts'

interface StreamBench {
  readonly recorder: Journal
  /** Port of `stream-server.ts` on 127.0.0.1. */
  readonly port: number
}

/** Runs `measure`. @returns its result. @param deltas of each answer. */
export async function withStreams<Result>(deltas: number, measure: (bench: StreamBench) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'cria-bench-'))
  const server = fork(join(import.meta.dirname, 'stream-server.ts'), [String(deltas)])
  try {
    const [port] = (await once(server, 'message')) as [number]
    const recorder = await openRecorder({ path: join(folder, 'journal.db') })
    try {
      return await measure({ recorder, port })
    } finally {
      await recorder.close()
    }
  } finally {
    server.kill()
    rmSync(folder, { recursive: true })
  }
}

/** Returns the numbers of the command line, without options. */
export function numbersGiven(): number[] {
  return process.argv
    .slice(2)
    .filter((argument) => !argument.startsWith('--'))
    .map(Number)
}

/** Sets the exit code 1 with `--check` for a missed goal. */
export function check(isMet: boolean): void {
  if (process.argv.includes('--check') && !isMet) process.exitCode = 1
}

/** Returns the CPU milliseconds of this process during `work`. */
export async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** Returns the minimum CPU milliseconds of each case, over interleaved rounds: other processes only add to it. */
export async function leastOf<Name extends string>(
  cases: Readonly<Record<Name, () => Promise<unknown>>>,
  rounds: number,
): Promise<Record<Name, number>> {
  const names = Object.keys(cases) as Name[]
  const least = Object.fromEntries(names.map((name) => [name, Infinity])) as Record<Name, number>
  for (let round = 0; round < rounds; round++)
    for (const name of names) least[name] = Math.min(least[name], await cpuOf(cases[name]))
  return least
}
