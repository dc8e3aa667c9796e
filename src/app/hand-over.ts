/** Reads files, addresses and pipes that a user hands over: text goes to the model as fenced data, images and PDFs as parts of the question. */

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
  /** The path or address as it was given, or `standard input`. */
  readonly name: string
  /** The kind that the model is told: `file`, `page` or `standard input`. */
  readonly title: string
  readonly mediaType: string
  /** As it is sent. */
  readonly bytes: number
  /** Absent for what is not text. */
  readonly text?: string
  /** Absent for text. */
  readonly part?: ImagePart | FilePart
}

/** Of a page or file that is fetched. */
const MAX_BYTES = 20_000_000
const FETCH_MS = 30_000

/**
 * Reads a file, or fetches an address, whose server the user has named: it may be a local one, what it redirects to may not.
 *
 * @throws ConfigurationError when there is no such file, or no model takes what it holds; CriaError when an address cannot be fetched.
 */
export async function handOver(where: string, { cwd, signal }: { cwd: string; signal: AbortSignal }): Promise<HandedOver> {
  if (/^https?:\/\//i.test(where)) return fetched(where, signal)
  const path = resolve(cwd, where)
  // Such as <(command) of a shell.
  if (statSync(path, { throwIfNoEntry: false })?.isFIFO() === true)
    return handOverBytes(await pipeIn(path, signal), where, 'file')
  return named(where, () => madeOf(where, 'file', file(path, { filename: basename(path) }), () => image(path)))
}

/** @throws ConfigurationError when there is more than 20 MB. */
async function pipeIn(path: string, signal: AbortSignal): Promise<Uint8Array> {
  const pieces: Buffer[] = []
  let length = 0
  // Otherwise nothing could end the wait for a program that writes.
  const source = new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), readable: true, signal })
  for await (const piece of source as AsyncIterable<Buffer>) {
    pieces.push(piece)
    if ((length += piece.length) > MAX_BYTES) throw new ConfigurationError(`${path} has more than ${MAX_BYTES / 1e6} MB.`)
  }
  return Buffer.concat(pieces)
}

/** The same for bytes that are there already. */
export function handOverBytes(bytes: Uint8Array, name: string, title: string = name): HandedOver {
  return named(name, () => madeOf(name, title, file(bytes, { filename: basename(name) }), () => image(bytes)))
}

function madeOf(name: string, title: string, part: FilePart, asImage: () => ImagePart): HandedOver {
  const { mediaType, data } = part
  const about = { name, title, mediaType, bytes: Buffer.byteLength(data, 'base64') }
  if (mediaType.startsWith('text/')) return { ...about, text: Buffer.from(data, 'base64').toString() }
  return { ...about, part: mediaType.startsWith('image/') ? asImage() : part }
}

/** Names what was given, not the function that reads it. */
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
  // With its port: what it redirects to may not reach other programs of its machine.
  const allowedHosts = [`${start.hostname}:${start.port || (start.protocol === 'https:' ? 443 : 80)}`]
  const limit = AbortSignal.any([signal, AbortSignal.timeout(FETCH_MS)])
  const get = (url: URL): Promise<Got> => httpGet(url, { signal: limit, maxBytes: MAX_BYTES, allowedHosts })
  const { url, status, headers, body } = await followRedirects(start, get, addressOf)
  if (status >= 400) throw new CriaError('network', `${url.href} answered with status ${status}.`)
  const handed = handOverBytes(body, url.href, 'page')
  if (!/\bhtml\b/.test(headers['content-type'] ?? '')) return handed
  const { readHtml } = await import('./builtin-tools.ts')
  const text = await readHtml(body)
  return { ...handed, mediaType: 'text/html', bytes: Buffer.byteLength(text), text }
}

/** @param base what `text` is relative to, for a redirect. @throws ConfigurationError for what is not fetched. */
function addressOf(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href)
  if (url === null) throw new ConfigurationError(`${JSON.stringify(text.slice(0, 200))} is not an address.`)
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new ConfigurationError(`${url.origin} cannot be fetched: expected an http or https address without a password.`)
  return url
}

/** The question with what was handed over: the data first, since the question stays last. */
export function withHandedOver(question: string | FilledPrompt, handed: readonly HandedOver[]): readonly Message[] {
  const data = handed.flatMap(({ text, title, name: source }) =>
    text === undefined ? [] : [handedOver(text, { title, source })],
  )
  return [...data, user(question, ...handed.flatMap(({ part }) => part ?? []))]
}

/** @throws ConfigurationError that names what the model cannot read, before it is asked. */
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

/** The texts as documents, for a model that only quotes documents. */
export async function storeOf(handed: readonly HandedOver[]): Promise<DocumentStore | undefined> {
  const texts = handed.flatMap(({ text, name: source }) => (text === undefined ? [] : [{ source, text }]))
  if (texts.length === 0) return undefined
  const { MemoryDocumentStore } = await import('../stores/memory.ts')
  const store = new MemoryDocumentStore({ name: 'handed over' })
  await store.extend(texts)
  return store
}
