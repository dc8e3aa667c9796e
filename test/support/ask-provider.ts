/** Makes one request to a model and collects its answer. */

import type { CriaError } from '../../src/core/error.ts'
import { assistant, toolResult, user } from '../../src/core/message.ts'
import type { LanguageModel, ModelPart, ModelRequest } from '../../src/core/model.ts'
import type { ThinkingPart, ToolCallPart } from '../../src/core/part.ts'
import type { Span } from '../../src/core/span.ts'
import type { Usage } from '../../src/core/usage.ts'
import { Assembler } from '../../src/model/assemble.ts'

export interface Outcome {
  readonly text: string
  readonly thinking: string
  readonly calls: readonly ToolCallPart[]
  readonly finish: Extract<ModelPart, { type: 'finish' }> | undefined
  readonly usage: Usage | undefined
  /** Last id and model of the response. */
  readonly response: { readonly id?: string; readonly model?: string }
  readonly parts: readonly ModelPart[]
  readonly error: CriaError | undefined
  /** Warnings on the span. */
  readonly warnings: readonly string[]
}

export const QUESTION: Omit<ModelRequest, 'model'> = { messages: [user('What is the weather?')], stream: true }

export async function ask(
  model: LanguageModel,
  request: Partial<ModelRequest> = {},
  signal: AbortSignal = AbortSignal.timeout(15_000),
): Promise<Outcome> {
  const parts: ModelPart[] = []
  const warnings: string[] = []
  let error: CriaError | undefined
  try {
    for await (const part of model.stream({ ...QUESTION, ...request, model: model.ref }, { signal, span: quietSpan(warnings) }))
      parts.push(part)
  } catch (thrown) {
    error = thrown as CriaError
  }
  const since = parts.slice(parts.findLastIndex((part) => part.type === 'restart') + 1)
  const of = <Type extends ModelPart['type']>(type: Type): Extract<ModelPart, { type: Type }>[] =>
    since.filter((part): part is Extract<ModelPart, { type: Type }> => part.type === type)
  return {
    text: of('text')
      .map((part) => part.text)
      .join(''),
    thinking: of('thinking')
      .map((part) => part.text)
      .join(''),
    calls: of('tool-call'),
    finish: of('finish').at(-1),
    usage: of('usage').at(-1)?.usage,
    response: Object.assign({}, ...of('response').map(({ type: _, ...response }) => response)) as Outcome['response'],
    parts,
    error,
    warnings,
  }
}

/** Returns the conversation after the answer and its tool results. */
export function afterTools(model: LanguageModel, { parts }: Outcome, result: string): ModelRequest['messages'] {
  const assembler = new Assembler(model.ref)
  for (const part of parts) assembler.add(part)
  const message = assistant(assembler.result().parts)
  return [
    ...QUESTION.messages,
    message,
    ...(message.toolCalls ?? []).map((call) => toolResult({ id: call.id, name: call.name, content: result })),
  ]
}

export function thinkingOf(messages: ModelRequest['messages']): ThinkingPart[] {
  return messages.flatMap((message) => message.parts.filter((part) => part.type === 'thinking'))
}

function quietSpan(warnings: string[]): Span {
  const span: Span = {
    traceId: '0'.repeat(32),
    spanId: '0'.repeat(16),
    child: () => span,
    set: () => {},
    event: (_, attributes) => {
      warnings.push(JSON.stringify(attributes?.['message'] ?? ''))
    },
    fail: () => {},
    end: () => {},
    run: (work) => work(),
  }
  return span
}
