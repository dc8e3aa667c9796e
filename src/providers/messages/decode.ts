/**
 * Decodes answers of the Messages API. Tolerates a gateway that restarts the answer in the same stream, and servers that omit signatures and
 * usage, or send the first text with the start of a block.
 */

import type { JsonObject } from '../../core/json.ts'
import type { Answer } from '../answer/answer.ts'
import type { Decoder } from '../api.ts'
import { isErrorReport, ReportedError } from '../errors/reported.ts'
import { asObject, asString, asText, objectsIn, parseObject } from '../wire/json.ts'

export { readMessagesUsage as readUsage } from '../answer/usage.ts'

export function decode(answer: Answer): Decoder {
  let isOpen = false
  let id: unknown
  /** Open tool calls, and open blocks that are kept unchanged: calls and results of tools that ran at the provider. */
  const open = new Map<number, { readonly block: JsonObject; input: string }>()

  function event(event: JsonObject): void {
    const index = typeof event['index'] === 'number' ? event['index'] : 0
    switch (event['type']) {
      case 'content_block_delta':
        return addDelta(asObject(event['delta']) ?? {}, index)
      case 'content_block_start':
        return beginBlock(asObject(event['content_block']) ?? {}, index)
      case 'content_block_stop':
        return endBlock(index)
      case 'message_start':
        return begin(asObject(event['message']) ?? {})
      case 'message_delta':
        noteEnd(asObject(event['delta']))
        answer.usage(event['usage'])
        answer.complete = answer.rawReason !== undefined
        return
      case 'message_stop':
        answer.ended = true
        return
      case 'ping':
        return
      default:
        if (event['type'] === 'error' || isErrorReport(event)) throw new ReportedError(event)
    }
  }

  function begin(message: JsonObject): void {
    if (isOpen && message['id'] === id) return
    if (isOpen) {
      answer.restart()
      open.clear()
    }
    isOpen = true
    id = message['id']
    answer.response(id, message['model'])
    noteEnd(message)
    // The output tokens at this point are not the final count.
    const { output_tokens: _, ...usage } = asObject(message['usage']) ?? {}
    answer.usage(usage)
    for (const block of objectsIn(message['content'])) readBlock(block)
  }

  function noteEnd(message: JsonObject | undefined): void {
    answer.rawReason = asString(message?.['stop_reason']) ?? answer.rawReason
  }

  function beginBlock(block: JsonObject, index: number): void {
    const { type } = block
    if (type === 'text' || type === 'thinking' || type === 'redacted_thinking') return readBlock(block, index)
    if (typeof type === 'string') open.set(index, { block, input: '' })
    if (type === 'tool_use') answer.startCall(index, asText(block['id']), asText(block['name']))
  }

  function addDelta(delta: JsonObject, index: number): void {
    switch (delta['type']) {
      case 'text_delta':
        return answer.text(asText(delta['text']))
      case 'thinking_delta':
        return answer.think(index, asText(delta['thinking']))
      case 'signature_delta':
        return answer.think(index, '', signed(delta['signature']))
      case 'input_json_delta': {
        const json = asText(delta['partial_json'])
        const kept = open.get(index)
        if (kept !== undefined) kept.input += json
        return answer.addInput(index, json)
      }
      default:
    }
  }

  function endBlock(index: number): void {
    const ended = open.get(index)
    open.delete(index)
    if (ended === undefined) return answer.endThinking(index)
    const { block, input } = ended
    if (block['type'] === 'tool_use') answer.endCall(index, callerOf(block), input === '' ? block['input'] : input)
    else keep(input === '' ? block : { ...block, input: parseObject(input) ?? {} })
  }

  /** Reads a whole block, or the start of one with its first content. */
  function readBlock(block: JsonObject, index?: number): void {
    const key = index ?? 'whole'
    switch (block['type']) {
      case 'text':
        return answer.text(asText(block['text']))
      case 'thinking':
        answer.think(key, asText(block['thinking']), signed(block['signature']))
        return index === undefined ? answer.endThinking(key) : undefined
      case 'redacted_thinking':
        return answer.endThinking(key, { anthropic: { redactedData: asText(block['data']) } })
      case 'tool_use':
        return answer.call(asText(block['id']), asText(block['name']), block['input'], callerOf(block))
      default:
        if (typeof block['type'] === 'string') keep(block)
    }
  }

  function keep(block: JsonObject): void {
    const type = asText(block['type'])
    const isCall = type === 'server_tool_use' || type === 'mcp_tool_use'
    const name = isCall ? asString(block['name']) : /^(.*)_tool_result$/.exec(type)?.[1]
    answer.opaque(name === undefined ? type : `${isCall ? 'tool-call' : 'tool-result'}:${name}`, { block })
  }

  return {
    event,
    whole(body) {
      answer.response(body['id'], body['model'])
      for (const block of objectsIn(body['content'])) readBlock(block)
      noteEnd(body)
      answer.usage(body['usage'])
    },
    end() {
      for (const index of open.keys()) endBlock(index)
    },
  }
}

function signed(signature: unknown): JsonObject | undefined {
  return typeof signature === 'string' && signature !== '' ? { anthropic: { signature } } : undefined
}

/** Returns the caller of a tool call if it was code that ran at the provider; `undefined` for a direct call. */
function callerOf({ caller }: JsonObject): JsonObject | undefined {
  const object = asObject(caller)
  return object === undefined || object['type'] === 'direct' ? undefined : { anthropic: { caller: object } }
}
