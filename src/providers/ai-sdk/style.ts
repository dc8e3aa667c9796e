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
  readonly mergeUserTexts: boolean
}

export type StyleName = 'responses' | 'chat' | 'compatible' | 'messages' | 'gemini' | 'unknown'

export const STYLES: Readonly<Record<StyleName, Style>> = {
  responses: {
    instructions: 'anywhere',
    attachments: 'in-result',
    thinking: 'signed',
    emptySignedText: false,
    mergeUserTexts: false,
  },
  chat: {
    instructions: 'anywhere',
    attachments: 'user-message',
    thinking: 'none',
    emptySignedText: false,
    mergeUserTexts: false,
  },
  compatible: {
    instructions: 'anywhere',
    attachments: 'user-message',
    thinking: 'turn',
    emptySignedText: false,
    mergeUserTexts: true,
  },
  messages: { instructions: 'top', attachments: 'in-result', thinking: 'signed', emptySignedText: false, mergeUserTexts: false },
  gemini: { instructions: 'top', attachments: 'in-result', thinking: 'signed', emptySignedText: true, mergeUserTexts: false },
  /** A model that the user brought: what all of them take. */
  unknown: { instructions: 'top', attachments: 'in-result', thinking: 'signed', emptySignedText: true, mergeUserTexts: false },
}
