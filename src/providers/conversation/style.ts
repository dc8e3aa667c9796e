/** Lists, as data, how the APIs want a conversation. */

export interface Style {
  /** `top`: instructions stand before everything else; later ones are moved there. */
  readonly instructions: 'anywhere' | 'top'
  /** Where images and files that a tool returned may stand. */
  readonly attachments: 'in-result' | 'user-message'
  /**
   * The thinking that goes back to the model that thought it. `signed`: only what the provider gave a signature or an id for; `turn`: the text of
   * the current turn, as DeepSeek and others ask for; `none`.
   */
  readonly thinking: 'signed' | 'turn' | 'none'
  /** Text without characters is kept for the signature it carries. */
  readonly emptySignedText: boolean
  /** Chat templates of open models refuse two user messages in a row. */
  readonly mergeUsers: boolean
  /** Two answers in a row are refused, where the second one calls a tool. */
  readonly mergeAnswers: boolean
  /** Between the result of a tool and what the user says next there has to be an answer, as Mistral and the templates of others demand. */
  readonly answersBeforeUser: boolean
  /** `user`: a conversation cannot begin with an answer. */
  readonly begins: 'anyone' | 'user'
  /** An answer may end in thinking, as it does when it was cut there. */
  readonly endsInThinking: boolean
  /** Answers may hold files. */
  readonly filesInAnswers: boolean
  /** The form of the ids of calls. */
  readonly callIds: RegExp
}

/** A model that the user brought: what all of them take. */
const UNKNOWN: Style = {
  instructions: 'top',
  attachments: 'in-result',
  thinking: 'signed',
  emptySignedText: true,
  mergeUsers: false,
  mergeAnswers: true,
  answersBeforeUser: false,
  begins: 'user',
  endsInThinking: false,
  filesInAnswers: false,
  callIds: /^[\w-]{1,40}$/,
}
const RESPONSES: Style = {
  ...UNKNOWN,
  instructions: 'anywhere',
  begins: 'anyone',
  emptySignedText: false,
  mergeAnswers: false,
  callIds: /^[^]{1,64}$/,
}
/** Chat Completions of OpenAI. */
const CHAT: Style = { ...RESPONSES, attachments: 'user-message', thinking: 'none', endsInThinking: true, callIds: /^[^]{1,40}$/ }

export type StyleName = 'unknown' | 'responses' | 'chat' | 'compatible' | 'strict' | 'messages' | 'gemini'

/** Chat Completions of everybody else. */
const COMPATIBLE: Style = {
  ...UNKNOWN,
  attachments: 'user-message',
  thinking: 'turn',
  emptySignedText: false,
  mergeUsers: true,
  answersBeforeUser: true,
  endsInThinking: true,
  callIds: /^[^]+$/,
}

export const STYLES: Readonly<Record<StyleName, Style>> = {
  unknown: UNKNOWN,
  responses: RESPONSES,
  chat: CHAT,
  compatible: COMPATIBLE,
  /** Those of them that refuse messages with thinking. */
  strict: { ...COMPATIBLE, thinking: 'none' },
  messages: { ...UNKNOWN, emptySignedText: false, mergeAnswers: false, callIds: /^[\w-]+$/ },
  gemini: { ...UNKNOWN, endsInThinking: true, filesInAnswers: true, callIds: /^[^]+$/ },
}
