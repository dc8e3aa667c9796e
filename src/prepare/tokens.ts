/** Counts and estimates the tokens of texts, messages and requests. */

import { isCreatedId } from '../core/id.ts'
import type { Message } from '../core/message.ts'
import type { ModelRequest, RequestMessage, ResponseFormat, ToolSpec } from '../core/model.ts'
import type { FilePart, ImagePart, Part, ProviderData } from '../core/part.ts'
import { Recent } from '../util/recent.ts'

/** Counts tokens with a real tokenizer. Loading it takes a tenth of a second, so it is loaded when a count matters. */

/** Returns the tokens of a text; special tokens in it count as plain text. */
export type CountTokens = (text: string) => number

/**
 * Length at which uninterrupted runs are cut. Encoding a run takes time quadratic in its length: 200,000 equal letters block the process
 * for half a minute. A cut costs at most one token.
 */
const LONGEST_RUN = 1000

let loading: Promise<CountTokens> | undefined

/** Loads `o200k`, the encoding of OpenAI's current models; others differ by a factor that is derived from their reported usage. */
export function loadTokenCounter(): Promise<CountTokens> {
  loading ??= load()
  return loading
}

async function load(): Promise<CountTokens> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base')
  const asText = { disallowedSpecial: new Set<string>() }
  return (text) => {
    let tokens = 0
    for (const piece of withoutLongRuns(text)) tokens += countTokens(piece, asText)
    return tokens
  }
}

/** Yields the text in pieces, cut only within runs that are too long. */
export function* withoutLongRuns(text: string, longest: number = LONGEST_RUN): Generator<string> {
  let from = 0
  if (text.length > longest) {
    for (const { 0: run, index } of text.matchAll(/\S+|\s+/g)) {
      for (let at = index + longest; at < index + run.length; at += longest) {
        const end = isHalfway(text, at) ? at - 1 : at
        yield text.slice(from, end)
        from = end
      }
    }
  }
  yield text.slice(from)
}

/** Returns `true` between the halves of a surrogate pair. */
function isHalfway(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff
}

/** Tokens that a provider adds to every message: role, separators. */
const PER_MESSAGE = 4
/** Tokens of an image: providers count tiles; most charge this for a large image. */
const PER_IMAGE = 1600
/** Tokens of a PDF page, which is read as text and as an image. */
const PER_PAGE = 2000
/** Assumed bytes per page of a PDF, which is not parsed for the estimate. */
const PAGE_BYTES = 50_000

/** Cached sums of lists of messages. */
const sums = new WeakMap<readonly RequestMessage[], number>()

export function rememberEstimate(messages: readonly RequestMessage[], tokens: number): void {
  sums.set(messages, tokens)
}

/** Estimates messages, tools and schema together. The estimate of a message is cached. */
export function estimateRequestTokens({ messages, tools, responseFormat }: ModelRequest): number {
  const said = sums.get(messages) ?? messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0)
  return said + offeredTokens({ tools, responseFormat })
}

/** Estimates text, thinking and tool calls of a complete or interrupted answer. */
export function estimatePartTokens(parts: readonly Part[]): number {
  return partTokens(parts, estimateTokens)
}

type Said = Pick<RequestMessage, 'content' | 'parts'>

const estimated = new WeakMap<readonly Part[], number>()
const counted = new WeakMap<readonly Part[], number>()

export function estimateMessageTokens(message: Said): number {
  return messageTokens(message, estimateTokens, estimated)
}

export function countMessageTokens(message: Said, count: CountTokens): number {
  return rememberedTokens(message, count)
}

/** Counts the text of messages: the minimum for every provider, without images, signatures and templates. */
export function leastTokens(messages: readonly RequestMessage[], count: CountTokens): number {
  return messages.reduce((sum, message) => sum + textTokens(message, count), 0)
}

const texts = new WeakMap<readonly Part[], number>()

/** Counts the text of a message; cached across steps. */
function textTokens({ content, parts }: Said, count: CountTokens): number {
  let tokens = texts.get(parts)
  if (tokens === undefined) {
    tokens = count(content)
    texts.set(parts, tokens)
  }
  return tokens
}

/** Caches by `parts`, which a message shares with its form in a request. */
function messageTokens({ content, parts }: Said, count: CountTokens, known: WeakMap<readonly Part[], number>): number {
  let tokens = known.get(parts)
  if (tokens === undefined) {
    tokens = PER_MESSAGE + (parts.length === 0 ? count(content) : partTokens(parts, count))
    known.set(parts, tokens)
  }
  return tokens
}

/** Maximum number of remembered counts, about a megabyte. */
const MOST_REMEMBERED = 10_000
/** Counts by message id: the next turn of a session loads its messages as new objects. */
const countedBefore = new Recent<number>(MOST_REMEMBERED)
const names = new WeakMap<readonly Part[], string>()

/** Remembers the count of a message for later turns. The key includes the size, since a shortened message keeps the id of the whole. */
export function rememberCountOf({ id, content, parts }: Pick<Message, 'id' | 'content' | 'parts'>): void {
  // Ids chosen by callers may not be unique.
  if (isCreatedId(id)) names.set(parts, `${id} ${content.length} ${parts.length}`)
}

function rememberedTokens(message: Said, count: CountTokens): number {
  const name = names.get(message.parts)
  if (name === undefined) return messageTokens(message, count, counted)
  const known = countedBefore.get(name)
  if (known !== undefined) return known
  const tokens = messageTokens(message, count, counted)
  countedBefore.set(name, tokens)
  return tokens
}

const offered = new WeakMap<object, number>()

/** Estimates the tokens of tools and schema in each request of a turn. Providers encode them differently. */
export function offeredTokens({ tools, responseFormat }: Offered): number {
  return jsonTokens(tools) + jsonTokens(responseFormat?.schema)
}

interface Offered {
  readonly tools?: readonly ToolSpec[] | undefined
  readonly responseFormat?: ResponseFormat | undefined
}

function jsonTokens(value: object | undefined): number {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return 0
  let tokens = offered.get(value)
  if (tokens === undefined) {
    tokens = estimateTokens(JSON.stringify(value))
    offered.set(value, tokens)
  }
  return tokens
}

function partTokens(parts: readonly Part[], count: CountTokens): number {
  return parts.reduce((sum, part) => sum + tokensOf(part, count), 0)
}

function tokensOf(part: Part, count: CountTokens): number {
  switch (part.type) {
    case 'text':
      return count(part.text) + sealedTokens(part.providerData)
    case 'thinking':
      // Encrypted data repeats the same thinking.
      return Math.max(count(part.text), sealedTokens(part.providerData))
    case 'tool-call':
      return count(part.name) + count(JSON.stringify(part.input)) + sealedTokens(part.providerData)
    case 'tool-result':
      return count(part.content) + (part.attachments ?? []).reduce((sum, each) => sum + attachmentTokens(each), 0)
    case 'opaque':
      // The provider's own count is unknown.
      return estimateTokens(JSON.stringify(part.providerData))
    default:
      return attachmentTokens(part)
  }
}

/** Estimates signatures and encrypted thinking: providers count the content, about one token per five characters. */
function sealedTokens(data: ProviderData | undefined): number {
  return data === undefined ? 0 : Math.ceil(JSON.stringify(data).length / 5)
}

function attachmentTokens(part: ImagePart | FilePart): number {
  if (part.mediaType.startsWith('image/')) return PER_IMAGE
  const bytes = part.data.startsWith('http') ? 0 : part.data.length * 0.75
  if (part.mediaType.startsWith('text/')) return Math.ceil(bytes / 3.5)
  return PER_PAGE * Math.max(1, Math.ceil(bytes / PAGE_BYTES))
}

/**
 * Estimates the tokens of a text, on the high side: one token for three and a half bytes of UTF-8. English prose has about four, Chinese about three
 * bytes a token. Precise enough far from a limit.
 */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text, 'utf8') / 3.5)
}
