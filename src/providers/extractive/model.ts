/** The language model that is always there: it quotes, and needs no weights, no key and no network. */

import { CriaError } from '../../core/error.ts'
import type { Retrieved } from '../../core/message.ts'
import type { Grounding, LanguageModel, ModelCall, ModelFacts, ModelPart, ModelRequest } from '../../core/model.ts'
import { ZERO_USAGE } from '../../core/usage.ts'
import { isCodeName } from '../../util/code-extensions.ts'
import { answerFromPassages, paragraph } from './answer.ts'
import type { Passage } from './passage.ts'
import { NO_DOCUMENTS } from './wording.ts'

export const EXTRACTIVE_REF = 'builtin/extractive'

const FACTS: ModelFacts = {
  // It reads passage by passage; the number only has to be larger than anything a machine holds in memory.
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
  const { abstained, paragraphs } = grounding === undefined ? { abstained: true, paragraphs: [NO_DOCUMENTS] } : answer(grounding)
  for (const [index, text] of paragraphs.entries()) {
    if (signal.aborted) throw new CriaError('aborted', 'The answer was aborted.', { cause: signal.reason })
    yield { type: 'text', text: index === 0 ? text : `\n\n${text}` }
  }
  yield { type: 'usage', usage: ZERO_USAGE }
  yield { type: 'finish', reason: 'stop', abstained }
}

function answer({ question, passages, weights }: Grounding): { abstained: boolean; paragraphs: readonly string[] } {
  const known = Object.keys(weights).length > 0 ? weights : undefined
  const { abstained, text, quotes } = answerFromPassages(question, toPassages(question, passages), { weights: known })
  return { abstained, paragraphs: abstained ? [text] : quotes.map(paragraph) }
}

/**
 * Passages of a store that are read. What answers a question stands among the first ten if it was found at all; the others only take time
 * (docs/decisions/0010-the-embedded-model.md).
 */
export const PASSAGES_READ = 12

const TABLE_NAME = /\.(?:csv|tsv|tab|psv)$/i

/** Scores of different stores do not compare: each list is measured against its own best. */
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
    .map(({ marker, origin, store, chunk }) => ({
      marker,
      text: chunk.text,
      title: chunk.title,
      headings: chunk.headings,
      isCode: isCodeName(chunk.source),
      isTable: TABLE_NAME.test(chunk.source),
      score: chunk.score / (best.get(`${origin}:${store}`) || 1),
    }))
}
