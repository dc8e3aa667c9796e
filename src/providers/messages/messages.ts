/** Anthropic's Messages API, as Anthropic and others speak it. https://docs.claude.com/en/api/messages */

import { readMessagesUsage } from '../answer/usage.ts'
import type { Api } from '../api.ts'
import { decodeMessages } from './decode.ts'
import { encodeMessages } from './encode.ts'

export const messages: Api = { encode: encodeMessages, decode: decodeMessages, readUsage: readMessagesUsage }
