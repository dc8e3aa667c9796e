/** Reads the options of a turn into messages and request settings. */

import { createId, messageId } from '../core/id.ts'
import type { CreateId } from '../core/id.ts'
import { toMessages } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import type { CallSettings, ThinkingEffort, ToolSpec } from '../core/model.ts'
import { promptText } from '../core/prompt.ts'
import { jsonSchemaOf } from '../core/schema.ts'
import type { Tool } from '../core/tool.ts'
import type { RequestOptions } from '../prepare/conversation.ts'
import type { TurnInput } from '../prepare/turn-input.ts'
import { SETTINGS } from './checks/options.ts'
import type { EngineOptions } from './options.ts'
import { defined } from '../util/check.ts'

/**
 * `messages` may hold a whole conversation: what follows the last answer is what the user says now, the rest is history. Where it ends in the
 * results of tools, the question before them still waits for its answer. A system message at the very beginning counts as the system prompt when
 * `system` does not give one.
 */
export function inputOf(options: Pick<EngineOptions, 'messages' | 'prompt' | 'system' | 'createId' | 'retrieve'>): TurnInput {
  const given = namedApart(toMessages([options.messages ?? [], options.prompt ?? []]), [], options.createId ?? createId)
  const first = given[0]
  const leads = options.system === undefined && first?.role === 'system'
  const said = leads ? given.slice(1) : given
  const end = said.findLastIndex(({ role }) => role === 'user') + 1
  const begin = said.slice(0, end).findLastIndex(({ role }) => role !== 'user') + 1
  const since = end === 0 ? [] : said.slice(end)
  return {
    system: promptText(options.system ?? (leads ? first.content : '')),
    history: end === 0 ? said : said.slice(0, begin),
    messages: said.slice(begin, end),
    ...(since.length === 0 ? {} : { since }),
    ...(options.retrieve === undefined ? {} : { retrieve: options.retrieve }),
  }
}

/** What says the same again is another message: under the id of an earlier one it would pass for said and stored already. */
export function namedApart(messages: readonly Message[], before: readonly Message[], createId: CreateId): readonly Message[] {
  const taken = new Set<string>(before.map(({ id }) => id))
  return messages.map((message) => {
    const own = taken.has(message.id) ? { ...message, id: messageId(createId('msg')) } : message
    taken.add(own.id)
    return own
  })
}

export function settingsOf(options: CallSettings): CallSettings {
  const names = Object.keys(SETTINGS) as (keyof CallSettings)[]
  return Object.fromEntries(names.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])))
}

export function requestOf(options: EngineOptions): RequestOptions {
  const thinking = effortOf(options.enableThinking)
  return {
    settings: settingsOf(options),
    tools: (options.tools ?? []).map(specOf),
    stream: options.stream ?? true,
    ...defined({ toolChoice: options.toolChoice, responseFormat: options.responseFormat, thinking }),
  }
}

/** A tool that the model has to call, it has to call in the first step: bound to call one in each step, it could never answer. */
export function requestOfStep(request: RequestOptions, step: number): RequestOptions {
  const { toolChoice, ...rest } = request
  return step > 1 && (toolChoice === 'required' || typeof toolChoice === 'object') ? rest : request
}

function effortOf(enabled: EngineOptions['enableThinking']): ThinkingEffort | undefined {
  if (enabled === undefined || enabled === false) return undefined
  return enabled === true ? 'medium' : enabled
}

/** A tool as the model sees it. */
export function specOf({ name, description, inputSchema }: Tool): ToolSpec {
  return { name, description, inputSchema: jsonSchemaOf(inputSchema, `tool ${JSON.stringify(name)}`) }
}
