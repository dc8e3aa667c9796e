/** Reads files, addresses and pipes that a user attaches to a question: text becomes fenced data, images and PDFs become parts of the question. */

import { constants, openSync, statSync } from 'node:fs'
import { Socket } from 'node:net'
import { basename, resolve } from 'node:path'
import { ConfigurationError, CriaError } from '../core/error.ts'
import { handedOver, user } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import type { LanguageModel } from '../core/model.ts'
import type { FilePart, ImagePart } from '../core/part.ts'
import type { FilledPrompt } from '../core/prompt.ts'
import type { DocumentStore } from '../core/store.ts'
import type { Got } from '../tools/builtin/http-get.ts'
import { file, image } from './attachments.ts'

export interface HandedOver {
  /** The path or address as given, or `standard input`. */
  readonly name: string
  /** The kind shown to the model: `file`, `page` or `standard input`. */
  readonly title: string
  readonly mediaType: string
  /** Size as it is sent. */
  readonly bytes: number
  /** Absent for what is not text. */
  readonly text?: string
  /** Absent for text. */
  readonly part?: ImagePart | FilePart
}

/** Maximum size of a fetched page or file. */
const MAX_BYTES = 20_000_000
const FETCH_MS = 30_000

/**
 * Reads a file, or fetches an address. The server is named by the user, so it may be local; the target of a redirect may not.
 *
 * @throws ConfigurationError when the file does not exist, or no model accepts its format; CriaError when an address cannot be fetched.
 */
export async function handOver(where: string, { cwd, signal }: { cwd: string; signal: AbortSignal }): Promise<HandedOver> {
  if (/^https?:\/\//i.test(where)) return fetched(where, signal)
  const path = resolve(cwd, where)
  // A pipe such as <(command) of a shell.
  if (statSync(path, { throwIfNoEntry: false })?.isFIFO() === true)
    return handOverBytes(await pipeIn(path, signal), where, 'file')
  return named(where, () => madeOf(where, 'file', file(path, { filename: basename(path) }), () => image(path)))
}

/** Reads a pipe to its end. @throws ConfigurationError for more than 20 MB. */
async function pipeIn(path: string, signal: AbortSignal): Promise<Uint8Array> {
  const pieces: Buffer[] = []
  let length = 0
  // A blocking read could not be aborted while the writing program is silent.
  const source = new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), readable: true, signal })
  for await (const piece of source as AsyncIterable<Buffer>) {
    pieces.push(piece)
    if ((length += piece.length) > MAX_BYTES) throw new ConfigurationError(`${path} has more than ${MAX_BYTES / 1e6} MB.`)
  }
  return Buffer.concat(pieces)
}

/** As `handOver`, for bytes that have been read already. */
export function handOverBytes(bytes: Uint8Array, name: string, title: string = name): HandedOver {
  return named(name, () => madeOf(name, title, file(bytes, { filename: basename(name) }), () => image(bytes)))
}

function madeOf(name: string, title: string, part: FilePart, asImage: () => ImagePart): HandedOver {
  const { mediaType, data } = part
  const about = { name, title, mediaType, bytes: Buffer.byteLength(data, 'base64') }
  if (mediaType.startsWith('text/')) return { ...about, text: Buffer.from(data, 'base64').toString() }
  return { ...about, part: mediaType.startsWith('image/') ? asImage() : part }
}

/** Replaces the name of the reading function in an error by that of the input. */
function named<T>(name: string, read: () => T): T {
  try {
    return read()
  } catch (thrown) {
    if (!(thrown instanceof ConfigurationError)) throw thrown
    const what = thrown.message.replace(/^(?:file|image)\((?:bytes|"(?:[^"\\]|\\.)*")\)/, () => name)
    throw new ConfigurationError(what.replace(', or raise maxBytes', ''), { cause: thrown })
  }
}

async function fetched(address: string, signal: AbortSignal): Promise<HandedOver> {
  const start = addressOf(address)
  const { followRedirects, httpGet } = await import('../tools/builtin/http-get.ts')
  // Includes the port: a redirect must not reach other programs of the same machine.
  const allowedHosts = [`${start.hostname}:${start.port || (start.protocol === 'https:' ? 443 : 80)}`]
  const limit = AbortSignal.any([signal, AbortSignal.timeout(FETCH_MS)])
  const get = (url: URL): Promise<Got> => httpGet(url, { signal: limit, maxBytes: MAX_BYTES, allowedHosts })
  const { url, status, headers, body } = await followRedirects(start, get, addressOf)
  if (status >= 400) throw new CriaError('network', `${url.href} answered with status ${status}.`)
  const handed = handOverBytes(body, url.href, 'page')
  if (!/\bhtml\b/.test(headers['content-type'] ?? '')) return handed
  const { readHtml } = await import('./agent-tools.ts')
  const text = await readHtml(body)
  return { ...handed, mediaType: 'text/html', bytes: Buffer.byteLength(text), text }
}

/** @param base of a relative address in a redirect. @throws ConfigurationError for an address that is not fetched. */
function addressOf(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href)
  if (url === null) throw new ConfigurationError(`${JSON.stringify(text.slice(0, 200))} is not an address.`)
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new ConfigurationError(`${url.origin} cannot be fetched: expected an http or https address without a password.`)
  return url
}

/** Composes the question and the attached data: the data first, the question last. */
export function withHandedOver(question: string | FilledPrompt, handed: readonly HandedOver[]): readonly Message[] {
  const data = handed.flatMap(({ text, title, name: source }) =>
    text === undefined ? [] : [handedOver(text, { title, source })],
  )
  return [...data, user(question, ...handed.flatMap(({ part }) => part ?? []))]
}

/** @throws ConfigurationError that names the parts that the model cannot read, before any request. */
export function checkReadable(handed: readonly HandedOver[], { ref, facts }: Pick<LanguageModel, 'ref' | 'facts'>): void {
  const unread = handed.find(
    ({ part, mediaType }) =>
      part !== undefined && (facts.writes === false || (mediaType.startsWith('image/') && facts.images === false)),
  )
  if (unread === undefined) return
  const kind = unread.mediaType.startsWith('image/') ? 'images' : unread.mediaType
  throw new ConfigurationError(`${ref} cannot read ${kind}, and ${unread.name} is ${unread.mediaType}.`, {
    hint: 'Name a model that can with -m, such as -m openai/gpt-5-mini.',
  })
}

/** Puts the texts into a store, for a model that only quotes documents. */
export async function storeOf(handed: readonly HandedOver[]): Promise<DocumentStore | undefined> {
  const texts = handed.flatMap(({ text, name: source }) => (text === undefined ? [] : [{ source, text }]))
  if (texts.length === 0) return undefined
  const { MemoryDocumentStore } = await import('../stores/lazy.ts')
  const store = new MemoryDocumentStore({ name: 'handed over' })
  await store.extend(texts)
  return store
}
