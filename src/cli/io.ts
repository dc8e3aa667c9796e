/** Types what a command has of the outside: two streams, the environment, and a signal to stop. */

import { fstatSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { styleText } from 'node:util'
import { reason } from '../app/paths.ts'
import type { Surroundings } from '../app/paths.ts'
import { CriaError } from '../core/error.ts'
import { columnsOf, movesCursor, showsColour, showsLinks } from './terminal/capabilities.ts'
import { jsonPieces } from '../util/json-pieces.ts'
import { visibleText } from '../util/terminal.ts'

export type Style = Parameters<typeof styleText>[0]

/** A stream to write to, and what is behind it. */
export interface Channel {
  readonly isTerminal: boolean
  /** A line can be written over. */
  readonly live: boolean
  readonly colour: boolean
  readonly links: boolean
  readonly columns: number
  readonly rows: number
  /** Calls back when the terminal has another size; returns what ends that. */
  onResize(listener: () => void): () => void
  /** Text of any origin: what commands a terminal is made visible on a terminal; a pipe gets it as it is. */
  write(text: string): Promise<void>
  /** Text that is fit for a terminal already: our own styles around text that was made `visible`. */
  writeRaw(text: string): Promise<void>
  /** The text in a style, where the stream shows styles. */
  style(style: Style, text: string): string
}

/** Kind of file at standard input; `undefined` for a terminal and `/dev/null`. */
export type Piped = 'file' | 'pipe' | 'socket' | undefined

/** Looks at descriptor 0 without opening it as a stream, which takes as long as reading the configuration. */
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
  /** Answers. */
  readonly stdout: Channel
  /** Everything else. */
  readonly stderr: Channel
  readonly stdin: Readable & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown }
  readonly piped: Piped
  /** Variables of `env` that come from the file of keys. */
  readonly storedKeys?: readonly string[]
  /** Aborted by Ctrl-C, by a signal, and when nobody reads the answers any more. */
  readonly signal: AbortSignal
  /** Asks first when the user interrupts: `true` means that it has been dealt with, and the command goes on. */
  onInterrupt(listener: () => boolean): () => void
}

type Target = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number }

/** Height of a terminal that does not know its own. */
const DEFAULT_ROWS = 24

/**
 * @param onClosed Called once when the reader of the stream has gone; from then on what is written goes nowhere. Absent for a stream
 * that may get lost: then no failure to write is one.
 */
export function openChannel(stream: Target, env: Surroundings['env'], onClosed?: () => void): Channel {
  let closed = false
  // Without a listener the process would die of what the callbacks of the writes are told as well.
  stream.on('error', () => {})

  const settle = (error: NodeJS.ErrnoException): void => {
    // A reader that has seen enough, as in `| head -1`, is no failure; a full disk is.
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

// Valid JSON as it is, but on a terminal these would be more than text.
const NOT_FOR_TERMINALS = /[\u007F-\u009F\u00AD\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]|[\uDB40][\uDC00-\uDFFF]/g

/** Prints one value as one line of JSON. */
export function printJson({ stdout }: Pick<Io, 'stdout'>, value: unknown): Promise<void> {
  return stdout.write(`${fitForTerminals(JSON.stringify(value) ?? 'null')}\n`)
}

/** The same in pieces: the JSON of a large value may be longer than a string can be. */
export async function printLargeJson({ stdout }: Pick<Io, 'stdout'>, value: unknown): Promise<void> {
  for (const piece of jsonPieces(value)) await stdout.write(fitForTerminals(piece))
  await stdout.write('\n')
}

function fitForTerminals(json: string): string {
  return json.replace(NOT_FOR_TERMINALS, (character) =>
    Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  )
}

/** Cells of a line: on a terminal as many as it has columns. */
export function roomOf({ isTerminal, columns }: Pick<Channel, 'isTerminal' | 'columns'>): number {
  return isTerminal ? columns : Infinity
}

/** On a terminal broken between words, as it is elsewhere. @param indent cells that a line which goes on begins with. */
export async function broken(text: string, { isTerminal, columns }: Channel, indent = 0): Promise<string> {
  if (!isTerminal) return text
  const { wrapWords } = await import('../util/cells.ts')
  return wrapWords(text, columns, indent)
}

/** Cells that the further lines of a broken message are indented by. */
export const MESSAGE_INDENT: number = 'cria: '.length

/** A line on standard error; on a terminal as many as it takes. */
export async function note({ stderr }: Pick<Io, 'stderr'>, text: string): Promise<void> {
  return stderr.write(await broken(`cria: ${text}\n`, stderr, MESSAGE_INDENT))
}
