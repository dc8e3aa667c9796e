/** Adapts a request to the facts of a model: leaves out parts that it does not accept and reports them, or reports why it is unfit. */

import { textOf } from '../core/message.ts'
import type { CallSettings, ModelFacts, ModelRequest, RequestMessage } from '../core/model.ts'
import type { Part } from '../core/part.ts'
import { defined } from '../util/check.ts'

export interface Fitted {
  readonly request: ModelRequest
  /** Parts of the request that the model does not accept: `tools`, `images`, `thinking`, `structured output`, names of settings. */
  readonly omitted: readonly string[]
}

const SAMPLING = ['temperature', 'topP', 'topK', 'presencePenalty', 'frequencyPenalty'] as const

/** Returns the temperature to send to a model; `undefined`: none. */
export function temperatureFor(request: Pick<ModelRequest, 'temperature' | 'thinking'>, facts: ModelFacts): number | undefined {
  return facts.fixedTemperature ?? (samples(request, facts) ? request.temperature : undefined)
}

function samples({ thinking }: Pick<ModelRequest, 'thinking'>, { sampling = 'always' }: ModelFacts): boolean {
  if (sampling === 'thinking-off') return thinking === 'off'
  return sampling === 'always' || (sampling === 'unless-thinking' && (thinking === undefined || thinking === 'off'))
}

/** Returns the settings that the model accepts; adds the names of the others to `omitted`. */
function settingsFor(request: ModelRequest, facts: ModelFacts, omitted: string[]): CallSettings {
  const taken = samples(request, facts)
  return Object.fromEntries(
    SAMPLING.flatMap((name) => {
      const value = name === 'temperature' ? temperatureFor(request, facts) : taken ? request[name] : undefined
      if (request[name] !== undefined && request[name] !== value) omitted.push(name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

export function fitRequest(given: ModelRequest, model: Target): Fitted {
  const { facts, ref } = model
  const { temperature, topP, topK, presencePenalty, frequencyPenalty, tools, toolChoice, thinking, responseFormat, ...rest } =
    given
  const omitted: string[] = []
  const takes = (fact: boolean | undefined, what: string, isAsked: boolean): boolean => {
    if (isAsked && fact === false) omitted.push(what)
    return isAsked && fact !== false
  }
  const withTools = takes(facts.tools, 'tools', tools !== undefined && tools.length > 0)
  const withThinking = thinking === 'off' || takes(facts.thinking, 'thinking', thinking !== undefined)
  // With tools the rules below replace it without loss, so no notice is needed.
  const besideTools = withTools && facts.structuredOutputWithTools === false
  const withFormat = takes(facts.structuredOutput, 'structured output', responseFormat !== undefined) && !besideTools
  const isEnforced = withFormat && facts.structuredOutput === true
  // Most requests need no change: avoids copying a long conversation.
  const isUnchanged = allFit(rest.messages, model)
  if (!isUnchanged && rest.messages.some(({ parts }) => hasUnseenImage(parts, facts))) omitted.push('images')
  const messages = isUnchanged ? rest.messages : rest.messages.map((message) => fitMessage(message, model))
  const request: ModelRequest = {
    ...rest,
    model: ref,
    messages: responseFormat === undefined || isEnforced ? messages : withRules(messages, responseFormat, facts),
    ...settingsFor(given, facts, omitted),
    ...defined({
      tools: withTools ? tools : undefined,
      toolChoice: withTools ? toolChoice : undefined,
      thinking: withThinking ? thinking : undefined,
      responseFormat: withFormat ? responseFormat : undefined,
    }),
    stream: given.stream && facts.streaming !== false,
  }
  return { request, omitted }
}

/** Returns why a model cannot serve a request, as a predicate for its name; `undefined` if it can. */
export function unfitFor(request: ModelRequest, { facts }: Pick<Target, 'facts'>): string | undefined {
  const { messages, tools = [], toolChoice, responseFormat } = request
  if (facts.tools === false && tools.length > 0) {
    if (toolChoice === 'required' || typeof toolChoice === 'object')
      return 'cannot call tools, and this request requires a tool call'
    if (messages.some(({ role }) => role === 'tool'))
      return 'cannot call tools, and this conversation is in the middle of tool calls'
  }
  if (facts.images === false) {
    const question = messages.findLast(({ role }) => role === 'user')
    if (question !== undefined && question.parts.some(isImage)) return 'does not take images, and the question holds one'
  }
  if (facts.writes === false && responseFormat !== undefined) return 'only quotes, and cannot answer with JSON'
  return undefined
}

/** Describes the requested JSON in the prompt, if the provider cannot enforce it. */
function withRules(
  messages: readonly RequestMessage[],
  { schema }: NonNullable<ModelRequest['responseFormat']>,
  { systemRole }: ModelFacts,
): readonly RequestMessage[] {
  const shape = schema === undefined ? '.' : `, that fits this JSON Schema:\n${JSON.stringify(schema)}`
  const rules = `Answer with JSON only, without any other text${shape}`
  const role = systemRole === false ? 'user' : 'system'
  const [first, ...others] = messages
  const isSystem = role === 'system' && first?.role === 'system'
  const content = isSystem ? `${first.content}\n\n${rules}` : rules
  return [{ role, content, parts: [{ type: 'text', text: content }] }, ...(isSystem ? others : messages)]
}

interface Target {
  readonly ref: string
  readonly facts: ModelFacts
}

/** Caches how far a conversation has been checked, and for which model; found by its first message, which is the same in every step. */
interface Checked {
  readonly model: Target['ref']
  readonly facts: ModelFacts
  readonly messages: number
  /** The last checked message, since another conversation may start with the same one. */
  readonly last: RequestMessage | undefined
}

const checked = new WeakMap<RequestMessage, Checked>()

/** Checks the messages that are new since the last step. */
function allFit(messages: readonly RequestMessage[], model: Target): boolean {
  const [first] = messages
  if (first === undefined) return true
  const known = checked.get(first)
  const isSame = known?.model === model.ref && known.facts === model.facts && messages[known.messages - 1] === known.last
  for (let at = isSame ? known.messages : 0; at < messages.length; at++) {
    const message = messages[at]
    if (message !== undefined && !fitsAlready(message, model)) return false
  }
  checked.set(first, { model: model.ref, facts: model.facts, messages: messages.length, last: messages.at(-1) })
  return true
}

function fitsAlready({ role, parts }: RequestMessage, { ref, facts }: Target): boolean {
  if (facts.systemRole === false && (role === 'system' || role === 'developer')) return false
  if (hasUnseenImage(parts, facts)) return false
  return role !== 'assistant' || !parts.some((part) => isForeignThought(part, ref))
}

function fitMessage(message: RequestMessage, model: Target): RequestMessage {
  if (fitsAlready(message, model)) return message
  const { role, parts } = message
  const fitted = hasUnseenImage(parts, model.facts) ? parts.map(withoutImage) : parts
  const asUser = model.facts.systemRole === false && (role === 'system' || role === 'developer')
  return {
    ...message,
    role: asUser ? 'user' : role,
    content: fitted === parts ? message.content : textOf(fitted),
    // Signatures of another model's thinking are invalid for this one, and the thinking is not part of the answer.
    parts: role === 'assistant' ? fitted.filter((part) => !isForeignThought(part, model.ref)) : fitted,
  }
}

function hasUnseenImage(parts: readonly Part[], { images }: ModelFacts): boolean {
  return (
    images === false && parts.some((part) => isImage(part) || (part.type === 'tool-result' && part.attachments?.some(isImage)))
  )
}

function isImage(part: Part): boolean {
  return part.type === 'image' || (part.type === 'file' && part.mediaType.startsWith('image/'))
}

/** Replaces an image, so that the model does not invent an answer about it. */
const UNSEEN = '[An image stood here. It was left out: this model does not take images.]'

function withoutImage(part: Part): Part {
  if (isImage(part)) return { type: 'text', text: UNSEEN }
  if (part.type !== 'tool-result' || part.attachments?.some(isImage) !== true) return part
  return {
    ...part,
    content: part.content === '' ? UNSEEN : `${part.content}\n${UNSEEN}`,
    attachments: part.attachments.filter((each) => !isImage(each)),
  }
}

function isForeignThought(part: Part, ref: string): boolean {
  return part.type === 'thinking' && part.model !== undefined && part.model !== ref
}
