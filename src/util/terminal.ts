/**
 * Keeps text of models, documents and file names from commanding the terminal.
 *
 * An escape sequence begins with a control character, so it is enough to make these visible, one by one: nothing has to be parsed, an
 * unfinished sequence is as harmless as a finished one, and a cut between two deltas changes nothing.
 */

import { whenNeeded } from './pattern.ts'

// C0 but for tab and line feed, DEL, C1; embeddings, overrides and isolates of the bidirectional algorithm, which let a text look
// different from what it says; the old format characters that switch shapes and digits; what has no width and can carry a text that nobody
// sees: zero-width characters and marks of direction, tags, and the selectors of variants beyond the first sixteen. The joiners and the
// first selectors stay, since writing systems and emoji need them; `exactText` shows them, too.
const UNSAFE =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B\u200E\u200F\u2028\u2029\u202A-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB]|\uDB40[\uDC00-\uDFFF]/g
const HIGH_SURROGATE_AT_END = /[\uD800-\uDBFF]$/

/** The text with control characters made visible: ESC is `␛`, CSI is `<U+009B>`. Line ends become line feeds. */
export function visibleText(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNSAFE, picture)
}

/** As `visibleText`, for what has to stay on one line: names of files, messages in a list. */
export function visibleLine(text: string): string {
  return visibleText(text).replaceAll('\n', '␊').replaceAll('\t', ' ')
}

// What takes no room or looks like a plain space: a reader who has to agree to a text must see that it is there.
const UNSEEN = whenNeeded(() => /[\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u00A0\u1680\u2000-\u200A\u202F\u205F\u3000]/gu)

/** As `visibleText`, with everything else that cannot be seen made visible as well: for what somebody is asked to agree to. */
export function exactText(text: string): string {
  return visibleText(text).replaceAll(UNSEEN(), (character) => `<U+${hex(character.codePointAt(0) ?? 0)}>`)
}

function picture(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  if (code === 0x7f) return '␡'
  return `<U+${hex(code)}>`
}

function hex(code: number): string {
  return code.toString(16).toUpperCase().padStart(4, '0')
}

export interface TextStream {
  /** Takes the next piece and gives what can be written. */
  push(text: string): string
  /** Gives what was held back. */
  finish(): string
}

/**
 * Makes text visible that arrives in pieces, cut anywhere: the result is that of the whole text. Holds back at most one character, a
 * carriage return or half of a surrogate pair.
 */
export function visibleStream(): TextStream {
  const whole = wholeCharacters()
  let held = ''
  return {
    push(text) {
      const joined = held + whole.push(text)
      held = joined.endsWith('\r') ? '\r' : ''
      return visibleText(held === '' ? joined : joined.slice(0, -1))
    },
    finish() {
      const rest = visibleText(held + whole.finish())
      held = ''
      return rest
    },
  }
}

/** Passes text on unchanged but for its cuts: a surrogate pair is never parted. */
export function wholeCharacters(): TextStream {
  let held = ''
  return {
    push(text) {
      const joined = held + text
      const cut = HIGH_SURROGATE_AT_END.test(joined)
      held = cut ? joined.slice(-1) : ''
      return cut ? joined.slice(0, -1) : joined
    },
    finish() {
      const rest = held
      held = ''
      return rest
    },
  }
}

/** Parts of a text, plain ones and styles by turns; the first is plain. */
export function styledParts(text: string): readonly string[] {
  // eslint-disable-next-line no-control-regex
  return text.split(/(\u001B\[[\d;]*m)/)
}

/**
 * What a renderer made of visible text: its colours stay, any other control character becomes visible. Markdown knows character references
 * (`&#27;`), so a renderer may bring one back.
 */
export function onlyStyles(rendered: string): string {
  return styledParts(rendered)
    .map((part, index) => (index % 2 === 1 ? part : visibleText(part)))
    .join('')
}

const REFERENCE = /&#(?:x([\da-f]{1,6})|(\d{1,7}));/gi

/** Replaces the character references of Markdown and HTML that stand for a control character by that character, made visible. */
export function withoutControlReferences(markdown: string): string {
  return markdown.replace(REFERENCE, (reference, hex: string | undefined, decimal: string | undefined) => {
    const code = hex === undefined ? Number.parseInt(decimal ?? '', 10) : Number.parseInt(hex, 16)
    if (code > 0xffff) return reference
    const character = String.fromCharCode(code)
    const shown = visibleText(character)
    return shown === character ? reference : shown
  })
}
