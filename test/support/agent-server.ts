/** Serves a scripted model over HTTP that calls tools step by step, then answers. */

import { chatServer, endStream, sendDelta, startStream } from './chat-server.ts'
import type { ChatServer } from './chat-server.ts'

export interface ScriptedStep {
  readonly text?: string
  readonly calls?: readonly { readonly name: string; readonly input: object }[]
}

/** A message that the model received. */
export interface SentMessage {
  readonly role: string
  readonly content: string | null
}

/** @param steps one for each request, or a function of the tool results so far. */
export async function agentServer(
  steps: readonly ScriptedStep[] | ((messages: readonly SentMessage[], step: number) => ScriptedStep | Promise<ScriptedStep>),
): Promise<ChatServer> {
  let count = 0
  const server: ChatServer = await chatServer(async (response) => {
    const number = count++
    const step = typeof steps === 'function' ? await steps(messagesIn(server), number) : steps[number]
    if (step === undefined) throw new Error(`The script has no step ${number + 1}.`)
    const { text, calls = [] } = step
    startStream(response)
    if (text !== undefined) sendDelta(response, text)
    const toolCalls = calls.map(({ name, input }, index) => ({
      index,
      id: `call_${number}_${index}`,
      type: 'function',
      function: { name, arguments: JSON.stringify(input) },
    }))
    if (calls.length > 0) {
      const choice = { index: 0, delta: { role: 'assistant', tool_calls: toolCalls }, finish_reason: null }
      const event = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'test', choices: [choice] }
      response.write(`data: ${JSON.stringify(event)}\n\n`)
    }
    endStream(response, calls.length > 0 ? 'tool_calls' : 'stop')
  })
  return server
}

export function messagesIn(server: ChatServer | undefined, request = -1): readonly SentMessage[] {
  return (JSON.parse(server?.requests.at(request) ?? '{"messages":[]}') as { messages: SentMessage[] }).messages
}

/** Returns the tool results in the latest request, oldest first. */
export function toolResultsIn(server: ChatServer | undefined, request = -1): string[] {
  return messagesIn(server, request)
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => content ?? '')
}
