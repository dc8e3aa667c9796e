/** Runs `cria run`: does a task with the built-in tools, without permission prompts. */

import { openJournal } from '../app/journal.ts'
import type { McpConnection } from '../app/mcp.ts'
import { query } from '../app/query.ts'
import { openStore } from '../app/stores.ts'
import type { QueryEvent } from '../core/event.ts'
import { defined } from '../util/check.ts'
import {
  agentContext,
  agentRules,
  agentServers,
  agentTools,
  checkCanUseTools,
  checkRules,
  checkRuleSyntax,
  hooksOf,
  taskPrompt,
  withAgent,
} from './agent.ts'
import { eventNote, formatOf } from './answer-view.ts'
import { EXIT } from './failure.ts'
import type { Io } from './io.ts'
import { prepareStore } from './prepare-store.ts'
import { noteNewSession } from './prompt.ts'
import type { RunOptions } from './shared-options.ts'
import { passagesRead } from './sources.ts'
import { shownToolCalls, summary } from './tool-call-view.ts'
import { changedFiles, refusedCalls, ToolCalls, wasHeldBack } from './tool-calls.ts'
import type { ToolCallRecord } from './tool-calls.ts'
import { prepareTurn, recipeOf, showAsked } from './turn.ts'

export async function runTaskWithTools(word: string, options: RunOptions, io: Io): Promise<number> {
  const turn = await prepareTurn(word, 'task', options, io)
  const { prompt, loaded, models } = turn
  await checkCanUseTools(models, 'run', prompt.model, loaded, io)
  checkRuleSyntax(options)
  const choice = await prepareStore(prompt.asked, loaded, io)
  const store = choice === undefined ? undefined : await openStore(choice)
  const passages = store === undefined ? undefined : passagesRead(store)
  let servers: McpConnection | undefined
  try {
    servers = await agentServers(options, loaded, io)
    const own = [...agentTools(passages?.store, loaded, io, options), ...(servers?.tools ?? [])]
    const tools = (await withAgent(() => own, loaded, io))()
    checkRules(options, tools)
    await noteNewSession(options.session, io)
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
    const calls = new ToolCalls(() => tools)
    const progress = new RunProgress()
    const shown = shownToolCalls(progress.of(events), calls, { io, isText: formatOf(options) === 'text' })
    const code = await showAsked(shown, turn, options, io, { more: () => progress.toJson(calls.all) })
    const { last } = progress
    if (last?.type === 'complete') await io.stderr.writeRaw((await passages?.list(last.result.text, io.cwd, io.stderr)) ?? '')
    await io.stderr.write(summary(calls.all, last?.sessionId))
    // A turn that ends because the model repeats a refused call has failed for lack of permission.
    const gaveUp = code === EXIT.done || (last?.type === 'error' && last.error.code === 'tool_failure')
    if (gaveUp && wasHeldBack(calls.all)) return EXIT.permission
    const isCutOff = last?.type === 'complete' && last.result.finishReason === 'max-steps'
    return code === EXIT.done && isCutOff ? EXIT.failed : code
  } finally {
    await servers?.close()
    await store?.close()
  }
}

/** Collects what the JSON object and the exit code of a run need beside its tool calls. */
class RunProgress {
  /** The last event of the turn, which is terminal when the turn has ended. */
  last: QueryEvent | undefined
  readonly #notices: object[] = []

  /** Passes the events on. */
  async *of(events: AsyncIterable<QueryEvent>): AsyncGenerator<QueryEvent> {
    for await (const event of events) {
      if (event.parent === undefined) this.last = event
      if (event.type === 'notice' && eventNote(event) !== undefined) {
        const { code, message, details } = event
        this.#notices.push({ code, message, ...defined({ details }) })
      }
      yield event
    }
  }

  toJson(calls: readonly ToolCallRecord[]): object {
    return {
      steps: this.last?.step ?? 0,
      toolCalls: calls.map(({ id, name, input, isError }) => ({ id, name, input, isError: isError ?? true })),
      refused: refusedCalls(calls).map(({ id, name, refused }) => ({ id, name, ...refused })),
      changed: changedFiles(calls),
      notices: this.#notices,
    }
  }
}
