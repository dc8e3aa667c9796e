/** Tools to start from: the time, code that runs, and objects for the user. */

import type { Tool } from '../core/tool.ts'
import { checkNames, checkNumber } from '../engine/checks/values.ts'
import { returnObjectTool, runCodeTool as codeTool } from '../tools/builtin/run-code.ts'
import type { RunCodeOptions } from '../tools/builtin/run-code.ts'
import { defineTool } from '../tools/define-tool.ts'
import { sandboxOptions } from '../tools/sandbox/sandbox.ts'
import { environment } from '../util/environment.ts'
import { namesOf } from '../util/nearest.ts'
import { homePaths } from './paths.ts'

export { objectReturned, RETURN_OBJECT } from '../tools/builtin/run-code.ts'
export type { RunCodeOptions } from '../tools/builtin/run-code.ts'

const OPTIONS = namesOf<RunCodeOptions>({ timeout: true, memory: true, python: true, sandbox: true })

/**
 * The tool `run_code`: JavaScript in a process of its own, without files, network, timers and imports, 10 s and 128 MB at most. It runs without
 * asking. With `python` also Python, which needs permission and runs only where the operating system confines it.
 *
 * @throws ConfigurationError for options that cannot work.
 */
export function runCodeTool(options: RunCodeOptions = {}): Tool {
  checkNames('runCodeTool()', options, OPTIONS)
  checkNumber('timeout', options.timeout, 1)
  checkNumber('memory', options.memory, 16)
  // Keys, questions and answers lie there.
  const { home } = homePaths({ env: environment(), cwd: process.cwd() })
  const sandbox = sandboxOptions(options.sandbox)
  return codeTool({ ...options, sandbox: { ...sandbox, hidden: [...(sandbox.hidden ?? []), home] } })
}

/**
 * Tools that change nothing and need no permission: `current_time`, `run_code` and `return_object_to_user`. Add your own, and `builtinTools()` for a
 * folder. Make them once for a bot.
 *
 * @param options those of `runCodeTool()`.
 * @throws ConfigurationError for options that cannot work.
 */
export function defaultTools(options: RunCodeOptions = {}): readonly Tool[] {
  return [currentTime(), runCodeTool(options), returnObjectTool()]
}

function currentTime(): Tool<{ readonly timeZone?: string }> {
  return defineTool<{ readonly timeZone?: string }>({
    name: 'current_time',
    description: 'Tells day, date and time.',
    inputSchema: {
      type: 'object',
      properties: { timeZone: { type: 'string', description: 'Like Europe/Zurich; default that of this machine.' } },
      additionalProperties: false,
    },
    isReadOnly: true,
    needsPermission: false,
    call({ timeZone }) {
      const now = new Date()
      try {
        const zone = timeZone === undefined ? {} : { timeZone }
        return `${new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'long', ...zone }).format(now)} (${now.toISOString()})`
      } catch {
        return { content: `There is no time zone ${JSON.stringify(timeZone)}. Use a name like Europe/Zurich.`, isError: true }
      }
    },
  })
}
