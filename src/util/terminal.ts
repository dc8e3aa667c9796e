/**
 * Makes text of models, documents and file names safe for a terminal.
 *
 * Escape sequences begin with a control character, so it is enough to make control characters visible. No parsing is needed, and
 * sequences that are unfinished, or cut between two deltas, are harmless as well.
 */

import { whenNeeded } from './pattern.ts'

// C0 except tab and line feed, DEL, C1; bidirectional embeddings, overrides and isolates, which let a text look different from its
// content; deprecated format characters that switch shapes and digits; invisible characters that can carry hidden text: zero-width
// characters, direction marks, tags, and variation selectors beyond the first sixteen. Joiners and the first selectors stay, since
// writing systems and emoji need them; `exactText` shows them, too.
const UNSAFE =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B\u200E\u200F\u2028\u2029\u202A-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB]|\uDB40[\uDC00-\uDFFF]/g
const HIGH_SURROGATE_AT_END = /[\uD800-\uDBFF]$/

/** Makes control characters visible: ESC becomes `␛`, CSI `<U+009B>`. Line ends become line feeds. */
export function visibleText(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNSAFE, picture)
}

/** Form of `visibleText` for text that must stay on one line: file names, messages in a list. */
export function visibleLine(text: string): string {
  return visibleText(text).replaceAll('\n', '␊').replaceAll('\t', ' ')
}

// Characters that are invisible or look like a plain space.
const UNSEEN = whenNeeded(() => /[\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u00A0\u1680\u2000-\u200A\u202F\u205F\u3000]/gu)

/** Form of `visibleText` that also shows all other invisible characters, for text that the user is asked to approve. */
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
  /** Takes the next piece and returns the text that can be written. */
  push(text: string): string
  /** Returns the text that was held back. */
  finish(): string
}

/**
 * Streaming form of `visibleText` for pieces that may be cut anywhere. Holds back at most one character: a carriage return or half
 * of a surrogate pair.
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

/** Passes text on unchanged, but never splits a surrogate pair between pieces. */
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

/** Splits a text into plain parts and styles in turn; the first part is plain. */
export function styledParts(text: string): readonly string[] {
  // eslint-disable-next-line no-control-regex
  return text.split(/(\u001B\[[\d;]*m)/)
}

/**
 * Makes control characters in rendered text visible, except styles. Markdown has character references (`&#27;`), from which a
 * renderer may restore a control character.
 */
export function onlyStyles(rendered: string): string {
  return styledParts(rendered)
    .map((part, index) => (index % 2 === 1 ? part : visibleText(part)))
    .join('')
}

const REFERENCE = /&#(?:x([\da-f]{1,6})|(\d{1,7}));/gi

/** Replaces Markdown and HTML character references to control characters with the visible form of that character. */
export function withoutControlReferences(markdown: string): string {
  return markdown.replace(REFERENCE, (reference, hex: string | undefined, decimal: string | undefined) => {
    const code = hex === undefined ? Number.parseInt(decimal ?? '', 10) : Number.parseInt(hex, 16)
    if (code > 0xffff) return reference
    const character = String.fromCharCode(code)
    const shown = visibleText(character)
    return shown === character ? reference : shown
  })
}
