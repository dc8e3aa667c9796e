/** Verifies citations with a natural language inference model that runs in this process, in ONNX format. */

import type { ClaimVerdict, ClaimVerifier, Verdict } from '../../core/citation.ts'
import { loadTransformers, localModel } from '../embedding/local.ts'

/** The members of the package that are used. */
interface Transformers {
  readonly AutoTokenizer: { from_pretrained(model: string): Promise<Tokenizer> }
  readonly AutoModelForSequenceClassification: { from_pretrained(model: string): Promise<Classifier> }
}
type Tokenizer = (
  premises: readonly string[],
  options: { readonly text_pair: readonly string[]; readonly padding: true; readonly truncation: true },
) => unknown
interface Classifier {
  (inputs: unknown): Promise<{ readonly logits: { readonly dims: readonly number[]; readonly data: ArrayLike<number> } }>
  readonly config: { readonly id2label: Readonly<Record<string, string>> }
}

/** Options of `createLocalVerifier()`. */
export interface LocalVerifierOptions {
  /** Least probability at which `entailment` and `contradiction` count; default 0.8. */
  readonly threshold?: number
  /** For tests: replaces the `import()` of the package. */
  readonly load?: () => Promise<unknown>
}

/** Number of pairs in one run of the model. */
const BATCH = 16

/**
 * Creates a verifier for `verify` of `query()` and `QueryBot`. It compares each statement with each of its passages: the statement is verified if
 * any passage entails it, else contradicted if any contradicts it. The model reads about 500 tokens of a pair, and cuts longer pairs.
 *
 * @param name of a model with ONNX weights and the labels entailment, neutral and contradiction; the package downloads and caches it on first use.
 */
export function createLocalVerifier(
  name: string,
  { threshold = 0.8, load = loadTransformers }: LocalVerifierOptions = {},
): ClaimVerifier {
  const open = opener(name, load)
  return async (claims, { signal }) => {
    const model = await open()
    const pairs = claims.flatMap(({ passages, statement }, claim) =>
      passages.map((passage) => ({ claim, passage, statement: plain(statement) })),
    )
    const found: Verdict[][] = claims.map(() => [])
    for (let at = 0; at < pairs.length; at += BATCH) {
      signal.throwIfAborted()
      const batch = pairs.slice(at, at + BATCH)
      const verdicts = await classify(batch, model, threshold)
      for (const [index, { claim }] of batch.entries()) found[claim]?.push(verdicts[index] ?? 'unverified')
    }
    return claims.map((_, index) => verdictOf(found[index] ?? []))
  }
}

interface Opened {
  readonly tokenize: Tokenizer
  readonly classifier: Classifier
  /** Verdicts by column of the logits. */
  readonly labels: readonly Verdict[]
}

function opener(name: string, load: () => Promise<unknown>): () => Promise<Opened> {
  return localModel<Transformers, Opened>(name, load, async ({ AutoTokenizer, AutoModelForSequenceClassification }) => {
    const [tokenize, classifier] = await Promise.all([
      AutoTokenizer.from_pretrained(name),
      AutoModelForSequenceClassification.from_pretrained(name),
    ])
    const labels = Object.entries(classifier.config.id2label)
      .sort(([a], [b]) => Number(a) - Number(b))
      .map(([, label]): Verdict => (/^entail/i.test(label) ? 'verified' : /^contra/i.test(label) ? 'contradicted' : 'unverified'))
    if (!labels.includes('verified'))
      throw new TypeError(`its labels are ${Object.values(classifier.config.id2label).join(', ')}; expected one named entailment`)
    return { tokenize, classifier, labels }
  })
}

async function classify(
  pairs: readonly { readonly passage: string; readonly statement: string }[],
  model: Opened,
  threshold: number,
): Promise<Verdict[]> {
  const premises = pairs.map(({ passage }) => passage)
  const inputs = model.tokenize(premises, { text_pair: pairs.map(({ statement }) => statement), padding: true, truncation: true })
  const { logits } = await model.classifier(inputs)
  const size = logits.dims.at(-1) ?? 0
  return pairs.map((_, row) => {
    const scores = Array.from({ length: size }, (_value, column) => logits.data[row * size + column] ?? 0)
    const highest = Math.max(...scores)
    const sum = scores.reduce((total, score) => total + Math.exp(score - highest), 0)
    // Softmax of the highest score, whose exponential is e^0 = 1.
    return 1 / sum >= threshold ? (model.labels[scores.indexOf(highest)] ?? 'unverified') : 'unverified'
  })
}

function verdictOf(found: readonly Verdict[]): ClaimVerdict | undefined {
  if (found.includes('verified')) return { verdict: 'verified', reason: 'a passage entails it' }
  return found.includes('contradicted') ? { verdict: 'contradicted', reason: 'a passage contradicts it' } : undefined
}

/** Removes citation markers and Markdown from a statement: the model was not trained on them. */
function plain(statement: string): string {
  return statement.replaceAll(/[[【]\^?\d[\d,;–\- ^]*[\]】]|[*`]/g, '').trim()
}
