/**
 * Turns images and files into parts of a question: `user('What is this?', image('a.png'), file('b.pdf'))`. Detects the media type from the content,
 * not from the name. Rejects formats that no model accepts; the error says what to do instead.
 */

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { basename, extname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ConfigurationError } from '../core/error.ts'
import type { FilePart, ImagePart } from '../core/part.ts'
import { decodeText } from '../stores/load/decode.ts'
import { isPdf } from '../stores/load/is-pdf.ts'
import { bytesIn, IMAGE_TYPES, MAX_IMAGE_BYTES, mediaTypeOf } from '../tools/binary.ts'

/** A path, an address (`https:`, `data:`, `file:`), or the bytes themselves. */
export type AttachmentSource = string | URL | Uint8Array | ArrayBuffer

/** Options of `image()` and `file()`. */
export interface AttachmentOptions {
  /** The file name that the model sees; default the last part of the path or address. Ignored for images. */
  readonly filename?: string
  /** Overrides the detected media type. Required for the address of a file whose name has no known extension. */
  readonly mediaType?: string
  /** Refuses more bytes than this; default 3,750,000 for images and 20,000,000 for other files. */
  readonly maxBytes?: number
}

/** As base64 that is 27 MB, which fits into the largest requests of all providers. */
const MAX_FILE_BYTES = 20_000_000

/** Media types by extension: for web addresses, which are not fetched, and for the kinds of text. */
const BY_EXTENSION: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.pdf': 'application/pdf',
  '.wav': 'audio/wav',
  '.mp3': 'audio/mpeg',
  '.mp4': 'video/mp4',
  '.txt': 'text/plain',
  '.md': 'text/markdown',
  '.csv': 'text/csv',
  '.html': 'text/html',
}

/**
 * Makes an image part for `user()`: PNG, JPEG, GIF or WebP. A path is read synchronously; a server that must not block passes bytes instead. A web
 * address is sent to the provider unchanged; not every provider fetches it.
 *
 * @throws ConfigurationError when the file is missing, too large, or not an image that models accept.
 */
export function image(source: AttachmentSource, options: AttachmentOptions = {}): ImagePart {
  const { mediaType, data } = attachmentOf('image', source, options)
  return { type: 'image', mediaType, data }
}

/**
 * Makes a file part for `user()`: PDF, image, audio, video or text (in any encoding; sent as UTF-8). Paths and addresses: see `image()`.
 *
 * @throws ConfigurationError when the file is missing, empty, too large, or of a format that no model accepts.
 */
export function file(source: AttachmentSource, options: AttachmentOptions = {}): FilePart {
  const { mediaType, data, filename } = attachmentOf('file', source, options)
  return { type: 'file', mediaType, data, ...(filename === undefined ? {} : { filename }) }
}

type Maker = 'image' | 'file'

interface Attachment {
  readonly mediaType: string
  /** Base64, or a web address. */
  readonly data: string
  readonly filename: string | undefined
}

function attachmentOf(maker: Maker, source: AttachmentSource, options: AttachmentOptions): Attachment {
  const limit = options.maxBytes ?? (maker === 'image' ? MAX_IMAGE_BYTES : MAX_FILE_BYTES)
  if (!(limit > 0)) throw new ConfigurationError(`${maker}(): maxBytes must be a number above 0, but is ${String(limit)}.`)
  const given = bytesIn(source)
  if (given !== undefined) return fromBytes(maker, `${maker}(bytes)`, given, { ...options, maxBytes: limit })
  if (typeof source !== 'string' && !(source instanceof URL)) {
    throw new ConfigurationError(
      `${maker}() takes a path, an address or bytes, but got ${source === null ? 'null' : `a value of type ${typeof source}`}.`,
    )
  }
  const address = String(source)
  if (/^https?:/i.test(address)) return fromWeb(maker, address, options)
  if (/^data:/i.test(address))
    return fromBytes(maker, `${maker}(data:…)`, dataIn(maker, address), { ...options, maxBytes: limit })
  if (source instanceof URL && source.protocol !== 'file:')
    throw new ConfigurationError(`${maker}() takes https:, http:, data: and file: addresses, but got one of ${source.protocol}`)
  const path = /^file:/i.test(address) ? pathIn(maker, address) : address
  if (path === '' || path.includes('\0'))
    throw new ConfigurationError(`${maker}(): ${JSON.stringify(path.slice(0, 100))} is not a path.`)
  const name = `${maker}(${JSON.stringify(path)})`
  const bytes = readWhole(name, path, limit)
  return fromBytes(maker, name, bytes, { filename: basename(path), ...options, maxBytes: limit })
}

function fromBytes(maker: Maker, name: string, bytes: Uint8Array, options: AttachmentOptions & { maxBytes: number }): Attachment {
  if (bytes.byteLength === 0) throw new ConfigurationError(`${name} is empty: there is nothing to send.`)
  if (bytes.byteLength > options.maxBytes) throw tooLarge(name, bytes.byteLength, options.maxBytes)
  const { filename } = options
  const known = options.mediaType ?? mediaTypeOf(bytes) ?? (isPdf(bytes, filename) ? 'application/pdf' : undefined)
  const text = known === undefined ? decodeText(bytes)?.text : undefined
  const mediaType = known ?? (text === undefined ? undefined : textType(filename))
  if (mediaType === undefined) {
    throw new ConfigurationError(`${name} holds binary data of an unknown format. ${EXPECTED[maker]} ${CONVERT}`)
  }
  if (options.mediaType === undefined && !isAccepted(maker, mediaType)) {
    throw new ConfigurationError(`${name} is ${mediaType}. ${EXPECTED[maker]} ${adviceFor(maker, mediaType)}`)
  }
  const data = text === undefined ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) : Buffer.from(text)
  return { mediaType, data: data.toString('base64'), filename }
}

/** Makes an attachment of a web address, which the provider fetches. The media type is derived from the extension. */
function fromWeb(maker: Maker, address: string, { mediaType, filename }: AttachmentOptions): Attachment {
  if (!URL.canParse(address)) throw new ConfigurationError(`${maker}(): ${JSON.stringify(address)} is not an address.`)
  const url = new URL(address)
  if (url.username !== '' || url.password !== '') {
    throw new ConfigurationError(
      `${maker}(): the address of ${url.host} holds a user name or password, which the provider and the journal would get. Fetch it and pass the bytes.`,
    )
  }
  const type = mediaType ?? BY_EXTENSION[extname(url.pathname).toLowerCase()] ?? (maker === 'image' ? 'image/*' : undefined)
  if (type === undefined) {
    throw new ConfigurationError(
      `${maker}(): the extension of ${url.host}${url.pathname} does not name its type. Pass it, { mediaType: 'application/pdf' } for example, or fetch it and pass the bytes.`,
    )
  }
  if (mediaType === undefined && maker === 'image' && !type.startsWith('image/')) {
    throw new ConfigurationError(`${maker}(): ${url.host}${url.pathname} is ${type}. ${EXPECTED.image} Use file().`)
  }
  const last = basename(url.pathname)
  return { mediaType: type, data: url.href, filename: filename ?? (last === '' ? undefined : last) }
}

function dataIn(maker: Maker, address: string): Uint8Array {
  const [, base64, payload = ''] = /^data:[^,]{0,200}?(;base64)?,(.*)$/is.exec(address) ?? []
  if (payload === '') throw new ConfigurationError(`${maker}(): the data: address holds no data.`)
  try {
    const text = decodeURIComponent(payload)
    return Buffer.from(text, base64 === undefined ? 'utf8' : 'base64')
  } catch {
    throw new ConfigurationError(`${maker}(): the data: address is not valid percent-encoding.`)
  }
}

function pathIn(maker: Maker, address: string): string {
  try {
    return fileURLToPath(address)
  } catch (thrown) {
    throw new ConfigurationError(`${maker}(): ${JSON.stringify(address)} is not the address of a local file.`, { cause: thrown })
  }
}

/** Reads at most the size that the file has when it is opened. Does not wait for pipes. */
function readWhole(name: string, path: string, limit: number): Uint8Array {
  let handle: number
  try {
    handle = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  } catch (thrown) {
    throw new ConfigurationError(`${name} cannot be read: ${reasonOf(thrown, path)}.`, { cause: thrown })
  }
  try {
    const found = fstatSync(handle)
    if (!found.isFile())
      throw new ConfigurationError(`${name} is ${found.isDirectory() ? 'a folder' : 'not a regular file'}: name a file.`)
    if (found.size > limit) throw tooLarge(name, found.size, limit)
    const bytes = Buffer.allocUnsafe(found.size)
    let at = 0
    for (let read = -1; read !== 0 && at < bytes.length; at += read) read = readSync(handle, bytes, at, bytes.length - at, at)
    return bytes.subarray(0, at)
  } finally {
    closeSync(handle)
  }
}

function reasonOf(thrown: unknown, path: string): string {
  const code = (thrown as NodeJS.ErrnoException).code
  if (code === 'ENOENT') return `there is no file at ${resolve(path)}`
  if (code === 'EACCES' || code === 'EPERM') return 'this process may not read it'
  return code ?? String(thrown)
}

function tooLarge(name: string, size: number, limit: number): ConfigurationError {
  const [has, most] = [size, limit].map((bytes) => bytes.toLocaleString('en-US'))
  return new ConfigurationError(`${name} has ${has} bytes, and at most ${most} are sent. Make it smaller, or raise maxBytes.`)
}

/** Returns `text/plain` unless the extension is that of Markdown, CSV or HTML. */
function textType(filename = ''): string {
  const promised = BY_EXTENSION[extname(filename).toLowerCase()]
  return promised?.startsWith('text/') === true ? promised : 'text/plain'
}

function isAccepted(maker: Maker, mediaType: string): boolean {
  if (IMAGE_TYPES.includes(mediaType)) return true
  return maker === 'file' && (mediaType === 'application/pdf' || /^(?:audio|video|text)\//.test(mediaType))
}

const EXPECTED: Readonly<Record<Maker, string>> = {
  image: 'Expected a PNG, JPEG, GIF or WebP image.',
  file: 'Expected a PDF, an image (PNG, JPEG, GIF, WebP), audio, video or text.',
}
const CONVERT = 'Convert it first.'

function adviceFor(maker: Maker, mediaType: string): string {
  if (mediaType.startsWith('image/')) return 'Convert it to PNG or JPEG first.'
  if (maker === 'image') return 'Use file().'
  if (mediaType === 'application/zip') return 'Unpack it; the text of a Word document is read by loadDocuments().'
  return CONVERT
}
