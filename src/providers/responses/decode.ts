/**
 * Decodes answers of the Responses API. Text arrives in deltas, in whole items, or only at the end of the response; text of an item beyond its deltas
 * is added. Other vendors omit ids and positions, and stream the reasoning itself where OpenAI streams a summary.
 */

import type { JsonObject } from '../../core/json.ts'
import type { Answer } from '../answer/answer.ts'
import type { Decoder } from '../api.ts'
import { isErrorReport, ReportedError } from '../errors/reported.ts'
import { asObject, asString, asText, objectsIn } from '../wire/json.ts'

export { readResponsesUsage as readUsage } from '../answer/usage.ts'

/** Items of OpenAI's own tools that the client would run. cria never offers them. */
const NOT_OFFERED =
  /^(?:tool_search_call|tool_search_output|local_shell_call|shell_call|shell_call_output|apply_patch_call|computer_call)$/

/** The texts streamed so far of one item. */
interface Streamed {
  text: string
  thinking: string
  /** The kind of thinking that arrived first; an item may stream both its reasoning and a summary, and only one is read. */
  kind?: 'text' | 'summary'
  /** The part of the summary that is open. */
  block?: string
}

export function decode(answer: Answer): Decoder {
  const items = new Map<string, Streamed>()
  let hasTextDeltas = false
  let hasCalls = false

  function streamedOf(key: string): Streamed {
    let item = items.get(key)
    if (item === undefined) items.set(key, (item = { text: '', thinking: '' }))
    return item
  }

  function event(event: JsonObject): void {
    const { type, delta } = event
    switch (type) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return addText(keyOf(event), asText(delta), type === 'response.refusal.delta')
      case 'response.reasoning_summary_text.delta':
        return addThinking(event, 'summary', asText(delta))
      case 'response.reasoning_text.delta':
      case 'response.reasoning.delta':
        return addThinking(event, 'text', asString(delta) ?? asString(asObject(delta)?.['text']) ?? '')
      case 'response.function_call_arguments.delta':
        return answer.addInput(keyOf(event), asText(delta))
      case 'response.output_item.added': {
        const item = asObject(event['item'])
        if (item?.['type'] === 'function_call') answer.startCall(keyOf(event, item), callIdOf(item), asText(item['name']))
        return
      }
      case 'response.output_item.done': {
        const item = asObject(event['item'])
        if (item !== undefined) endItem(item, keyOf(event, item))
        return
      }
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return endResponse(asObject(event['response']) ?? {}, type)
      default:
        if (type === 'error' || isErrorReport(event)) throw new ReportedError(event)
        noteResponse(asObject(event['response']))
    }
  }

  function addText(key: string, text: string, isRefusal: boolean): void {
    hasTextDeltas = true
    streamedOf(key).text += text
    if (isRefusal) answer.refused = true
    answer.text(text)
  }

  function addThinking(event: JsonObject, kind: 'text' | 'summary', text: string): void {
    const item = streamedOf(keyOf(event))
    item.kind ??= kind
    if (item.kind !== kind || text === '') return
    const block = `${keyOf(event)} ${kind === 'summary' ? JSON.stringify(event['summary_index'] ?? 0) : ''}`
    if (item.block !== undefined && item.block !== block) answer.endThinking(item.block, itemData(event['item_id']))
    item.block = block
    item.thinking += text
    answer.think(block, text)
  }

  function endItem(item: JsonObject, key: string): void {
    const streamed = streamedOf(key)
    switch (item['type']) {
      case 'message': {
        for (const { type } of objectsIn(item['content'])) if (type === 'refusal') answer.refused = true
        if (streamed.text !== '' || !hasTextDeltas) answer.text(beyond(streamed.text, textOf(item)))
        streamed.text = textOf(item)
        const { phase } = item
        if (typeof phase === 'string') answer.endText({ openai: { phase } })
        return
      }
      case 'reasoning': {
        const texts = thinkingOf(item)
        // Several parts are skipped if any thinking was streamed, since they cannot be matched to it.
        const more = streamed.thinking === '' || texts.length === 1 ? texts : []
        let block = streamed.block ?? key
        for (const [index, text] of more.entries()) {
          if (index > 0) {
            answer.endThinking(block, itemData(item['id']))
            block = `${key} ${index}`
          }
          answer.think(block, beyond(streamed.thinking, text))
        }
        return answer.endThinking(block, itemData(item['id'], item['encrypted_content']))
      }
      case 'function_call': {
        hasCalls = true
        const { namespace, arguments: input } = item
        const data = typeof namespace === 'string' ? { openai: { namespace } } : undefined
        if (!answer.hasOpen(key)) return answer.call(callIdOf(item), asText(item['name']), input, data)
        const came = answer.inputOf(key)
        if (typeof input === 'string') answer.addInput(key, beyond(came, input))
        return answer.endCall(key, data, (input ?? '') === '' ? came : input)
      }
      default: {
        const type = asString(item['type'])
        if (type === undefined || NOT_OFFERED.test(type)) return
        answer.opaque(type.endsWith('_call') ? `tool-call:${type.slice(0, -'_call'.length)}` : type, { block: item })
      }
    }
  }

  /** Reads the end of the response, the only event in which some servers send text or tool calls. */
  function endResponse(response: JsonObject, type: string): void {
    if (type === 'response.failed' && (response['error'] ?? null) !== null) throw new ReportedError({ response })
    const hadText = hasTextDeltas || [...items.values()].some(({ text }) => text !== '')
    for (const item of objectsIn(response['output'])) {
      if (item['type'] === 'message' && !hadText) answer.text(textOf(item))
      // A tool call in an incomplete response may itself be incomplete.
      else if (item['type'] === 'function_call' && !hasCalls && type === 'response.completed') endItem(item, '')
    }
    noteResponse(response)
    noteEnd(response)
    answer.ended = true
  }

  function noteResponse(response: JsonObject | undefined): void {
    if (response === undefined) return
    answer.response(response['id'], response['model'])
    answer.usage(response['usage'])
  }

  function noteEnd(response: JsonObject): void {
    answer.rawReason = asString(asObject(response['incomplete_details'])?.['reason']) ?? asString(response['status'])
  }

  return {
    event,
    whole(body) {
      if (body['status'] === 'failed' && (body['error'] ?? null) !== null) throw new ReportedError(body)
      noteResponse(body)
      for (const [index, item] of objectsIn(body['output']).entries()) endItem(item, `whole ${index}`)
      noteEnd(body)
    },
    end: () => answer.endCalls(),
  }
}

/** Returns the key of an item: its index, else its id. Some servers send no index; others send a different id in each event. */
function keyOf({ output_index, item_id }: JsonObject, item?: JsonObject): string {
  return typeof output_index === 'number' ? String(output_index) : (asString(item_id) ?? asString(item?.['id']) ?? '')
}

function callIdOf({ call_id, id }: JsonObject): string {
  return asString(call_id) ?? asString(id) ?? ''
}

function itemData(itemId: unknown, encrypted?: unknown): JsonObject {
  return { openai: { itemId: asText(itemId), reasoningEncryptedContent: asText(encrypted) } }
}

/** Returns the part of `whole` after `came`; empty if `whole` does not begin with `came`. */
function beyond(came: string, whole: string): string {
  return whole.length > came.length && whole.startsWith(came) ? whole.slice(came.length) : ''
}

function textOf(message: JsonObject): string {
  return objectsIn(message['content'])
    .map((part) => asText(part[part['type'] === 'refusal' ? 'refusal' : 'text']))
    .join('')
}

/** Returns the parts of the summary, or the reasoning itself if the item has no summary. */
function thinkingOf(item: JsonObject): string[] {
  const textsIn = (parts: unknown): string[] => objectsIn(parts).map((part) => asText(part['text']))
  const summary = textsIn(item['summary'])
  return summary.length > 0 ? summary : [textsIn(item['content']).join('')]
}
