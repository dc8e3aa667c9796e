/** Runs the real command line in a separate process, with its own home and folder. */

import { spawn } from 'node:child_process'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach } from 'vitest'
import type { ChatServer } from '../support/chat-server.ts'

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Place extends Disposable {
  /** Working folder of the command. */
  readonly folder: string
  readonly home: string
  /** Writes files, paths relative to the folder. */
  write(files: Readonly<Record<string, string | Uint8Array>>): void
  /** Returns the text of a file, path relative to the folder. */
  read(path: string): string
  /** Writes the user's `config.json`. */
  configure(config: object): void
  run(words: readonly string[], options?: RunOptions): Promise<Ended>
  start(words: readonly string[], options?: RunOptions): Running
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Written to standard input, which is then closed. */
  readonly input?: string
  /** Keeps standard input open, for a test that types. */
  readonly isTyped?: boolean
  /** A file that receives standard output. */
  readonly outputTo?: string
  /** Runs in a terminal of its own; `stdout` then holds both output streams. */
  readonly inTerminal?: boolean
  /** Width of that terminal; default 80. */
  readonly columns?: number
  /** A command of the shell that limits the process: `ulimit -f 100`. */
  readonly shellLimit?: string
}

export interface Running {
  readonly process: ChildProcessWithoutNullStreams
  readonly ended: Promise<Ended>
  /** Resolves when standard output and standard error together hold this text. */
  readonly shows: (text: string) => Promise<void>
}

export interface Scene {
  readonly place: Place
  /** The model server of this test; closed at its end. */
  server: ChatServer | undefined
}

/** Creates a place with these files for each test of the calling file, and closes its server. */
export function eachScene(files: Readonly<Record<string, string>> = {}): Scene {
  let place: Place
  const scene: Scene = {
    server: undefined,
    get place() {
      return place
    },
  }
  beforeEach(() => {
    place = newPlace()
    place.write(files)
  })
  afterEach(async () => {
    await scene.server?.[Symbol.asyncDispose]()
    scene.server = undefined
    place[Symbol.dispose]()
  })
  return scene
}

/** An empty folder and an empty home. */
export function newPlace(): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'cria-scenario-')))
  const folder = join(root, 'folder')
  const home = join(root, 'home')
  mkdirSync(folder)
  const start = (words: readonly string[], options: RunOptions = {}): Running => startCria(words, { folder, home }, options)
  return {
    folder,
    home,
    write(files) {
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true })
        writeFileSync(join(folder, path), content)
      }
    },
    read: (path) => readFileSync(join(folder, path), 'utf8'),
    configure(config) {
      mkdirSync(home, { recursive: true, mode: 0o700 })
      writeFileSync(join(home, 'config.json'), JSON.stringify(config))
    },
    start,
    run: (words, options) => start(words, options).ended,
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true, maxRetries: 3 }),
  }
}

function startCria(words: readonly string[], place: { folder: string; home: string }, options: RunOptions): Running {
  const surroundings = { cwd: options.cwd ?? place.folder, env: { ...process.env, CRIA_HOME: place.home, ...options.env } }
  const child = spawn(...commandLine(words, options), surroundings)
  let stdout = ''
  let stderr = ''
  const waiting = new Set<{ readonly text: string; readonly found: () => void }>()
  const look = (): void => {
    for (const waiter of waiting) if ((stdout + stderr).includes(waiter.text)) waiter.found()
  }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    look()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
    look()
  })
  // A command that does not read standard input may end before it is written.
  child.stdin.on('error', () => {})
  if (options.isTyped !== true) child.stdin.end(options.input ?? '')

  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
  return {
    process: child,
    ended,
    async shows(text) {
      const found = new Promise<void>((resolve) => {
        waiting.add({ text, found: resolve })
      })
      look()
      await Promise.race([
        found,
        ended.then(() => {
          if (!(stdout + stderr).includes(text)) {
            throw new Error(`The command ended without showing ${JSON.stringify(text)}: ${stdout}${stderr}`)
          }
        }),
      ])
    },
  }
}

function commandLine(
  words: readonly string[],
  { outputTo, shellLimit, inTerminal, columns = 80 }: RunOptions,
): [program: string, words: string[]] {
  const command = [process.execPath, MAIN, ...words]
  if (inTerminal === true) {
    const sized = `stty cols ${columns}; exec ${command.map(quoted).join(' ')}`
    return ['/usr/bin/script', ['--quiet', '--return', '--command', sized, '/dev/null']]
  }
  if (outputTo === undefined && shellLimit === undefined) return [process.execPath, [MAIN, ...words]]
  const redirection = outputTo === undefined ? '' : ` > ${quoted(outputTo)}`
  return ['/bin/bash', ['-c', `${shellLimit ?? ':'}; exec "$@"${redirection}`, 'bash', ...command]]
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
