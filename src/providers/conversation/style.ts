/** Lists the rules of each API for a conversation, as data. */

export interface Style {
  /** `top`: instructions come before everything else; later ones are moved there. */
  readonly instructions: 'anywhere' | 'top'
  /** Place of images and files that a tool returned. */
  readonly attachments: 'in-result' | 'user-message'
  /**
   * The thinking that is sent back to the model that wrote it. `signed`: only thinking with a signature or an id of the provider; `turn`: the
   * thinking of the current turn, as DeepSeek and others require; `none`.
   */
  readonly thinking: 'signed' | 'turn' | 'none'
  /** Keeps an empty text that carries a signature. */
  readonly emptySignedText: boolean
  /** Merges consecutive answers, which some APIs refuse if the second one calls a tool. */
  readonly mergeAnswers: boolean
  /**
   * Messages alternate, as Mistral and chat templates of open models require: consecutive user messages are merged, and an answer is put between a
   * tool result and the next user message.
   */
  readonly alternates: boolean
  /** `user`: a conversation cannot begin with an answer. */
  readonly begins: 'anyone' | 'user'
  /** An answer may end in thinking, for example if it was cut there. */
  readonly endsInThinking: boolean
  /** Answers may hold files. */
  readonly filesInAnswers: boolean
  /** The form of the ids of calls. */
  readonly callIds: RegExp
}

/** For AI SDK models of unknown providers: a style that all APIs accept. */
const UNKNOWN: Style = {
  instructions: 'top',
  attachments: 'in-result',
  thinking: 'signed',
  emptySignedText: true,
  mergeAnswers: true,
  alternates: false,
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

/** Chat Completions of other servers. */
const COMPATIBLE: Style = {
  ...UNKNOWN,
  attachments: 'user-message',
  thinking: 'turn',
  emptySignedText: false,
  alternates: true,
  endsInThinking: true,
  callIds: /^[^]+$/,
}

export const STYLES: Readonly<Record<StyleName, Style>> = {
  unknown: UNKNOWN,
  responses: RESPONSES,
  chat: CHAT,
  compatible: COMPATIBLE,
  /** Compatible servers that refuse messages with thinking. */
  strict: { ...COMPATIBLE, thinking: 'none' },
  messages: { ...UNKNOWN, emptySignedText: false, mergeAnswers: false, callIds: /^[\w-]+$/ },
  gemini: { ...UNKNOWN, endsInThinking: true, filesInAnswers: true, callIds: /^[^]+$/ },
}
