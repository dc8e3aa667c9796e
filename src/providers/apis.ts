/** The wire APIs that we speak. A provider names one of them; adding one is a folder with a codec and a line here. */

import type { Api } from './api.ts'

export type ApiName = 'chat' | 'responses' | 'messages' | 'gemini'

/** Loaded on first use: a model that only stands by needs none of it. */
export const APIS: Readonly<Record<ApiName, () => Promise<Api>>> = {
  chat: async () => (await import('./chat/chat.ts')).chat,
  responses: async () => (await import('./responses/responses.ts')).responses,
  messages: async () => (await import('./messages/messages.ts')).messages,
  gemini: async () => (await import('./gemini/gemini.ts')).gemini,
}
