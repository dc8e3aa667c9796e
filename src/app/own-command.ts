/** Runs a command that the user typed: in the user's own environment and outside of the sandbox, which is for commands of models. */

import { BoundedOutput } from '../tools/builtin/bounded-output.ts'
import { hiddenValues } from '../tools/builtin/command-environment.ts'
import { ProcessGroup } from '../tools/builtin/process-group.ts'
import type { Surroundings } from './paths.ts'

export interface OwnCommandOutput {
  /** Both output streams, shortened in the middle when long. Values of variables that look like secrets become `[redacted]`. */
  readonly text: string
  /** `null` when a signal ended it. */
  readonly exitCode: number | null
}

/**
 * Runs a command line with `sh`, without standard input or a terminal.
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
