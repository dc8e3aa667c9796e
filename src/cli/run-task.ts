/** Runs `cria run`: does a task with the built-in tools, without permission prompts. */

import { openJournal } from '../app/journal.ts'
import type { McpConnection } from '../app/mcp.ts'
import { query } from '../app/query.ts'
import { openStore } from '../app/stores.ts'
import { defined } from '../util/check.ts'
import {
  agentContext,
  agentRules,
  agentServers,
  agentTools,
  checkCanUseTools,
  checkRules,
  hooksOf,
  taskPrompt,
  withAgent,
} from './agent.ts'
import { formatOf } from './answer-view.ts'
import type { RunOptions } from './shared-options.ts'
import { Deeds } from './deeds.ts'
import { shownDeeds, summary } from './deeds-view.ts'
import { EXIT } from './exit-codes.ts'
import type { Io } from './io.ts'
import { prepareStore } from './prepare-store.ts'
import { tellNewSession } from './prompt.ts'
import { prepareTurn, recipeOf, showAsked } from './turn.ts'

export async function runTaskWithTools(word: string, options: RunOptions, io: Io): Promise<number> {
  const turn = await prepareTurn(word, 'task', options, io)
  const { prompt, loaded, models } = turn
  checkCanUseTools(models, 'run')
  const choice = await prepareStore(prompt.asked, loaded, io)
  const store = choice === undefined ? undefined : await openStore(choice)
  let servers: McpConnection | undefined
  try {
    servers = await agentServers(options, loaded, io)
    const own = [...agentTools(store, loaded, io, options), ...(servers?.tools ?? [])]
    const tools = (await withAgent(() => own, loaded, io))()
    checkRules([...options.allow, ...options.deny], tools)
    await tellNewSession(options.session, io)
    const { system } = prompt.asked
    const events = query({
      ...recipeOf(turn, options),
      ...hooksOf(loaded, io),
      ...defined({ maxSteps: options['max-steps'], sessionId: prompt.sessionId }),
      ...(options['no-log'] ? {} : { recorder: await openJournal(io) }),
      prompt: prompt.messages,
      system: system === undefined ? taskPrompt() : `${taskPrompt()}\n\n${system}`,
      tools,
      rules: agentRules(options, loaded, io),
      safeMode: options.safe,
      context: agentContext(io),
      abortSignal: io.signal,
      bot: { kind: 'AgentBot', name: 'run' },
      operation: 'run',
    })
    const deeds = new Deeds()
    const shown = shownDeeds(events, deeds, { io, isText: formatOf(options) === 'text' })
    const code = await showAsked(shown, turn, options, io, { more: () => deeds.toJson() })
    await io.stderr.write(summary(deeds))
    // A turn that ends because the model repeats a refused call has failed for lack of permission.
    const gaveUp = code === EXIT.done || deeds.errorCode === 'tool_failure'
    if (gaveUp && deeds.wasHeldBack) return EXIT.permission
    return code === EXIT.done && deeds.finishReason === 'max-steps' ? EXIT.failed : code
  } finally {
    await servers?.close()
    await store?.close()
  }
}
