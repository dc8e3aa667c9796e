/** Runs programs that the user has chosen: hooks of the configuration, and commands typed in a chat. */

import { CriaError } from '../core/error.ts'
import type { HookContext, HookName, Hooks } from '../core/hook.ts'
import type { JsonObject } from '../core/json.ts'
import { BoundedOutput } from '../tools/builtin/bounded-output.ts'
import { commandEnvironment, hiddenValues } from '../tools/builtin/command-environment.ts'
import { ProcessGroup } from '../tools/builtin/process-group.ts'
import { isRecord } from '../util/check.ts'
import type { CommandHook, CriaConfig } from './config-schema.ts'
import type { Surroundings } from './paths.ts'

/** Time limit of one program in milliseconds, unless the hook sets its own. */
const DEFAULT_TIMEOUT = 10_000
const MAX_OUTPUT = 1_000_000

/** The member of a program's answer that becomes the input of the next program, by hook. */
const CHANGES: Readonly<Record<HookName, string>> = {
  onPrompt: 'context',
  onToolCall: 'input',
  onToolResult: 'content',
  onStop: 'goOn',
}

/**
 * Makes hooks of the programs in the configuration: each receives the event as JSON on standard input, and may answer with JSON on standard output.
 * The programs of a hook run in order; the first refusal decides.
 *
 * @returns `undefined` where the configuration has no hooks.
 */
export function commandHooks({ hooks }: CriaConfig, surroundings: Surroundings): Hooks | undefined {
  const named = Object.entries(hooks ?? {}) as [HookName, readonly CommandHook[]][]
  const used = named.filter(([, commands]) => commands.length > 0)
  if (used.length === 0) return undefined
  const made = used.map(([hook, commands]) => [
    hook,
    (given: object, ctx: HookContext) => runAll(hook, commands, given, ctx, surroundings),
  ])
  // Each program has its own time limit, so the hook may take the sum of them.
  const timeoutOfAll = (commands: readonly CommandHook[]): number =>
    commands.reduce((sum, { timeout = DEFAULT_TIMEOUT }) => sum + timeout + 1000, 0)
  const timeout = Math.max(...used.map(([, commands]) => timeoutOfAll(commands)))
  return { ...(Object.fromEntries(made) as Hooks), timeout }
}

async function runAll(
  hook: HookName,
  commands: readonly CommandHook[],
  given: object,
  ctx: HookContext,
  surroundings: Surroundings,
): Promise<object | undefined> {
  const member = CHANGES[hook]
  const at = new Map(Object.entries(given))
  let changed: unknown
  for (const command of commands) {
    if (!concerns(command, at.get('name'))) continue
    const answer = await run(
      command,
      { hook, cwd: surroundings.cwd, sessionId: ctx.sessionId, turnId: ctx.turnId, step: ctx.step, ...Object.fromEntries(at) },
      ctx.signal,
      surroundings,
    )
    if (typeof answer['refuse'] === 'string') return answer
    if (answer[member] === undefined) continue
    const said = answer[member]
    // The context that several programs add to a prompt is joined line by line.
    changed = hook === 'onPrompt' && typeof changed === 'string' && typeof said === 'string' ? `${changed}\n${said}` : said
    if (hook === 'onToolCall' || hook === 'onToolResult') at.set(member, changed)
  }
  return changed === undefined ? undefined : { [member]: changed }
}

/** Reports whether a hook applies to a tool. */
function concerns({ tools }: CommandHook, name: unknown): boolean {
  if (tools === undefined || typeof name !== 'string') return true
  return tools.some((pattern) => new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name))
}

/** Exit code of a refusal; the reason is the text on standard error. */
const REFUSED = 2

/** @throws CriaError when the program cannot be started, fails, exceeds its time limit, or prints something other than a JSON object. */
async function run(
  hook: CommandHook,
  input: object,
  signal: AbortSignal,
  { cwd, env }: Surroundings,
): Promise<Partial<JsonObject>> {
  const { command, args = [], timeout = DEFAULT_TIMEOUT } = hook
  const [out, error]: [Buffer[], Buffer[]] = [[], []]
  let bytes = 0
  const keep =
    (into: Buffer[]) =>
    (piece: Buffer): void => {
      bytes += piece.length
      if (bytes <= MAX_OUTPUT) into.push(piece)
    }
  const group = new ProcessGroup(command, args, {
    cwd: hook.cwd ?? cwd,
    env: commandEnvironment(env),
    onOutput: keep(out),
    onErrorOutput: keep(error),
    takesInput: true,
    signal,
    timeout,
  })
  group.write(`${JSON.stringify(input)}\n`)
  group.endInput()
  const { code } = await group.ended.catch((cause: unknown) => {
    throw failed(command, 'cannot be started', cause)
  })
  if (signal.aborted) throw signal.reason
  if (group.stopped === 'timeout') throw failed(command, `did not end within ${timeout / 1000} s`)
  const said = Buffer.concat(error).toString('utf8').trim()
  if (code === REFUSED) return { refuse: said.slice(0, 2000) }
  if (code !== 0) throw failed(command, `ended with code ${String(code)}${said === '' ? '' : `: ${said.slice(0, 500)}`}`)
  return answerOf(Buffer.concat(out).toString('utf8'), command)
}

function answerOf(text: string, command: string): Partial<JsonObject> {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    if (isRecord(value)) return value as JsonObject
  } catch {
    // Reported below.
  }
  throw failed(command, 'must print a JSON object, or nothing')
}

function failed(command: string, what: string, cause?: unknown): CriaError {
  return new CriaError('tool_failure', `the hook ${command} ${what}`, cause === undefined ? {} : { cause })
}

export interface OwnCommandOutput {
  /** Both output streams, shortened in the middle when long. Values of variables that look like secrets become `[redacted]`. */
  readonly text: string
  /** `null` when a signal ended it. */
  readonly exitCode: number | null
}

/**
 * Runs a command line that the user typed, with `sh`, without standard input or a terminal: in the user's own environment and outside of the
 * sandbox, which is for commands of models.
 *
 * @param signal kills the command and all processes that it has started.
 */
export async function runOwnCommand(command: string, { env, cwd }: Surroundings, signal: AbortSignal): Promise<OwnCommandOutput> {
  const passed = Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
  const output = new BoundedOutput(hiddenValues(env, {}))
  const group = new ProcessGroup('/bin/sh', ['-c', command], {
    cwd,
    env: passed,
    onOutput: (piece) => void output.add(piece),
    signal,
  })
  const { code } = await group.ended
  return { text: output.text().trimEnd(), exitCode: code }
}
