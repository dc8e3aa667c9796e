/** Reads the bytes of a terminal as keys. Pure: what is not whole yet is given back. */

export type Key =
  | { readonly type: 'text'; readonly text: string }
  /** What was pasted, with line feeds. */
  | { readonly type: 'paste'; readonly text: string }
  /** `enter`, `up`, `ctrl-c`, `alt-enter`, `ctrl-left`. */
  | { readonly type: 'key'; readonly name: string }

export const PASTE_START: string = '\u001B[200~'
export const PASTE_END: string = '\u001B[201~'
/** Longer than any sequence that a terminal sends; what goes on after that is no sequence. */
const LONGEST_SEQUENCE = 32

/* eslint-disable no-control-regex */
/** CSI and SS3: parameters, and the letter that ends them. */
const SEQUENCE = /^\u001B(?:\[([\d;:<=>?]*)[ -/]*|O([\d;]*))([@-~])/
const UNFINISHED = /^\u001B(?:\[[\d;:<=>?]*[ -/]*|O[\d;]*)?$/
const PLAIN = /^[^\u0000-\u001F\u007F]+/
/* eslint-enable no-control-regex */

type Names = Readonly<Record<string, string>>
const LETTERS: Names = { A: 'up', B: 'down', C: 'right', D: 'left', F: 'end', H: 'home', M: 'enter', Z: 'backtab' }
const NUMBERS: Names = { 1: 'home', 3: 'delete', 4: 'end', 5: 'pageup', 6: 'pagedown', 7: 'home', 8: 'end' }
const CODES: Names = { 9: 'tab', 13: 'enter', 27: 'escape', 127: 'backspace' }
const CONTROLS: Names = { '\r': 'enter', '\n': 'ctrl-j', '\t': 'tab', '\b': 'backspace', '\u007F': 'backspace' }

/**
 * @param final nothing follows for now: an escape character that stands alone is the key of that name.
 * @returns the keys, and the beginning of something that has to be put before the next piece.
 */
export function decodeKeys(input: string, final = false): { readonly keys: readonly Key[]; readonly rest: string } {
  const keys: Key[] = []
  let rest = input
  while (rest !== '') {
    const next = decodeOne(rest, final)
    if (next === undefined) break
    const [length, key] = next
    if (key !== undefined) keys.push(typeof key === 'string' ? { type: 'key', name: key } : key)
    rest = rest.slice(length)
  }
  return { keys, rest }
}

/** The length of what stands first, and its key, or the name of it; no key for what means nothing to us. */
function decodeOne(input: string, final: boolean): readonly [length: number, key: Key | string | undefined] | undefined {
  const plain = PLAIN.exec(input)?.[0]
  if (plain !== undefined) return [plain.length, { type: 'text', text: plain }]
  if (!input.startsWith('\u001B')) {
    const letter = String.fromCharCode(input.charCodeAt(0) + 0x60)
    return [1, CONTROLS[input.charAt(0)] ?? `ctrl-${letter}`]
  }
  if (input.startsWith(PASTE_START)) {
    const end = input.indexOf(PASTE_END)
    if (end === -1) return undefined
    const text = input.slice(PASTE_START.length, end).replaceAll(/\r\n?/g, '\n')
    return [end + PASTE_END.length, { type: 'paste', text }]
  }
  const sequence = SEQUENCE.exec(input)
  if (sequence !== null) {
    const [whole, csi, ss3, last = ''] = sequence
    return [whole.length, nameOf((csi ?? ss3 ?? '').split(';'), last)]
  }
  if (UNFINISHED.test(input) && !final && input.length <= LONGEST_SEQUENCE) return undefined
  if (input === '\u001B' || input.startsWith('\u001B\u001B')) return [1, 'escape']
  // The terminal puts an escape character before a key that is pressed with Alt.
  const [length = 1, key] = decodeOne(input.slice(1), final) ?? []
  if (typeof key === 'string') return [1 + length, `alt-${key}`]
  const [character = ''] = input.slice(1)
  return [1 + character.length, `alt-${character}`]
}

function nameOf([first = '', second, third = '']: readonly string[], last: string): string | undefined {
  // Reports of the mouse and answers of the terminal, not keys.
  if (/^[<=>?]/.test(first)) return undefined
  // xterm's form of keys that have none of their own: 27;modifiers;code~.
  const isByCode = last === 'u' || (last === '~' && first === '27')
  const named = last === '~' ? NUMBERS[first] : LETTERS[last]
  const name = isByCode ? codeName(last === 'u' ? first : third) : named
  if (name === undefined) return undefined
  const modifiers = Math.max(0, Number.parseInt(second ?? '1', 10) - 1)
  return `${modifiers & 4 ? 'ctrl-' : ''}${modifiers & 2 ? 'alt-' : ''}${modifiers & 1 ? 'shift-' : ''}${name}`
}

function codeName(code: string): string | undefined {
  const number = Number.parseInt(code, 10)
  return CODES[code] ?? (number > 32 && number < 127 ? String.fromCharCode(number).toLowerCase() : undefined)
}
