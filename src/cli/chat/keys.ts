/** Reads the bytes of a terminal as keys. Pure: what is not whole yet is given back. */

export type Key =
  | { readonly type: 'text'; readonly text: string }
  /** What was pasted, with line feeds. */
  | { readonly type: 'paste'; readonly text: string }
  /** `enter`, `up`, `ctrl-c`, `alt-enter`, `ctrl-left`. */
  | { readonly type: 'key'; readonly name: string }

export interface Decoded {
  readonly keys: readonly Key[]
  /** The beginning of something; put it before the next piece. */
  readonly rest: string
}

export const PASTE_START: string = '\u001B[200~'
export const PASTE_END: string = '\u001B[201~'
/** Longer than any sequence that a terminal sends; what goes on after that is no sequence. */
const LONGEST_SEQUENCE = 32

/* eslint-disable no-control-regex */
const CSI = /^\u001B\[([\d;:<=>?]*)[ -/]*([@-~])/
const UNFINISHED_CSI = /^\u001B\[[\d;:<=>?]*[ -/]*$/
const SS3 = /^\u001BO([\d;]*)([@-~])/
const UNFINISHED_SS3 = /^\u001BO[\d;]*$/
const PLAIN = /^[^\u0000-\u001F\u007F]+/
/* eslint-enable no-control-regex */

const LETTERS: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  F: 'end',
  H: 'home',
  M: 'enter',
  Z: 'backtab',
}
const NUMBERS: Readonly<Record<string, string>> = {
  '1': 'home',
  '3': 'delete',
  '4': 'end',
  '5': 'pageup',
  '6': 'pagedown',
  '7': 'home',
  '8': 'end',
}
const CODES: Readonly<Record<string, string>> = { '9': 'tab', '13': 'enter', '27': 'escape', '127': 'backspace' }
const CONTROLS: Readonly<Record<string, string>> = {
  '\r': 'enter',
  '\n': 'ctrl-j',
  '\t': 'tab',
  '\b': 'backspace',
  '\u007F': 'backspace',
}

/**
 * @param final Nothing follows for now: an escape character that stands alone is the key of that name.
 */
export function decodeKeys(input: string, final = false): Decoded {
  const keys: Key[] = []
  let rest = input
  while (rest !== '') {
    const next = decodeOne(rest, final)
    if (next === undefined) return { keys, rest }
    if (next.key !== undefined) keys.push(next.key)
    rest = rest.slice(next.length)
  }
  return { keys, rest: '' }
}

interface One {
  /** Absent for what means nothing to us. */
  readonly key?: Key
  readonly length: number
}

function decodeOne(input: string, final: boolean): One | undefined {
  const plain = PLAIN.exec(input)?.[0]
  if (plain !== undefined) return { key: { type: 'text', text: plain }, length: plain.length }
  if (!input.startsWith('\u001B')) {
    const [control = ''] = input
    return { key: named(CONTROLS[control] ?? `ctrl-${letterOf(control)}`), length: 1 }
  }
  if (input.startsWith(PASTE_START)) {
    const end = input.indexOf(PASTE_END)
    if (end === -1) return undefined
    const text = input.slice(PASTE_START.length, end).replaceAll(/\r\n?/g, '\n')
    return { key: { type: 'paste', text }, length: end + PASTE_END.length }
  }
  const csi = CSI.exec(input) ?? SS3.exec(input)
  if (csi !== null) {
    const [sequence, parameters = '', last = ''] = csi
    const name = nameOf(parameters.split(';'), last)
    return name === undefined ? { length: sequence.length } : { key: named(name), length: sequence.length }
  }
  const isOpen = input === '\u001B' || UNFINISHED_CSI.test(input) || UNFINISHED_SS3.test(input)
  if (isOpen && !final && input.length <= LONGEST_SEQUENCE) return undefined
  if (input === '\u001B' || input.startsWith('\u001B\u001B')) return { key: named('escape'), length: 1 }
  // The terminal puts an escape character before a key that is pressed with Alt.
  const following = decodeOne(input.slice(1), final)
  const key = following?.key
  if (key?.type === 'key') return { key: named(`alt-${key.name}`), length: 1 + (following?.length ?? 0) }
  const [character = ''] = input.slice(1)
  return { key: named(`alt-${character}`), length: 1 + character.length }
}

function nameOf(parameters: readonly string[], last: string): string | undefined {
  const [first = '', second] = parameters
  // Reports of the mouse and answers of the terminal, not keys.
  if (/^[<=>?]/.test(first)) return undefined
  // xterm's form of keys that have none of their own: 27;modifiers;code~.
  if (last === '~' && first === '27') return withModifiers(parameters[1], codeName(parameters[2] ?? ''))
  if (last === 'u') return withModifiers(second, codeName(first))
  return withModifiers(second, last === '~' ? NUMBERS[first] : LETTERS[last])
}

function codeName(code: string): string | undefined {
  const number = Number.parseInt(code, 10)
  return CODES[code] ?? (number > 32 && number < 127 ? String.fromCharCode(number).toLowerCase() : undefined)
}

function withModifiers(modifiers: string | undefined, name: string | undefined): string | undefined {
  if (name === undefined) return undefined
  const bits = Math.max(0, Number.parseInt(modifiers ?? '1', 10) - 1)
  return `${bits & 4 ? 'ctrl-' : ''}${bits & 2 ? 'alt-' : ''}${bits & 1 ? 'shift-' : ''}${name}`
}

function letterOf(control: string): string {
  return String.fromCharCode(control.charCodeAt(0) + 0x60)
}

function named(name: string): Key {
  return { type: 'key', name }
}
