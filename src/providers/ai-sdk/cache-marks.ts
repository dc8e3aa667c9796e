/**
 * Anthropic keeps in its cache only what it is asked to keep: everything before a mark. A mark pays where the next request begins in the same
 * way, and is found again where it stood before, so the places follow from the conversation alone: behind tools and instructions, behind the
 * results of tools, and behind the answers of earlier turns. What is looked up anew in each turn stands behind all of these.
 * https://docs.claude.com/en/docs/build-with-claude/prompt-caching
 */

import type { LanguageModelV4CallOptions, LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { Json } from '../../core/json.ts'
import type { ModelRequest } from '../../core/model.ts'
import { asObject } from '../wire/dialect.ts'

interface Cacheable {
  readonly prompt: LanguageModelV4Prompt
  readonly tools: LanguageModelV4CallOptions['tools'] | undefined
}

/** Four marks are taken; the first is for tools and instructions. An older one costs nothing and finds what a step before has written. */
const MARKS_IN_CONVERSATION = 3

const MARK = { anthropic: { cacheControl: { type: 'ephemeral' } } } as const

/** What the caller says about it himself: `false` for no cache, an object for his own way, with which ours would only interfere. */
export function givenCacheControl({ providerOptions }: Pick<ModelRequest, 'providerOptions'>): Json | undefined {
  return asObject(providerOptions?.['anthropic'])?.['cacheControl']
}

export function withCacheMarks({ prompt, tools }: Cacheable): Cacheable {
  if (prompt.some(isMarked)) return { prompt, tools }
  const firstOther = prompt.findIndex(({ role }) => role !== 'system')
  const instructions = (firstOther < 0 ? prompt.length : firstOther) - 1
  const places = new Set([instructions, ...placesIn(prompt)])
  return {
    prompt: prompt.map((message, index) => (places.has(index) ? { ...message, providerOptions: MARK } : message)),
    tools: instructions >= 0 ? tools : tools?.map((tool, index) => (index === tools.length - 1 ? marked(tool) : tool)),
  }
}

function placesIn(prompt: LanguageModelV4Prompt): number[] {
  const places: number[] = []
  for (let at = prompt.length - 1; at >= 0 && places.length < MARKS_IN_CONVERSATION; at--) {
    if (standsStill(prompt[at], prompt[at + 1])) places.push(at)
  }
  return places
}

function standsStill(message: LanguageModelV4Message | undefined, next: LanguageModelV4Message | undefined): boolean {
  if (message?.role === 'tool') return true
  return message?.role === 'assistant' && message.content.at(-1)?.type === 'text' && next?.role === 'user'
}

function marked<Tool extends NonNullable<LanguageModelV4CallOptions['tools']>[number]>(tool: Tool): Tool {
  return { ...tool, providerOptions: MARK }
}

/** The caller has put marks on parts of messages. */
function isMarked({ content }: LanguageModelV4Message): boolean {
  return (
    typeof content !== 'string' &&
    content.some((part) => 'providerOptions' in part && part.providerOptions?.['anthropic']?.['cacheControl'] !== undefined)
  )
}
