/** Tools that run code written by a model, and return objects to the user. */

import { randomUUID } from 'node:crypto'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Json } from '../../core/json.ts'
import type { Tool, ToolOutput } from '../../core/tool.ts'
import { Recent } from '../../util/recent.ts'
import { defineTool, inputOf } from '../define-tool.ts'
import { messageOf } from '../output.ts'
import { Sandbox, sandboxOptions } from '../sandbox/sandbox.ts'
import type { SandboxMode, SandboxOptions } from '../sandbox/sandbox.ts'
import { megabytes, problem } from './open-file.ts'
import { ProcessGroup } from './process-group.ts'
import type { Stopped } from './process-group.ts'
import { codeProgram } from './run-code-process.ts'
import type { CodeReport } from './run-code-process.ts'

/** Options of the tool `run_code`. */
export interface RunCodeOptions {
  /** Milliseconds for one call; default 10,000. */
  readonly timeout?: number
  /** Memory limit in megabytes; default 128. */
  readonly memory?: number
  /** Also offers Python, which needs permission and a sandbox of the operating system. Default false. */
  readonly python?: boolean
  /** The sandbox of the process, as for `builtinTools()`. Default `auto`. */
  readonly sandbox?: SandboxMode | SandboxOptions
}

type Language = 'javascript' | 'python'

interface Input {
  readonly code: string
  readonly language?: Language
  readonly returnToUser?: boolean
}

const MAX_OUTPUT = 20_000_000
/** Matches imports, which are refused: a failed import would leak an outer object. Includes HTML comments, which JavaScript allows. */
const IMPORT = /\bimport\s*(?:\(|\.|\/[*/]|<!--|-->)/
const TURNS = 100

/** Values returned to the user, by tool and turn id. */
const handedOut = new WeakMap<object, Recent<{ readonly value: Json }>>()

/**
 * Returns the last object that a tool of `runCodeTool()` or `returnObjectTool()` has returned to the user in a turn.
 * Objects are kept for the last 100 turns of a tool.
 */
export function objectReturned(tools: readonly Tool[], turnId: string): { readonly object?: Json } {
  for (const tool of tools.toReversed()) {
    const found = handedOut.get(tool)?.get(turnId)
    if (found !== undefined) return { object: found.value }
  }
  return {}
}

/**
 * Creates `run_code`: runs JavaScript in a separate process and an empty context, without files, network, timers and imports. With
 * `python`, also runs Python in a sandbox of the operating system. With `returnToUser` the value becomes `object` of the answer.
 *
 * @throws ConfigurationError for a wrong `sandbox`.
 */
export function runCodeTool(options: RunCodeOptions = {}): Tool<Input> {
  const { python = false } = options
  const returned = new Recent<{ readonly value: Json }>(TURNS)
  sandboxOptions(options.sandbox)
  const tool = defineTool<Input>({
    name: 'run_code',
    description: `Runs code and gives its value and what it wrote with console.log${python ? ' or print' : ''}. JavaScript: the body of an async function, so use return; only the language itself is there, no files, network, timers or imports.${python ? ' Python: set the variable result; no network.' : ''} Put the data into the code. With returnToUser the value goes to the user whole, and you see only how large it is.`,
    inputSchema: inputOf(
      {
        code: { type: 'string', minLength: 1, maxLength: 500_000 },
        ...(python ? { language: { enum: ['javascript', 'python'], description: 'Default javascript.' } } : {}),
        returnToUser: { type: 'boolean', description: 'Default false.' },
      },
      ['code'],
    ),
    isReadOnly: true,
    needsPermission: ({ language }) => language === 'python',
    preview: ({ code }) => code,
    timeout: (options.timeout ?? 10_000) + 30_000,
    async call({ code, language = 'javascript', returnToUser = false }, { signal, turnId }) {
      const report = await execute(code, language, options, signal)
      const logs = report.logs === undefined || report.logs.trim() === '' ? [] : [report.logs.trimEnd()]
      if (report.error !== undefined) return { content: [...logs, report.error].join('\n'), isError: true }
      if (report.value === undefined) return [...logs, '(no value)'].join('\n')
      if (!returnToUser) return [...logs, report.value].join('\n')
      returned.set(turnId, { value: JSON.parse(report.value) as Json })
      return [...logs, `(returned to the user: ${report.value.length.toLocaleString('en-US')} characters of JSON)`].join('\n')
    },
  })
  handedOut.set(tool, returned)
  return tool
}

/** Creates `return_object_to_user`: returns a JSON value to the user, as `object` of the answer of `AgentBot` and `ToolBot`. */
export function returnObjectTool(): Tool<{ readonly value: Json }> {
  const returned = new Recent<{ readonly value: Json }>(TURNS)
  const tool = defineTool<{ readonly value: Json }>({
    name: RETURN_OBJECT,
    description: 'Hands a JSON value to the user: a list, an object, a number. Use it when data is wanted, not prose.',
    inputSchema: inputOf({ value: {} }, ['value']),
    isReadOnly: true,
    needsPermission: false,
    call({ value }, { turnId }): ToolOutput {
      returned.set(turnId, { value })
      return '(returned to the user)'
    },
  })
  handedOut.set(tool, returned)
  return tool
}

/** The name of the tool that `returnObjectTool()` makes. */
export const RETURN_OBJECT = 'return_object_to_user'

async function execute(code: string, language: Language, options: RunCodeOptions, signal: AbortSignal): Promise<CodeReport> {
  if (language === 'javascript' && IMPORT.test(code)) return { error: 'SyntaxError: import() and import.meta are not available.' }
  signal.throwIfAborted()
  const { timeout = 10_000, memory = 128 } = options
  // The only folder that may be written, and only by Python.
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'cria-code-')))
  try {
    const entered = await new Sandbox(folder, sandboxOptions(options.sandbox)).enter(codeProgram(language, memory))
    if (language === 'python' && entered.kind === 'none')
      throw problem('Python was not run: the operating system confines nothing here. Use JavaScript.')
    signal.throwIfAborted()
    const marker = randomUUID()
    const pieces: Buffer[] = []
    const group = new ProcessGroup(entered.program, entered.words, {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LANG: 'C.UTF-8' },
      takesInput: true,
      onOutput(piece) {
        // A stopped process may still write for a moment.
        if (group.stopped === undefined) pieces.push(piece)
      },
      signal,
      timeout,
      maxOutput: MAX_OUTPUT,
      // JavaScript cannot write to standard error; only crash reports of its engine arrive there.
      ...(language === 'javascript' ? { onErrorOutput: () => {} } : {}),
    })
    try {
      group.write(JSON.stringify({ code, marker }))
      group.endInput()
      const { code: exit, signal: by } = await group.ended
      signal.throwIfAborted()
      const reasons: Readonly<Record<Stopped, string>> = {
        signal: 'It was cancelled.',
        timeout: `It did not end within ${timeout / 1000} s.`,
        output: `It wrote more than ${megabytes(MAX_OUTPUT)}.`,
      }
      const reason = group.stopped === undefined ? endedBy(exit, by, memory) : reasons[group.stopped]
      return reportIn(Buffer.concat(pieces).toString(), marker, reason)
    } catch (cause) {
      signal.throwIfAborted()
      throw problem(`The code cannot be run: ${messageOf(cause)}.`, cause)
    } finally {
      await entered.leave()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function endedBy(exit: number | null, signal: string | null, memory: number): string {
  if (exit === 127) return 'The program that runs it is not installed.'
  return `Its process ended early (${signal ?? `exit code ${String(exit)}`}), most likely because it needed more than ${memory} MB of memory.`
}

/** @param otherwise error to report when the output holds no report. */
function reportIn(output: string, marker: string, otherwise: string): CodeReport {
  const at = output.lastIndexOf(`\n${marker}`)
  if (at < 0) return { logs: output.slice(0, 2000), error: otherwise }
  const report = readReport(output.slice(at + marker.length + 1))
  const written = output.slice(0, at)
  return written === '' ? report : { ...report, logs: [report.logs ?? '', written].filter((part) => part !== '').join('\n') }
}

/** Reads a report. The code may have tampered with it: members that are not strings are left out. */
function readReport(json: string): CodeReport {
  const report = JSON.parse(json) as Readonly<Record<string, unknown>>
  const texts = ['logs', 'value', 'error'].filter((name) => typeof report[name] === 'string')
  return Object.fromEntries(texts.map((name) => [name, report[name]]))
}
