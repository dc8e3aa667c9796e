import { PassThrough, Readable } from 'node:stream'
import { openChannel } from '../../src/cli/io.ts'
import type { Io } from '../../src/cli/io.ts'

export interface FakeIo extends Io {
  /** What was written to standard output so far. */
  out(): string
  err(): string
}

/** Returns the environment of a command, in memory. */
export function fakeIo(
  options: {
    readonly terminal?: boolean
    readonly columns?: number
    readonly env?: Io['env']
    readonly cwd?: string
    readonly input?: string
  } = {},
): FakeIo {
  const env = options.env ?? {}
  const [stdout, out] = sink(options)
  const [stderr, err] = sink(options)
  return {
    env,
    cwd: options.cwd ?? '/',
    stdout: openChannel(stdout, env, () => {}),
    stderr: openChannel(stderr, env, () => {}),
    stdin: Readable.from([options.input ?? '']),
    piped: options.input === undefined ? undefined : 'pipe',
    signal: new AbortController().signal,
    onInterrupt: () => () => {},
    out,
    err,
  }
}

function sink({
  terminal = false,
  columns = 80,
}: {
  readonly terminal?: boolean
  readonly columns?: number
}): [stream: PassThrough & { isTTY?: boolean; columns?: number }, text: () => string] {
  const stream: PassThrough & { isTTY?: boolean; columns?: number } = new PassThrough()
  if (terminal) Object.assign(stream, { isTTY: true, columns })
  let text = ''
  stream.on('data', (piece: Buffer) => {
    text += piece.toString('utf8')
  })
  return [stream, () => text]
}
