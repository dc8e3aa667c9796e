/** Asks a package what it would send, without sending it. */

import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { JsonObject } from '../../core/json.ts'
import { parseObject } from '../wire/dialect.ts'

class Captured extends Error {}

/**
 * The request body that a model of a package makes of the options.
 * @param create makes the model with the `fetch` it is given.
 * @throws what the package throws when it cannot express the request.
 */
export async function openaiChatBody(
  create: (capture: typeof fetch) => LanguageModelV4,
  options: LanguageModelV4CallOptions,
): Promise<JsonObject> {
  let body: JsonObject | undefined
  const model = create((_, init) => {
    body = typeof init?.body === 'string' ? parseObject(init.body) : undefined
    return Promise.reject(new Captured())
  })
  try {
    await model.doGenerate(options)
  } catch (error) {
    if (!(error instanceof Captured) || body === undefined) throw error
    return body
  }
  throw new TypeError('The package sent nothing.')
}
