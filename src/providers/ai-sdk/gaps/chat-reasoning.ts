/** Chat Completions: reasoning has two names. Servers that use the second may send the first one empty, and the package looks no further. */

import type { Json, JsonObject } from '../../../core/json.ts'
import { asArray, asObject } from '../../wire/dialect.ts'
import type { CreateGap } from './gap.ts'

export const chatReasoning: CreateGap = () => ({
  markers: ['"reasoning_content":""', '"reasoning_content": ""'],
  event(event) {
    const mended = withoutEmpty(event, 'delta')
    return mended === event ? 'keep' : { replace: mended }
  },
  body: (body) => withoutEmpty(body, 'message'),
})

function withoutEmpty(answer: JsonObject, member: 'delta' | 'message'): JsonObject {
  const choices = asArray(answer['choices'])
  const mended = choices.map((choice) => {
    const content = asObject(asObject(choice)?.[member])
    if (content?.['reasoning_content'] !== '') return choice
    const { reasoning_content: _, ...rest } = content
    return { ...asObject(choice), [member]: rest }
  })
  return mended.some((choice, at) => choice !== choices[at]) ? { ...answer, choices: mended as Json[] } : answer
}
