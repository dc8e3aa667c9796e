/** Converts the result of a server into the result of a tool. */

import type { ImagePart } from '../../core/part.ts'
import type { Json } from '../../core/json.ts'
import type { ToolOutput } from '../../core/tool.ts'
import { canonicalJson } from '../../util/hash.ts'
import { describeBytes, imageFrom } from '../binary.ts'
import { cleanText } from './schema.ts'

/** Maximum number of content blocks that are read of a response. */
const MAX_BLOCKS = 1000

interface Read {
  readonly texts: string[]
  readonly images: ImagePart[]
}

/** @returns `undefined` when the value is not the result of a call. */
export function readResult(given: unknown): ToolOutput {
  if (typeof given !== 'object' || given === null) return undefined
  const { content, structuredContent, isError } = given as Record<string, unknown>
  if (content === undefined && structuredContent === undefined) return undefined
  const blocks: readonly unknown[] = Array.isArray(content) ? content : []
  const read: Read = { texts: [], images: [] }
  for (const block of blocks.slice(0, MAX_BLOCKS)) {
    readBlock((typeof block === 'object' && block !== null ? block : {}) as Record<string, unknown>, read)
  }
  if (blocks.length > MAX_BLOCKS) read.texts.push(`(${blocks.length - MAX_BLOCKS} more parts are left out)`)
  if (typeof structuredContent === 'object' && structuredContent !== null && !read.texts.some(says(structuredContent))) {
    read.texts.push(JSON.stringify(structuredContent, undefined, 2))
  }
  return { content: read.texts.join('\n'), isError: isError === true, attachments: read.images }
}

function readBlock(block: Record<string, unknown>, read: Read): void {
  const { type, text, data, mimeType, resource, uri, name, description } = block
  if (type === 'text' && typeof text === 'string') read.texts.push(text)
  else if (type === 'image' && typeof data === 'string') readBytes('an image', data, read)
  else if (type === 'audio' && typeof data === 'string')
    read.texts.push(`(not shown: ${oneLine(mimeType, 'audio')}, ${sizeOf(data)})`)
  else if (type === 'resource' && typeof resource === 'object' && resource !== null) {
    readResource(resource as Record<string, unknown>, read)
  } else if (type === 'resource_link') {
    const about = [name, mimeType, description].flatMap((each) => (typeof each === 'string' ? [oneLine(each)] : []))
    read.texts.push(`(a resource: ${[oneLine(uri, 'without an address'), ...about].join(', ')})`)
  } else read.texts.push(`(not shown: a part of the kind ${JSON.stringify(oneLine(type, 'unknown'))})`)
}

function readResource({ uri, text, blob }: Record<string, unknown>, read: Read): void {
  const what = oneLine(uri, 'a resource')
  if (typeof text === 'string') read.texts.push(`${what}:\n${text}`)
  else if (typeof blob === 'string') readBytes(what, blob, read)
  else read.texts.push(`(${what}, which is empty)`)
}

/** Reads embedded bytes. Detects images by their signature, not by the media type that the server claims. */
function readBytes(what: string, base64: string, { texts, images }: Read): void {
  const bytes = Buffer.from(base64, 'base64')
  const image = imageFrom(bytes)
  if (image !== undefined) images.push(image)
  texts.push(`(${image === undefined ? 'not shown' : 'attached'}: ${what}, ${describeBytes(bytes)})`)
}

/** Returns a test for text that repeats the structured content, as servers should provide it. */
function says(structured: object): (text: string) => boolean {
  let expected: string | undefined
  return (text) => {
    if (!/^\s*[{[]/.test(text)) return false
    try {
      return canonicalJson(JSON.parse(text) as Json) === (expected ??= canonicalJson(structured))
    } catch {
      return false
    }
  }
}

function oneLine(value: unknown, instead = ''): string {
  return typeof value === 'string' && value !== '' ? cleanText(value, 300).replaceAll(/\s+/g, ' ') : instead
}

function sizeOf(base64: string): string {
  return `${Math.floor((base64.length * 3) / 4).toLocaleString('en-US')} bytes`
}
