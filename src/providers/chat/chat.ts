/** Chat Completions, as OpenAI and a hundred others speak it. https://platform.openai.com/docs/api-reference/chat */

import { readChatUsage } from '../answer/usage.ts'
import type { Api } from '../api.ts'
import { decodeChat } from './decode.ts'
import { encodeChat } from './encode.ts'

export const chat: Api = { encode: encodeChat, decode: decodeChat, readUsage: readChatUsage }
