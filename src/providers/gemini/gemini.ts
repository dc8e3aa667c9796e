/** Google's Gemini API. https://ai.google.dev/api/generate-content */

import { readGeminiUsage } from '../answer/usage.ts'
import type { Api } from '../api.ts'
import { decodeGemini } from './decode.ts'
import { encodeGemini } from './encode.ts'

export const gemini: Api = { encode: encodeGemini, decode: decodeGemini, readUsage: readGeminiUsage }
