/** Defines the environment of a command: its streams, environment variables, working folder and abort signal. */

import { fstatSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { styleText } from 'node:util'
import { reason } from '../app/paths.ts'
import type { Surroundings } from '../app/paths.ts'
import { CriaError } from '../core/error.ts'
import { jsonPieces } from '../util/json-pieces.ts'
import { visibleText } from '../util/terminal.ts'

export type Style = Parameters<typeof styleText>[0]

/** An output stream and the capabilities of its terminal. */
export interface Channel {
  readonly isTerminal: boolean
  /** `true`: printed lines can be overwritten, for example by a progress bar. */
  readonly live: boolean
  readonly colour: boolean
  readonly links: boolean
  readonly columns: number
  readonly rows: number
  /** Calls back when the terminal is resized; returns a function that removes the listener. */
  onResize(listener: () => void): () => void
  /** Writes untrusted text: escape sequences are made visible on a terminal; a pipe receives the text unchanged. */
  write(text: string): Promise<void>
  /** Writes text that is already safe for a terminal: styles around text that was escaped. */
  writeRaw(text: string): Promise<void>
  /** Returns the text in a style if the stream shows styles, else unchanged. */
  style(style: Style, text: string): string
}

/** Kind of file at standard input; `undefined` for a terminal and `/dev/null`. */
export type Piped = 'file' | 'pipe' | 'socket' | undefined

/** Inspects descriptor 0 without opening it as a stream, which would take as long as reading the configuration. */
export function pipedInput(): Piped {
  try {
    const stats = fstatSync(0)
    return stats.isFile() ? 'file' : stats.isFIFO() ? 'pipe' : stats.isSocket() ? 'socket' : undefined
  } catch {
    // It is closed.
    return undefined
  }
}

export interface Io extends Surroundings {
  /** Receives answers only. */
  readonly stdout: Channel
  /** Receives everything else. */
  readonly stderr: Channel
  readonly stdin: Readable & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown }
  readonly piped: Piped
  /** Names of variables in `env` that come from the key file. */
  readonly storedKeys?: readonly string[]
  /** Aborted by Ctrl-C, by a signal, and when the reader of standard output is gone. */
  readonly signal: AbortSignal
  /** Calls the listener on Ctrl-C; if it returns `true`, the command continues. Returns a function that removes the listener. */
  onInterrupt(listener: () => boolean): () => void
}

type Target = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number }

/** Rows of a terminal that does not report its height. */
const DEFAULT_ROWS = 24

/**
 * @param onClosed Called once when the reader of the stream is gone; later output is discarded. Without it, all write errors are
 * ignored.
 */
export function openChannel(stream: Target, env: Surroundings['env'], onClosed?: () => void): Channel {
  let closed = false
  // Write callbacks receive the same errors; without a listener they would end the process.
  stream.on('error', () => {})

  const settle = (error: NodeJS.ErrnoException): void => {
    // A reader that closes early, as in `| head -1`, is not a failure; a full disk is.
    if (onClosed !== undefined && error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') {
      throw new CriaError('store_failed', `The output cannot be written: ${reason(error)}.`, { cause: error })
    }
    if (!closed) onClosed?.()
    closed = true
  }
  const isTerminal = stream.isTTY === true
  const colour = showsColour(stream, env)
  const writeRaw = async (text: string): Promise<void> => {
    if (closed || text === '') return
    const error = await new Promise<Error | null | undefined>((resolve) => {
      stream.write(text, resolve)
    })
    if (error != null) settle(error)
  }
  return {
    isTerminal,
    live: movesCursor(stream, env),
    colour,
    links: showsLinks(stream, env),
    get columns() {
      return columnsOf(stream)
    },
    get rows() {
      return stream.rows !== undefined && stream.rows > 0 ? stream.rows : DEFAULT_ROWS
    },
    onResize(listener) {
      stream.on('resize', listener)
      return () => void stream.off('resize', listener)
    },
    write: (text) => writeRaw(isTerminal ? visibleText(text) : text),
    writeRaw,
    style: (style, text) => (colour ? styleText(style, text, { validateStream: false }) : text),
  }
}

// Characters that are valid in JSON but act as control characters on a terminal.
const NOT_FOR_TERMINALS = /[\u007F-\u009F\u00AD\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]|[\uDB40][\uDC00-\uDFFF]/g

/** Prints a value as one line of JSON. */
export function printJson({ stdout }: Pick<Io, 'stdout'>, value: unknown): Promise<void> {
  return stdout.write(`${fitForTerminals(JSON.stringify(value) ?? 'null')}\n`)
}

/** Prints a value as one line of JSON in pieces: the JSON of a large value may exceed the maximum string length. */
export async function printLargeJson({ stdout }: Pick<Io, 'stdout'>, value: unknown): Promise<void> {
  for (const piece of jsonPieces(value)) await stdout.write(fitForTerminals(piece))
  await stdout.write('\n')
}

function fitForTerminals(json: string): string {
  return json.replace(NOT_FOR_TERMINALS, (character) =>
    Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  )
}

/** Returns the maximum cells per line: the columns of a terminal, else `Infinity`. */
export function roomOf({ isTerminal, columns }: Pick<Channel, 'isTerminal' | 'columns'>): number {
  return isTerminal ? columns : Infinity
}

/** Wraps text between words on a terminal; returns it unchanged elsewhere. @param indent cells before continuation lines. */
export async function broken(text: string, { isTerminal, columns }: Channel, indent = 0): Promise<string> {
  if (!isTerminal) return text
  const { wrapWords } = await import('../util/cells.ts')
  return wrapWords(text, columns, indent)
}

/** Indentation, in cells, of continuation lines of a message. */
export const MESSAGE_INDENT: number = 'cria: '.length

/** Writes a `cria: …` message to standard error, wrapped on a terminal. */
export async function note({ stderr }: Pick<Io, 'stderr'>, text: string): Promise<void> {
  return stderr.write(await broken(`cria: ${text}\n`, stderr, MESSAGE_INDENT))
}

type Environment = Surroundings['env']

export interface StreamFacts {
  readonly isTTY?: boolean
  readonly columns?: number
}

/** Returns whether to use colours: on a terminal, unless `NO_COLOR` (https://no-color.org), `TERM=dumb` or `FORCE_COLOR` decide otherwise. */
export function showsColour(stream: StreamFacts, env: Environment): boolean {
  if (isSet(env['NO_COLOR'])) return false
  const forced = env['FORCE_COLOR']
  if (forced !== undefined) return forced !== '0' && forced !== 'false'
  return stream.isTTY === true && env['TERM'] !== 'dumb'
}

/** Returns the columns of a terminal; 80 when it reports none, or 0. */
export function columnsOf(stream: StreamFacts): number {
  return stream.columns !== undefined && stream.columns > 0 ? stream.columns : 80
}

/** Returns whether the stream understands escape sequences that move the cursor. */
function movesCursor(stream: StreamFacts, env: Environment): boolean {
  return stream.isTTY === true && env['TERM'] !== 'dumb'
}

const PROGRAMS_WITH_LINKS = /^(iTerm\.app|WezTerm|vscode|ghostty|Hyper|Tabby|rio|zed|WarpTerminal)$/
const TERMS_WITH_LINKS = /^(xterm-kitty|xterm-ghostty|alacritty|foot)/

/**
 * Returns whether to print links (OSC 8): only on terminals that are known to show them, because others may print the escape sequence.
 * `FORCE_HYPERLINK=1` and `=0` override the detection.
 */
export function showsLinks(stream: StreamFacts, env: Environment): boolean {
  const forced = env['FORCE_HYPERLINK']
  if (isSet(forced)) return forced !== '0'
  if (!movesCursor(stream, env) || isSet(env['CI']) || isSet(env['NO_COLOR'])) return false
  return (
    PROGRAMS_WITH_LINKS.test(env['TERM_PROGRAM'] ?? '') ||
    isSet(env['WT_SESSION']) ||
    isSet(env['KONSOLE_VERSION']) ||
    Number(env['VTE_VERSION'] ?? 0) >= 5000 ||
    TERMS_WITH_LINKS.test(env['TERM'] ?? '')
  )
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== ''
}
