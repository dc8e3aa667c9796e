import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { chatTerminal, KEY } from '../../../test/support/chat-terminal.ts'
import type { ChatTerminal } from '../../../test/support/chat-terminal.ts'
import { homePaths } from '../../app/paths.ts'
import { ScreenFront } from './screen-front.ts'

let folder: string
let outside: ChatTerminal
let front: ScreenFront
let now = 0
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cria-front-'))
  now = 10_000
  const env = { CRIA_HOME: folder, TERM: 'xterm' }
  outside = chatTerminal({ cwd: folder, env })
  front = new ScreenFront({
    io: outside.io,
    paths: homePaths({ env, cwd: folder }),
    completable: { commands: [], values: {}, cwd: folder },
    now: () => now,
  })
})
afterEach(async () => {
  await front.close()
  rmSync(folder, { recursive: true })
})

const YES_NO = [
  { key: 'y', label: 'yes' },
  { key: 'n', label: 'no' },
]

/** Presses a key once the user has stopped typing and the question has appeared; resolves to the answer. */
async function afterPause(answer: Promise<number | undefined>, key: string): Promise<number | undefined> {
  now += 1000
  await outside.terminal.shows('May it?')
  outside.press(key)
  return answer
}

describe('questions on the screen', () => {
  test('keys of a user who is typing a message do not answer a question, and are not lost', async () => {
    const { press, terminal } = outside
    press('Not ')
    await terminal.shows('> Not')
    const answer = front.choose('May it?', YES_NO)
    press('yet')
    await terminal.shows('> Not yet')
    await terminal.shows('there is a question')
    expect(await afterPause(answer, 'y')).toBe(0)
    await terminal.shows(() => terminal.cursor.line === '> Not yet')
  })

  test('a key pressed before the question was visible does not answer it', async () => {
    const { io, press, terminal } = outside
    // Keys are handled once the history has been read.
    press('x')
    await terminal.shows('> x')
    press('\u007F')
    await terminal.shows(() => terminal.cursor.line === '>')
    // Arrives in the same turn of the event loop in which the question was asked.
    const answer = front.choose('May it?', YES_NO)
    io.stdin.emit('data', 'y')
    await terminal.shows('there is a question: stop typing to answer it')
    expect(terminal.cursor.line).toBe('> y')
    expect(await afterPause(answer, 'n')).toBe(1)
    await terminal.shows(() => terminal.cursor.line === '> y')
  })

  test('Enter does not answer before the selection was moved', async () => {
    const { press, terminal } = outside
    const answer = front.choose('May it?', YES_NO)
    await terminal.shows('May it?')
    press(`${KEY.enter}x${KEY.down}${KEY.down}${KEY.enter}`)
    expect(await answer).toBe(1)
  })

  test('two questions are asked one after the other, and Ctrl-C withdraws one', async () => {
    const { press, terminal } = outside
    const first = front.choose('First?', YES_NO)
    const second = front.ask('Second?')
    await terminal.shows('First?')
    expect(terminal.text).not.toContain('Second?')
    press('n')
    expect(await first).toBe(1)
    await terminal.shows('Second?')
    press(`because${KEY.ctrlC}`)
    expect(await second).toBeUndefined()
  })

  test('an answer and the keys after it reach successive questions', async () => {
    const { press, terminal } = outside
    const answers = (async () => [await front.choose('First?', YES_NO), await front.ask('Why?')])()
    await terminal.shows('First?')
    press(`nbecause${KEY.enter}`)
    // Several letters in one piece do not answer a question with choices.
    press('n')
    press(`because${KEY.enter}`)
    expect(await answers).toEqual([1, 'because'])
  })

  test('a key that is held down answers one question', async () => {
    const { press, terminal } = outside
    const first = front.choose('First?', YES_NO)
    const second = front.choose('Second?', YES_NO)
    await terminal.shows('First?')
    press('y')
    expect(await first).toBe(0)
    await terminal.shows('Second?')
    for (let times = 0; times < 5; times++) {
      now += 30
      press('y')
      await setImmediate()
    }
    now += 500
    press('n')
    expect(await second).toBe(1)
  })

  test('a question whose signal is aborted disappears', async () => {
    const { terminal } = outside
    const stop = new AbortController()
    const answer = front.choose('May it?', YES_NO, { signal: stop.signal })
    await terminal.shows('May it?')
    stop.abort()
    expect(await answer).toBeUndefined()
    await terminal.shows(() => !terminal.text.includes('May it?'))
  })

  test('a closed terminal withdraws the question and ends the chat', async () => {
    const answer = front.choose('May it?', YES_NO)
    outside.stop()
    expect(await answer).toBeUndefined()
    expect(await front.next()).toBeUndefined()
  })
})

test('printed text stays above, and the painted rows are erased at the end', async () => {
  const { terminal, press, resize } = outside
  await front.print('one\n')
  press('draft')
  await terminal.shows('> draft')
  resize(20, 10)
  await front.print('a line that is longer than the twenty cells\n')
  await front.note('three')
  await front.close()
  expect(terminal.text).toBe('one\na line that is longer than the twenty cells\nthree')
  expect(outside.isRaw()).toBe(false)
})

test('no painted row remains in the scrollback, even on an empty screen', async () => {
  const { terminal, press } = outside
  press('first')
  await terminal.shows('> first')
  press(' message')
  await terminal.shows('> first message')
  press(KEY.enter)
  expect(await front.next()).toBe('first message')
  await terminal.shows(() => terminal.cursor.line === '>')
  expect(terminal.text.match(/first message/g)).toHaveLength(1)
  expect(terminal.text.match(/^>$/gm)).toHaveLength(1)

  press(KEY.ctrlL)
  await terminal.shows(() => !terminal.screen.includes('first'))
  press('second')
  await terminal.shows('> second')
  press(KEY.enter)
  expect(await front.next()).toBe('second')
  await front.close()
  expect(terminal.strange).toEqual([])
  expect(terminal.text.split('\n').filter((line) => line !== '')).toEqual(['> first message', '> second'])
})

describe('a search in earlier messages', () => {
  test('Ctrl-R finds a message, Enter sends it, and Ctrl-C restores the draft', async () => {
    const { press, terminal } = outside
    for (const message of ['Fix the tide table', 'Fix the mill']) {
      press(`${message}${KEY.enter}`)
      expect(await front.next()).toBe(message)
    }
    press('half a tho\u0012fix')
    await terminal.shows('searching for: fix')
    await terminal.shows(() => terminal.cursor.line === '> Fix the mill')
    press('\u0012')
    await terminal.shows(() => terminal.cursor.line === '> Fix the tide table')
    press('x')
    await terminal.shows('no older message with: fixx')
    press('\u0003')
    await terminal.shows(() => terminal.cursor.line === '> half a tho')
    press(`\u0012mill${KEY.enter}`)
    expect(await front.next()).toBe('Fix the mill')
  })
})

test('a note is wrapped between words, so that an id can be copied', async () => {
  const id = `turn_${'0123456789'.repeat(3)}`
  await front.note(`stopped; what had arrived is kept: cria logs show ${id}`)
  await outside.terminal.shows(id)
  expect(outside.terminal.text).toContain(`cria logs show\n  ${id}\n`)
})
