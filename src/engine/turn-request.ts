/** What the options of a turn ask of a model: what is said, and how the request is to be made. */

import { toMessages } from '../core/message.ts'
import type { CallSettings, ThinkingEffort, ToolSpec } from '../core/model.ts'
import { jsonSchemaOf } from '../core/schema.ts'
import type { Tool } from '../core/tool.ts'
import type { RequestOptions } from '../prepare/request.ts'
import type { TurnInput } from '../prepare/turn-input.ts'
import type { EngineOptions } from './options.ts'

/**
 * `messages` may hold a whole conversation: what follows the last answer is what the user says now, the rest is history. Where it ends in the
 * results of tools, the question before them still waits for its answer. A system message at the very beginning counts as the system prompt when
 * `system` does not give one.
 */
export function inputOf(options: EngineOptions): TurnInput {
  const given = toMessages([options.messages ?? [], options.prompt ?? []])
  const first = given[0]
  const leads = options.system === undefined && first?.role === 'system'
  const said = leads ? given.slice(1) : given
  const end = said.findLastIndex(({ role }) => role === 'user') + 1
  const begin = said.slice(0, end).findLastIndex(({ role }) => role !== 'user') + 1
  const since = end === 0 ? [] : said.slice(end)
  return {
    system: options.system ?? (leads ? first.content : ''),
    history: end === 0 ? said : said.slice(0, begin),
    messages: said.slice(begin, end),
    ...(since.length === 0 ? {} : { since }),
    ...(options.retrieve === undefined ? {} : { retrieve: options.retrieve }),
  }
}

const SETTINGS = [
  'temperature',
  'maxOutputTokens',
  'topP',
  'topK',
  'presencePenalty',
  'frequencyPenalty',
  'stopSequences',
  'seed',
  'providerOptions',
] as const

export function settingsOf(options: CallSettings): CallSettings {
  return Object.fromEntries(SETTINGS.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])))
}

export function requestOf(options: EngineOptions): RequestOptions {
  const thinking = effortOf(options.enableThinking)
  return {
    settings: settingsOf(options),
    tools: (options.tools ?? []).map(specOf),
    stream: options.stream ?? true,
    ...(options.toolChoice === undefined ? {} : { toolChoice: options.toolChoice }),
    ...(options.responseFormat === undefined ? {} : { responseFormat: options.responseFormat }),
    ...(thinking === undefined ? {} : { thinking }),
  }
}

function effortOf(enabled: EngineOptions['enableThinking']): ThinkingEffort | undefined {
  if (enabled === undefined || enabled === false) return undefined
  return enabled === true ? 'medium' : enabled
}

/** A tool as the model sees it. */
export function specOf({ name, description, inputSchema }: Tool): ToolSpec {
  return { name, description, inputSchema: jsonSchemaOf(inputSchema, `tool ${JSON.stringify(name)}`) }
}
