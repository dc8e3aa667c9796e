/** Converts the return value of a tool into bounded, non-empty text and attachments for the model. */

import { problemIn } from '../core/part.ts'
import type { FilePart, ImagePart } from '../core/part.ts'
import type { SandboxKind } from '../core/tool.ts'
import { bytesIn, describeBytes, imageFrom, looksBinary } from './binary.ts'

export type Attachment = ImagePart | FilePart

export interface ModelResult {
  readonly content: string
  readonly isError: boolean
  readonly attachments: readonly Attachment[]
  readonly sandbox?: SandboxKind
}

const MAX_ATTACHMENTS = 10
/** Base64 characters of all attachments of a result. */
const MAX_ATTACHED_CHARS = 20_000_000

const NOTHING = '(no output)'

/** Converts any return value of a tool, also values that its type forbids. `limit`: maximum number of characters. */
export function toModelResult(output: unknown, limit: number): ModelResult {
  const bytes = bytesIn(output)
  if (bytes !== undefined) return bytesResult(bytes, limit)
  if (output instanceof Error) return plain(messageOf(output), limit, true)
  if (typeof output === 'function' || typeof output === 'symbol') {
    return plain(`The tool returned a ${typeof output}, which cannot be shown.`, limit, true)
  }
  if (isContent(output)) {
    const { kept, note } = attachmentsIn(output.attachments)
    const { sandbox } = output as { readonly sandbox?: unknown }
    const confined = isSandboxKind(sandbox) ? { sandbox } : {}
    return { ...plain(output.content + note, limit, output.isError === true), attachments: kept, ...confined }
  }
  const text = textOf(output)
  const unshown = text === '{}' ? classOf(output) : undefined
  return unshown === undefined ? plain(text, limit) : plain(`The tool returned ${unshown}, which cannot be shown.`, limit, true)
}

function isSandboxKind(value: unknown): value is SandboxKind {
  return value === 'bubblewrap' || value === 'seatbelt' || value === 'none'
}

/** Returns the class name of an opaque object, such as a `Response` or a stream; `undefined` for a plain object. */
function classOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || value instanceof Map) return undefined
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null || prototype === Object.prototype) return undefined
  try {
    // `constructor` and `name` may be missing, or have any type.
    const name: unknown = (value.constructor as { readonly name?: unknown } | null | undefined)?.name
    return typeof name === 'string' && name !== '' ? `a ${name}` : 'an object'
  } catch {
    return 'an object'
  }
}

function plain(text: string, limit: number, isError = false): ModelResult {
  return { content: bounded(text, limit), isError, attachments: [] }
}

function bytesResult(bytes: Uint8Array, limit: number): ModelResult {
  const image = imageFrom(bytes)
  if (image !== undefined) {
    return { content: `(attached: ${describeBytes(bytes)})`, isError: false, attachments: [image] }
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (!looksBinary(text)) return plain(text, limit)
  } catch {
    // Not valid UTF-8, so not text.
  }
  return plain(`(not shown: ${describeBytes(bytes)})`, limit)
}

/** Returns text for the model: never empty, at most `limit` characters long, without half a surrogate pair. */
export function bounded(text: string, limit: number): string {
  if (looksBinary(text)) return `(not shown: binary output of ${count(text.length)} characters)`
  const whole = text.toWellFormed()
  if (whole.trim() === '') return NOTHING
  return shortened(whole, limit)
}

/** Keeps head and tail of a long text, with a note of the omitted length between them. */
export function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text
  const note = (missing: number): string =>
    `\n[… ${count(missing)} of ${count(text.length)} characters left out: ask for a smaller part to see them …]\n`
  const room = Math.max(limit - note(text.length).length, Math.min(limit, 40))
  const head = text.slice(0, Math.ceil(room / 2))
  const tail = text.slice(text.length - Math.floor(room / 2))
  // Omits a surrogate pair that is cut in half.
  const [start, end] = [head.replace(/[\uD800-\uDBFF]$/, ''), tail.replace(/^[\uDC00-\uDFFF]/, '')]
  return start + note(text.length - start.length - end.length) + end
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}

/** Returns any value as text. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  if (typeof value === 'function') return '(a function)'
  if (typeof value !== 'object') return (value as bigint | boolean | number | symbol).toString()
  try {
    return JSON.stringify(value, safely()) ?? ''
  } catch (thrown) {
    return `(the output cannot be shown as JSON: ${messageOf(thrown)})`
  }
}

/** Returns a replacer for `JSON.stringify` that writes non-JSON values as text and cuts circular references. */
function safely(): (this: unknown, key: string, value: unknown) => unknown {
  // The objects around the present value, outermost first, before and after replacement.
  const path: { readonly original: unknown; readonly written: unknown }[] = []
  return function replace(this: unknown, key: string, value: unknown): unknown {
    const original = (this as Record<string, unknown>)[key]
    const written = asJson(original, value)
    if (typeof written !== 'object' || written === null) return written
    while (path.length > 0 && path.at(-1)?.written !== this) path.pop()
    if (path.some((outer) => outer.original === original)) return '(circular)'
    path.push({ original, written })
    return written
  }
}

function asJson(original: unknown, value: unknown): unknown {
  const bytes = bytesIn(original)
  if (bytes !== undefined) return `(${describeBytes(bytes)})`
  if (original instanceof Error) return `${original.name}: ${messageOf(original)}`
  if (original instanceof Map) return Object.fromEntries(original)
  if (original instanceof Set) return [...original]
  if (typeof value === 'function') return '(a function)'
  return typeof value === 'bigint' || typeof value === 'symbol' ? String(value) : value
}

/** Returns the message of any thrown value; does not throw. */
export function messageOf(thrown: unknown): string {
  try {
    if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) {
      const { message, name } = thrown as { message: unknown; name?: unknown }
      if (typeof message === 'string' && message !== '') return message
      if (typeof name === 'string' && name !== '') return name
    }
    return textOf(thrown) || String(thrown)
  } catch {
    return 'something that cannot be shown was thrown'
  }
}

function isContent(output: unknown): output is { content: string; isError?: unknown; attachments?: unknown } {
  return typeof output === 'object' && output !== null && typeof (output as { content?: unknown }).content === 'string'
}

function attachmentsIn(given: unknown): { readonly kept: readonly Attachment[]; readonly note: string } {
  const all: readonly unknown[] = Array.isArray(given) ? given : []
  const kept: Attachment[] = []
  let room = MAX_ATTACHED_CHARS
  for (const each of all) {
    const attachment = attachmentOf(each)
    if (attachment === undefined || kept.length >= MAX_ATTACHMENTS || attachment.data.length > room) continue
    room -= attachment.data.length
    kept.push(attachment)
  }
  const missing = all.length - kept.length
  return {
    kept,
    note: missing === 0 ? '' : `\n(${missing} of ${all.length} attachments left out: too many, too large, or no attachments)`,
  }
}

/** Returns a copy with the known members only; `undefined` for a value that is not an attachment. */
function attachmentOf(value: unknown): Attachment | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { type, mediaType, data, filename } = value as FilePart
  const attachment = { type, mediaType, data, ...(filename === undefined ? {} : { filename }) }
  return isAttachment(attachment) ? attachment : undefined
}

function isAttachment(part: { readonly type: string }): part is Attachment {
  return (part.type === 'image' || part.type === 'file') && problemIn(part) === undefined
}
