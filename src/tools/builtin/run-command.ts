/** The tool `run_command`: runs a command line with `sh`, in the sandbox where there is one. */

import { constants } from 'node:os'
import { defineTool, inputOf } from '../define-tool.ts'
import type { SandboxKind, Tool, ToolOutput } from '../../core/tool.ts'
import type { Removed, Sandbox } from '../sandbox/sandbox.ts'
import { looksBinary } from '../binary.ts'
import { messageOf } from '../output.ts'
import { BoundedOutput } from './bounded-output.ts'
import { megabytes, problem } from './open-file.ts'
import { ProcessGroup } from './process-group.ts'
import type { GroupEnd, Stopped } from './process-group.ts'
import type { Workspace } from './workspace.ts'

const DEFAULT_SECONDS = 120
const MAX_SECONDS = 3600
/** Bytes of output after which a command is stopped. */
const MAX_OUTPUT = 50_000_000
const PROGRESS_EVERY = 300

export interface CommandSurroundings {
  /** Returns the environment of a command, see `commandEnvironment`. @param kind its sandbox. */
  readonly env: (kind: SandboxKind) => Promise<Readonly<Record<string, string>>>
  /** Values to mask in the output of commands. */
  readonly secrets: readonly string[]
}

export function runCommandTool(workspace: Workspace, sandbox: Sandbox, surroundings: () => CommandSurroundings): Tool {
  return defineTool({
    name: 'run_command',
    description:
      'Runs a command line in the working folder, with sh. It gets no input and no terminal; when it ends, what it left in the background ends too. It may be confined: no network, only the working folder and /tmp can be written, files with secrets cannot be read.',
    inputSchema: inputOf(
      {
        command: { type: 'string', minLength: 1, maxLength: 20_000 },
        timeout: { type: 'integer', minimum: 1, maximum: MAX_SECONDS, description: `Seconds; default ${DEFAULT_SECONDS}.` },
      },
      ['command'],
    ),
    subjects: ({ command }) => [{ kind: 'command', command }],
    // A command may touch any file, so it conflicts with all calls that use files.
    resources: () => ({ writes: ['/'] }),
    timeout: (MAX_SECONDS + 60) * 1000,
    maxResultChars: 40_000,
    preview: ({ command }) => command,
    title: ({ command }) => command,
    confinement: () => sandbox.confinement(),
    async call({ command, timeout = DEFAULT_SECONDS }, ctx) {
      const { signal } = ctx
      if (process.platform === 'win32') throw problem('Commands are run by sh, which this system does not have.')
      if (command.includes('\0')) throw problem('A command cannot hold a NUL character.')
      signal.throwIfAborted()
      const { env, secrets } = surroundings()
      const entered = await sandbox.enter(['/bin/sh', '-c', command], ctx.reach)
      const variables = await env(entered.kind)
      signal.throwIfAborted()
      const output = new BoundedOutput(secrets)
      const report = throttled((content) => ctx.progress(content))
      const group = new ProcessGroup(entered.program, entered.words, {
        cwd: workspace.root,
        env: variables,
        onOutput: (piece) => report(output.add(piece)),
        signal,
        timeout: timeout * 1000,
        maxOutput: MAX_OUTPUT,
        endsStragglers: true,
      })
      try {
        const end = await group.ended
        const reasons: Readonly<Record<Stopped, string>> = {
          signal: 'it was cancelled',
          timeout: `it did not end within ${timeout} s`,
          output: `it wrote more than ${megabytes(MAX_OUTPUT)}`,
        }
        const stopped = group.stopped === undefined ? undefined : reasons[group.stopped]
        return outcome(output, { end, stopped, removed: await entered.leave(), kind: entered.kind })
      } catch (cause) {
        throw problem(`The command cannot be started: ${messageOf(cause)}.`, cause)
      }
    },
  })
}

interface CommandEnd {
  readonly end: GroupEnd
  readonly stopped: string | undefined
  readonly removed: readonly Removed[]
  readonly kind: SandboxKind
}

function outcome(output: BoundedOutput, { end, stopped, removed, kind }: CommandEnd): ToolOutput {
  const text = output.text()
  const shown = looksBinary(text) ? `(not shown: ${output.total.toLocaleString('en-US')} bytes that are not text)` : text
  const ending = stopped === undefined ? endingOf(end) : `[stopped: ${stopped}; its effects up to there stay]`
  const taken = removed.map(
    ({ name, movedTo }) =>
      `[moved to ${movedTo}: ${name} decides what runs later. A rule such as write_file(${name}) lets a command make it.]`,
  )
  const content = [shown.trimEnd(), ...taken, ending].filter((part) => part !== '').join('\n')
  return {
    content: content === '' ? '(no output, exit code 0)' : content,
    isError: ending !== '' || taken.length > 0,
    sandbox: kind,
  }
}

function endingOf({ code, signal }: GroupEnd): string {
  if (signal !== null) return `[ended by ${signal}]`
  if (code === 0) return ''
  // Shells and sandboxes report a program that was ended by a signal as exit code 128 + signal number.
  const name = Object.entries(constants.signals).find(([, number]) => number === (code ?? 0) - 128)?.[0]
  return name === undefined ? `[exit code ${code}]` : `[exit code ${code}, as after ${name}]`
}

/** Reports the last line of output at intervals, as progress. */
function throttled(progress: (content: string) => void): (piece: Buffer) => void {
  let last = 0
  return (piece) => {
    const now = Date.now()
    if (now - last < PROGRESS_EVERY) return
    const line = piece.toString('utf8').trimEnd().split('\n').at(-1)?.slice(-200).trim() ?? ''
    if (line === '' || looksBinary(line)) return
    last = now
    progress(line.toWellFormed())
  }
}
