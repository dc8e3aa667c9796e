/** Chat Completions, as OpenAI and a hundred others speak it. */

import type { Json, JsonObject } from '../../../core/json.ts'
import type { CreateDialect } from '../../wire/dialect.ts'
import { asObject, asString, objectsIn } from '../../wire/dialect.ts'
import { absorbChat } from '../absorb.ts'
import { chatErrors } from './chat-errors.ts'
import { chatFinish } from './chat-finish.ts'
import { chatPlaceholder } from './chat-placeholder.ts'
import { chatReasoning } from './chat-reasoning.ts'
import { chatToolCalls } from './chat-tool-calls.ts'
import { chatUsage } from './chat-usage.ts'
import { chatWhole } from './chat-whole.ts'
import { errorReports } from './error-reports.ts'
import { dialectOf } from './gap.ts'
import { oneAnswer } from './one-answer.ts'

export const chatDialect: CreateDialect = dialectOf({
  gaps: [
    oneAnswer('choices'),
    chatPlaceholder,
    chatErrors,
    errorReports,
    chatUsage,
    chatFinish,
    chatWhole,
    chatReasoning,
    chatToolCalls,
  ],
  deltas: ['"content":"', '"content": "', '"reasoning'],
  absorb: absorbChat,
  essence: (body) => ({
    id: asString(body['id']) ?? null,
    model: asString(body['model']) ?? null,
    choices: objectsIn(body['choices']).slice(0, 1).map(essentialChoice),
  }),
})

function essentialChoice(choice: JsonObject): JsonObject {
  const message = asObject(choice['message']) ?? {}
  const content = message['content']
  return {
    message: {
      role: 'assistant',
      content: typeof content === 'string' || Array.isArray(content) ? (content as Json) : null,
      refusal: asString(message['refusal']) ?? null,
      reasoning_content: asString(message['reasoning_content']) ?? asString(message['reasoning']) ?? null,
      tool_calls: objectsIn(message['tool_calls']).map((call) => ({
        id: asString(call['id']) ?? null,
        function: call['function'],
      })),
    },
    finish_reason: asString(choice['finish_reason']) ?? null,
  }
}
