/** Counts and estimates the tokens of texts, messages and requests. The tokenizer takes a tenth of a second to load, so it is loaded when a count matters. */

import { isCreatedId } from '../core/id.ts'
import type { Message } from '../core/message.ts'
import type { ModelRequest, RequestMessage, ResponseFormat, ToolSpec } from '../core/model.ts'
import type { FilePart, ImagePart, Part, ProviderData } from '../core/part.ts'
import { Recent } from '../util/recent.ts'

/** Counts tokens with a real tokenizer. Loading it takes a tenth of a second, so it is loaded when a count matters. */

/** Tokens of a text, special tokens in it counted as the text that they are. */
export type CountTokens = (text: string) => number

/**
 * Encoding a run that nothing interrupts takes time that grows with the square of its length: 200,000 times the same letter freeze the process
 * for half a minute. Runs are cut at so many characters, which costs at most a token a cut.
 */
const LONGEST_RUN = 1000

let loading: Promise<CountTokens> | undefined

/** `o200k`, the encoding of OpenAI's present models; what others count differs by a factor that their usage tells. */
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

/** The text, cut inside of runs that are too long, and nowhere else. */
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

/** Between the two halves of one character. */
function isHalfway(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff
}

/** Tokens that a provider adds to every message: role, separators. */
const PER_MESSAGE = 4
/** Providers count images by tiles of their own; this is what most take for a large one. */
const PER_IMAGE = 1600
/** A page of a PDF is read as text and as a picture. */
const PER_PAGE = 2000
/** Bytes of a PDF that stand for a page, where nobody has opened it. */
const PAGE_BYTES = 50_000

/** Of whole lists of messages, which a conversation adds up as it grows. */
const sums = new WeakMap<readonly RequestMessage[], number>()

export function rememberEstimate(messages: readonly RequestMessage[], tokens: number): void {
  sums.set(messages, tokens)
}

/** Messages, tools and schema together, by `estimateTokens`. A message is looked at once, however often it is sent. */
export function estimateRequestTokens({ messages, tools, responseFormat }: ModelRequest): number {
  const said = sums.get(messages) ?? messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0)
  return said + offeredTokens({ tools, responseFormat })
}

/** Text, thinking and tool calls of an answer, whole or broken off. */
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

/** Of the text of messages: what every provider counts, whatever it makes of images, signatures and its own template. */
export function leastTokens(messages: readonly RequestMessage[], count: CountTokens): number {
  return messages.reduce((sum, message) => sum + textTokens(message, count), 0)
}

const texts = new WeakMap<readonly Part[], number>()

/** Counted once for a message, however many steps send it. */
function textTokens({ content, parts }: Said, count: CountTokens): number {
  let tokens = texts.get(parts)
  if (tokens === undefined) {
    tokens = count(content)
    texts.set(parts, tokens)
  }
  return tokens
}

/** Kept by the parts: they are what a message and its form in a request have in common. */
function messageTokens({ content, parts }: Said, count: CountTokens, known: WeakMap<readonly Part[], number>): number {
  let tokens = known.get(parts)
  if (tokens === undefined) {
    tokens = PER_MESSAGE + (parts.length === 0 ? count(content) : partTokens(parts, count))
    known.set(parts, tokens)
  }
  return tokens
}

/** About a megabyte. */
const MOST_REMEMBERED = 10_000
/** The next turn of a session reads its messages anew, as other objects: what was counted is known by their names. */
const countedBefore = new Recent<number>(MOST_REMEMBERED)
const names = new WeakMap<readonly Part[], string>()

/** Remembers the count of this message for later turns. A message that is sent shorter than it was said has the id of the whole one. */
export function rememberCountOf({ id, content, parts }: Pick<Message, 'id' | 'content' | 'parts'>): void {
  // Ids of a caller's own may name something else elsewhere.
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

/** Tools and schema, which stand beside the messages of each request of a turn. Providers write them down in ways of their own. */
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
      // Sealed data is the same thinking once more.
      return Math.max(count(part.text), sealedTokens(part.providerData))
    case 'tool-call':
      return count(part.name) + count(JSON.stringify(part.input)) + sealedTokens(part.providerData)
    case 'tool-result':
      return count(part.content) + (part.attachments ?? []).reduce((sum, each) => sum + attachmentTokens(each), 0)
    case 'opaque':
      // Nobody outside of the provider knows what it makes of it.
      return estimateTokens(JSON.stringify(part.providerData))
    default:
      return attachmentTokens(part)
  }
}

/** Signatures and encrypted thinking: providers count what is inside, which is about a token for five characters. */
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
 * bytes a token. Good enough to tell what is far from a limit.
 */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text, 'utf8') / 3.5)
}
