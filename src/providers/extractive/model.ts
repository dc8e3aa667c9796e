/** The built-in language model, available without weights, key or network: it answers by quoting. */

import { CriaError } from '../../core/error.ts'
import type { Retrieved } from '../../core/message.ts'
import type { Grounding, LanguageModel, ModelCall, ModelFacts, ModelPart, ModelRequest, QuotedPassage } from '../../core/model.ts'
import { ZERO_USAGE } from '../../core/usage.ts'
import type { Passage } from './passage.ts'

export const EXTRACTIVE_REF = 'builtin/extractive'

const FACTS: ModelFacts = {
  // The model reads passage by passage, so that this only has to exceed any text that fits into memory.
  contextWindow: 1_000_000_000,
  maxOutputTokens: 1000,
  price: { input: 0, output: 0 },
  tools: false,
  images: false,
  thinking: false,
  structuredOutput: false,
  writes: false,
}

export function createExtractiveModel(): LanguageModel {
  return { ref: EXTRACTIVE_REF, facts: FACTS, identity: EXTRACTIVE_REF, stream }
}

async function* stream(
  { grounding, responseFormat }: ModelRequest,
  { signal }: ModelCall,
): AsyncGenerator<ModelPart, void, undefined> {
  if (responseFormat !== undefined) {
    throw new CriaError(
      'invalid_request',
      `${EXTRACTIVE_REF} answers by quoting documents and cannot fill a schema: name another model.`,
    )
  }
  const { question, passages, weights } = grounding ?? NOTHING
  const known = Object.keys(weights).length > 0 ? weights : undefined
  const read = toPassages(question, passages)
  const { answerFromPassages } = await import('./answer.ts')
  const answer = answerFromPassages(question, read, { weights: known })
  const texts =
    grounding === undefined ? [NO_DOCUMENTS] : answer.abstained ? [answer.text] : answer.blocks.map(({ text }) => text)
  const citations: QuotedPassage[] = []
  let at = 0
  for (const [index, text] of texts.entries()) {
    if (signal.aborted) throw new CriaError('aborted', 'The answer was aborted.', { cause: signal.reason })
    const gap = index === 0 ? '' : '\n\n'
    yield { type: 'text', text: `${gap}${text}` }
    const block = answer.abstained ? undefined : answer.blocks[index]
    const start = at + gap.length
    at = start + text.length
    if (block !== undefined) citations.push({ marker: block.marker, ...block.quote, claim: { start, end: at } })
  }
  yield { type: 'usage', usage: ZERO_USAGE }
  yield { type: 'finish', reason: 'stop', abstained: answer.abstained, ...(citations.length === 0 ? {} : { citations }) }
}

const NO_DOCUMENTS =
  'I am the built-in model of cria: I answer questions by quoting documents, and none are indexed here. Index some with `cria index <path>`, or name a language model with `--model`.'
const NOTHING: Grounding = { question: '', passages: [], weights: {} }

/** Most passages read from a store: a passage that answers the question ranks among the first, if the search found it. */
export const PASSAGES_READ = 12

/** Scores of different stores are not comparable: each passage is scored relative to the best of its store. */
function toPassages(question: string, all: readonly Retrieved[]): Passage[] {
  const best = new Map<string, number>()
  const read = new Map<string, number>()
  for (const { origin, store, chunk } of all)
    best.set(`${origin}:${store}`, Math.max(best.get(`${origin}:${store}`) ?? 0, chunk.score))
  return all
    .filter(({ origin, store, chunk }) => {
      if (chunk.spokenBy !== undefined && chunk.text.trim() === question.trim()) return false
      const before = read.get(`${origin}:${store}`) ?? 0
      read.set(`${origin}:${store}`, before + 1)
      return before < PASSAGES_READ
    })
    .map(({ marker, origin, store, chunk: { source, text, title, headings, score } }) => {
      return { marker, source, text, title, headings, score: score / (best.get(`${origin}:${store}`) || 1) }
    })
}
