/** OpenAI's Responses API, as OpenAI and others speak it. https://platform.openai.com/docs/api-reference/responses */

import { readResponsesUsage } from '../answer/usage.ts'
import type { Api } from '../api.ts'
import { decodeResponses } from './decode.ts'
import { encodeResponses } from './encode.ts'

export const responses: Api = { encode: encodeResponses, decode: decodeResponses, readUsage: readResponsesUsage }
