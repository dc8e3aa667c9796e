/** How an API wants a conversation: what differs between them, as data. */

export interface Style {
  /** `top`: instructions stand before everything else; later ones are moved there. */
  readonly instructions: 'anywhere' | 'top'
  /** Where images and files that a tool returned may stand. */
  readonly attachments: 'in-result' | 'user-message'
  /**
   * What thinking goes back to the model that thought it. `signed`: only what the provider gave a signature or an id for; `turn`: the text of
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
  /** `marked`: the beginning of a request is kept in the provider's cache only where it is asked for. */
  readonly cache: 'by-itself' | 'marked'
  /** What ids of calls look like. */
  readonly callIds: RegExp
}

export type StyleName = 'responses' | 'chat' | 'compatible' | 'messages' | 'gemini' | 'unknown'

export const STYLES: Readonly<Record<StyleName, Style>> = {
  responses: {
    instructions: 'anywhere',
    attachments: 'in-result',
    thinking: 'signed',
    emptySignedText: false,
    mergeUsers: false,
    mergeAnswers: false,
    answersBeforeUser: false,
    begins: 'anyone',
    endsInThinking: false,
    filesInAnswers: false,
    cache: 'by-itself',
    callIds: /^[^]{1,64}$/,
  },
  chat: {
    instructions: 'anywhere',
    attachments: 'user-message',
    thinking: 'none',
    emptySignedText: false,
    mergeUsers: false,
    mergeAnswers: false,
    answersBeforeUser: false,
    begins: 'anyone',
    endsInThinking: true,
    filesInAnswers: false,
    cache: 'by-itself',
    callIds: /^[^]{1,40}$/,
  },
  compatible: {
    instructions: 'top',
    attachments: 'user-message',
    thinking: 'turn',
    emptySignedText: false,
    mergeUsers: true,
    mergeAnswers: true,
    answersBeforeUser: true,
    begins: 'user',
    endsInThinking: true,
    filesInAnswers: false,
    cache: 'by-itself',
    callIds: /^[^]+$/,
  },
  messages: {
    instructions: 'top',
    attachments: 'in-result',
    thinking: 'signed',
    emptySignedText: false,
    mergeUsers: false,
    mergeAnswers: false,
    answersBeforeUser: false,
    begins: 'user',
    endsInThinking: false,
    filesInAnswers: false,
    cache: 'marked',
    callIds: /^[\w-]+$/,
  },
  gemini: {
    instructions: 'top',
    attachments: 'in-result',
    thinking: 'signed',
    emptySignedText: true,
    mergeUsers: false,
    mergeAnswers: true,
    answersBeforeUser: false,
    begins: 'user',
    endsInThinking: true,
    filesInAnswers: true,
    cache: 'by-itself',
    callIds: /^[^]+$/,
  },
  /** A model that the user brought: what all of them take. */
  unknown: {
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
    cache: 'by-itself',
    callIds: /^[\w-]{1,40}$/,
  },
}
