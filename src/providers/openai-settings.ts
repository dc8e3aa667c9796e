/** What both APIs of OpenAI take of the settings, model by model. */

import { CriaError } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import type { ModelFacts, ModelRequest } from '../core/model.ts'
import type { EncodeInput } from './api.ts'
import { isStrict } from './api.ts'
import type { Attachment } from './conversation/conversation.ts'
import { LEAST_EFFORT, SAMPLES_WITHOUT_EFFORT } from './facts-table.ts'

/** How much the model is asked to reason; `undefined` leaves it to the provider. */
export function effortOf({ model, request: { thinking }, options }: EncodeInput): string | undefined {
  const given = options['reasoningEffort'] ?? options['reasoning_effort']
  if (typeof given === 'string') return given
  return thinking === 'off' ? (LEAST_EFFORT.find(({ models }) => models.test(model))?.effort ?? 'none') : thinking
}

/** OpenAI's reasoning models refuse settings of sampling, unless they are told not to reason. */
export function samplingOf({ model, facts, request, warn }: EncodeInput, effort: string | undefined): JsonObject {
  const { temperature, topP, frequencyPenalty, presencePenalty } = request
  const isReasoning = isReasoningModel(facts)
  const samples = !isReasoning || (effort === 'none' && SAMPLES_WITHOUT_EFFORT.test(model))
  const given = {
    temperature: samples ? temperature : undefined,
    top_p: samples ? topP : undefined,
    frequency_penalty: isReasoning ? undefined : frequencyPenalty,
    presence_penalty: isReasoning ? undefined : presencePenalty,
  }
  // A temperature that the model insists on was not asked for by anybody.
  const dropped = {
    temperature: facts.fixedTemperature === undefined ? temperature : undefined,
    topP,
    frequencyPenalty,
    presencePenalty,
  }
  for (const [index, [name, value]] of Object.entries(dropped).entries())
    if (value !== undefined && Object.values(given)[index] === undefined) warn(`${model} reasons, and does not take ${name}.`)
  return given
}

export function isReasoningModel({ thinking }: ModelFacts): boolean {
  return thinking === true
}

/** The schema of the answer with what belongs to it; `undefined` where any JSON will do. */
export function schemaOf({ responseFormat }: ModelRequest, options: JsonObject): JsonObject | undefined {
  if (responseFormat?.schema === undefined) return undefined
  const { schema } = responseFormat
  const strict = options['strictJsonSchema'] ?? options['strict_json_schema'] ?? isStrict(schema)
  return { name: responseFormat.name ?? 'response', schema, strict }
}

export function cannotSend({ mediaType }: Attachment, provider: string): CriaError {
  return new CriaError('invalid_request', `${provider} cannot be sent a file of type ${mediaType}.`, {
    hint: 'Give it as text, or ask a model of a provider that takes such files.',
  })
}
