/** Tests the journal on the command line: a wrong clock, a read-only home, damaged rows, a lock of another process. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { TurnList } from '../../src/core/recorder.ts'
import { SqliteRecorder } from '../../src/recorders/sqlite/recorder.ts'
import { closeOf, entriesOf, openOf, stamper } from '../../src/testing/turns.ts'
import { newPlace } from './command-line.ts'
import type { Place } from './command-line.ts'

const DAY = 86_400_000
const HOLDER = join(import.meta.dirname, '../support/lock-holder.ts')
const NOBODY = 65_534

let place: Place
let path: string
beforeEach(() => {
  place = newPlace()
  path = join(place.home, 'cria.db')
})
afterEach(() => place[Symbol.dispose]())

/** Writes a turn on each of these days, counted back from now. */
async function writeDays(days: readonly number[], text = 'Yes.'): Promise<void> {
  const recorder = await SqliteRecorder.open({ path })
  for (const day of days) {
    const turn = openOf(`turn_${day}`, { sessionId: `session_${day}`, startedAt: Date.now() - day * DAY })
    const at = stamper(turn)
    await recorder.openTurn(turn)
    await recorder.record(turn.turnId, entriesOf([at(1, { type: 'text_delta', text, attempt: 1 })]))
    await recorder.closeTurn(turn.turnId, closeOf(at(1, { type: 'cancelled', reason: '' }), { text }))
  }
  await recorder.close()
}

const daysTo = (oldest: number): number[] => Array.from({ length: oldest + 1 }, (_, day) => oldest - day)

async function ids(options: Parameters<Place['run']>[1] = {}): Promise<readonly string[]> {
  const { code, stdout } = await place.run(['logs', 'list', '-n', '1000', '--json'], options)
  expect(code).toBe(0)
  return (JSON.parse(stdout) as TurnList).turns.map(({ turnId }) => turnId)
}

describe('a clock that is wrong', () => {
  test('by two years removes no turns', async () => {
    await writeDays(daysTo(30))
    const preload = join(place.folder, 'clock.mjs')
    writeFileSync(preload, `const { now } = Date; Date.now = () => now() + ${730 * DAY}`)
    const env = { NODE_OPTIONS: `--import=${preload}` }
    expect(await ids({ env })).toHaveLength(31)
    expect((await place.run(['ask', 'Is it?', '-m', 'builtin/extractive'], { env })).stderr).not.toContain('removed')
    expect(await ids({ env })).toEqual(expect.arrayContaining([...(await ids())]))
    expect(await ids()).toEqual(expect.arrayContaining(daysTo(30).map((day) => `turn_${day}`)))
  })
})

describe('turns that are too old', () => {
  test('are removed a few per day, with a message on standard error', async () => {
    await writeDays(daysTo(400))
    const { code, stderr } = await place.run(['logs', 'list', '-n', '1'])
    expect(code).toBe(0)
    expect(stderr).toContain('removed 20 of its oldest turns')
    expect(await ids()).toHaveLength(381)
    expect((await place.run(['logs', 'list', '-n', '1'])).stderr).not.toContain('removed')
  })
})

describe('a home that cannot be written', () => {
  test.skipIf(process.geteuid?.() !== 0)('is read by list, show, stats and export', async () => {
    await writeDays([2, 1, 0])
    for (const name of readdirSync(place.home)) {
      chownSync(join(place.home, name), NOBODY, NOBODY)
      chmodSync(join(place.home, name), 0o400)
    }
    chownSync(place.home, NOBODY, NOBODY)
    chmodSync(place.home, 0o500)
    chmodSync(join(place.home, '..'), 0o755)
    // The superuser may write everything, so the command runs as another user.
    const preload = join(place.folder, 'user.mjs')
    writeFileSync(preload, `process.setegid(${NOBODY}); process.seteuid(${NOBODY})`)
    const env = { NODE_OPTIONS: `--import=${preload}` }
    const run = async (...words: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await place.run(['logs', ...words], { env })
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('cannot') as unknown })
      return stdout
    }
    expect(await run('list')).toContain('turn_1')
    expect(await run('show', 'last')).toContain('turn_0')
    expect(await run('stats', '--json')).toContain('"turns":3')
    expect((await run('export')).split('\n')).toHaveLength(4)
    expect((await place.run(['logs', 'rate', 'last', '5'], { env })).code).toBe(1)
  })
})

describe('a damaged row', () => {
  test('is named, and the rest is exported and counted', async () => {
    await writeDays([2, 1, 0])
    const database = new DatabaseSync(path)
    database.exec(`UPDATE events SET body = '{' WHERE turn = 2 AND seq = 0; UPDATE turns SET metrics = '[' WHERE id = 1`)
    database.close()
    const { code, stdout, stderr } = await place.run(['logs', 'export'])
    expect(stdout.trim().split('\n')).toHaveLength(3)
    expect(stderr).toContain('turn_1: event 0')
    expect(stderr).toContain('turn_2: the row of its metrics')
    expect(code).toBe(1)
    expect((await place.run(['logs', 'stats'])).code).toBe(0)
    expect((await place.run(['logs', 'show', 'turn_1'])).stderr).toContain('event 0')
  })
})

describe('a damaged index of --docs', () => {
  test.each([
    ['at its beginning', 100],
    ['in its middle', 60_000],
  ])('%s is rebuilt', async (_where, from) => {
    const prose = Array.from({ length: 3000 }, (_, n) => `Sentence ${n} is about harbour${n % 977} and lamp${n % 613}.`).join(' ')
    place.write({ 'docs/a.md': prose })
    const ask = (): ReturnType<Place['run']> => place.run(['retrieve', 'harbour5 lamp5', '--docs', 'docs', '-n', '1'])
    const first = await ask()
    const store = readdirSync(join(place.home, 'stores')).find((name) => name.endsWith('.db')) ?? ''
    const file = join(place.home, 'stores', store)
    const bytes = readFileSync(file)
    expect(bytes.length).toBeGreaterThan(2 * from)
    writeFileSync(file, bytes.fill(0xff, from))
    const second = await ask()
    expect(second.stderr).toContain('was damaged')
    const { code, stdout } = second.code === 0 ? second : await ask()
    expect({ code, stdout }).toEqual({ code: 0, stdout: first.stdout })
  })
})

describe('a lock that another process holds', () => {
  test('allows reads, and Ctrl-C ends a waiting command', async () => {
    await writeDays([1, 0])
    const holder = spawn(process.execPath, [HOLDER, path, '20000'], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(holder.stdout, 'data')
    try {
      const began = performance.now()
      expect(await ids()).toEqual(['turn_0', 'turn_1'])
      const reading = performance.now() - began
      const rating = place.start(['logs', 'rate', 'last', '5'])
      setTimeout(() => rating.process.kill('SIGINT'), reading + 1500)
      const { code } = await rating.ended
      expect(code).toBe(130)
      expect(performance.now() - began).toBeLessThan(2 * reading + 1500 + 3000)
    } finally {
      holder.kill('SIGKILL')
    }
  })
})

describe('a turn of 100 MB', () => {
  test('is shown and exported as JSON', async () => {
    await writeDays([0], 'Long words, and "quotes" in them.\n'.repeat(3_000_000))
    const shown = join(place.folder, 'shown.json')
    const { code, stderr } = await place.run(['logs', 'show', 'last', '--json'], { outputTo: shown })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    rmSync(shown)
  }, 120_000)
})
