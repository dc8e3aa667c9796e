/** Tests several processes, some of them killed, that share the budget of a day. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { dayOf, NOTHING } from '../../core/budget.ts'
import type { BudgetUse } from '../../core/budget.ts'
import { openOf } from '../../testing/turns.ts'
import { PRICE } from '../../../test/support/budget-spender.ts'
import { SqliteRecorder } from './recorder.ts'

const SPENDER = join(import.meta.dirname, '../../../test/support/budget-spender.ts')
const LIMIT = 0.6

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cria-budget-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, maxRetries: 3 })
})

interface Spender {
  readonly charges: () => number[]
  readonly kill: () => void
  readonly charged: () => Promise<void>
  readonly ended: Promise<{ code: number | null; errors: string; refusals: readonly string[] }>
}

function startSpender(path: string, seed: number): Spender {
  const child = spawn(process.execPath, [SPENDER, path, String(seed), String(LIMIT)])
  let [said, errors] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const lines = (what: string): string[] =>
    said
      .split('\n')
      .slice(0, -1)
      .flatMap((line) => (line.startsWith(what) ? [line.slice(what.length + 1)] : []))
  return {
    charges: () => lines('charged').map(Number),
    kill: () => child.kill('SIGKILL'),
    charged: async () => {
      while (lines('charged').length === 0 && child.exitCode === null) await once(child.stdout, 'data')
    },
    ended: once(child, 'close').then(([code]) => ({ code: code as number | null, errors, refusals: lines('refused') })),
  }
}

async function usedToday(path: string): Promise<BudgetUse> {
  const recorder = await SqliteRecorder.open({ path })
  let use: BudgetUse = { settled: NOTHING, reserved: NOTHING }
  await recorder.openTurn(openOf('turn_look', { sessionId: 'look' }))
  await recorder.budget.reserve({ turnId: 'turn_look', sessionId: 'look', day: dayOf(Date.now()) }, ({ day }) => {
    use = day
    return { most: NOTHING, least: NOTHING }
  })
  await recorder.close()
  return use
}

/** Reservation of the largest request: with less than this left, the next request may be shortened, but not all are refused. */
const LARGEST = (300 * PRICE.output) / 1_000_000

test(
  'ENG-METRIC-002 processes that share the budget of a day never exceed it, and leave little of it',
  { timeout: 60_000 },
  async () => {
    const path = join(folder, 'cria.db')
    const spenders = [1, 2, 3, 4].map((seed) => startSpender(path, seed))
    const endings = await Promise.all(spenders.map(({ ended }) => ended))
    for (const { code, errors, refusals } of endings) {
      expect({ code, errors }).toEqual({ code: 0, errors: '' })
      expect(refusals.at(-1)).toBe('budget_exceeded')
    }
    const charged = spenders.flatMap(({ charges }) => charges()).reduce((sum, each) => sum + each, 0)
    expect(charged).toBeLessThanOrEqual(LIMIT + 1e-9)
    expect(charged).toBeGreaterThan(LIMIT - LARGEST)
    const { settled, reserved } = await usedToday(path)
    expect(settled.costUsd).toBeCloseTo(charged, 9)
    expect(reserved).toEqual(NOTHING)
  },
)

test('the reservation of a killed process becomes available to the others', { timeout: 60_000 }, async () => {
  const path = join(folder, 'cria.db')
  const doomed = [11, 12, 13].map((seed) => startSpender(path, seed))
  await Promise.all(
    doomed.map(async ({ charged, kill, ended }) => {
      await charged()
      kill()
      await ended
    }),
  )
  const heir = startSpender(path, 14)
  expect(await heir.ended).toMatchObject({ code: 0, errors: '' })
  const { settled, reserved } = await usedToday(path)
  expect(reserved).toEqual(NOTHING)
  expect(settled.costUsd).toBeLessThanOrEqual(LIMIT + 1e-9)
  expect(settled.costUsd).toBeGreaterThan(LIMIT - LARGEST)
})
