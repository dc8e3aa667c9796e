/** Parses a question: its weighted words, the kind of answer it seeks, and whether it consists of two questions. */

import { Analyzer } from '../../text/analyzer.ts'
import { withoutQuestionWords } from '../../text/question-words.ts'

/** The kind of answer that a question seeks. `place` and the like describe an answer in prose. */
export type Sought =
  | 'steps'
  | 'name'
  | 'definition'
  | 'cause'
  | 'person'
  | 'place'
  | 'time'
  | 'number'
  | 'reason'
  | 'difference'
  | 'yes-no'
  | 'anything'

export interface Question {
  readonly text: string
  readonly sought: Sought
  readonly terms: readonly Term[]
  /** Total inverse document frequency of its terms. */
  readonly weight: number
}

export interface Term {
  /** As the analyser returns it; if `literal`, as written in the question. */
  readonly term: string
  /** Terms with signs that the analyser drops: `?`, `&str`, `--no-stream`. */
  readonly literal?: true
  /** Share of the weight of the question, 0 to 1; the shares add up to 1. */
  readonly weight: number
}

/** Longest question in UTF-16 units; the rest is not read. */
const LONGEST = 2000
/** Where a second question begins. */
const SECOND =
  /[?？]\s+(?=\p{L})|,?\s+(?:and|or)\s+(?=(?:how|what|which|where|when|who|why|can|does|do|is|are|should)\s)|[,;]\s+(?=(?:how|what|which|where|when|who|why)\s)/iu
/** Weight of terms that the other question has: "how do I run a tool at a version, and how at the latest?" */
const SHARED = 0.35

const NAMED =
  'option|flag|setting|switch|parameter|param|argument|variable|env(?:ironment)? var(?:iable)?|function|method|class|decorator|exception|error|command|subcommand|macro|file|module|package|hook|type|key|field|property|attribute|keyword|header|extension|event|crate|trait|struct|middleware|helper|plugin|action|directive'
const PATTERNS: readonly (readonly [Sought, RegExp])[] = [
  [
    'cause',
    /\b(?:\w*(?:Error|Exception|Warning)|error|fatal|panic|traceback)\b\s*[:[(]|^(?:error|warning|fatal)\b|\b(?:cannot|could not|unable to|failed to|no such)\b[^?]*$|\bis not a\b[^?]*$/,
  ],
  ['difference', /\b(?:differen(?:ce|t|ces)|differs?|versus|vs\.?|compared? (?:to|with))\b/i],
  ['steps', /^how\s+(?:to|(?:do|can|could|should|would|might|must)\s+(?:i|we|you|one|people|users?|somebody|someone))\b/i],
  ['name', new RegExp(String.raw`\b(?:which|what)\s+(?:[\w-]+\s+){0,2}?(?:${NAMED})s?\b`, 'i')],
  [
    'number',
    /\bhow\s+(?:many|much|long|old|far|big|large|tall|high|deep|wide|heavy|fast|often|hot|cold|late)\b|\b(?:what|which)\s+(?:[\w-]+\s+){0,2}(?:number|percentage|percent|population|length|height|width|depth|size|limit|rate|age|score|port|code|version|price|cost|amount|temperature|distance|speed)\b|\bby default\b|\bdefault\b/i,
  ],
  ['time', /\bwhen\b|\b(?:what|which)\s+(?:year|date|day|month|century|decade|time|season|era|period)\b/i],
  ['person', /\bwho(?:m|se)?\b/i],
  [
    'place',
    /\bwhere\b|\b(?:what|which)\s+(?:country|city|state|town|river|place|region|island|continent|folder|directory|path)\b/i,
  ],
  ['reason', /\bwhy\b|\bhow come\b|\bwhat\s+(?:is|was|are|were)\s+the\s+(?:reason|cause)/i],
  [
    'definition',
    /^what(?:'s|\s+(?:is|are|was|were))\s+(?:an?\s+|the\s+)?[^?]{1,60}\??$|^what\s+(?:do|does|did)\s.+\s(?:do|mean|stand for)\b|\b(?:define|definition|meaning) of\b|\bused for\b/i,
  ],
  ['yes-no', /^(?:is|are|was|were|does|do|did|can|could|will|would|should|may|has|have|had)\b/i],
]

/**
 * @param weights inverse document frequencies by term, if the store knows them.
 * @returns one question, or the two questions in it.
 */
export function readQuestions(text: string, weights?: Readonly<Record<string, number>>): Question[] {
  const whole = text.slice(0, LONGEST).trim()
  const compared = /\b(?:differ|compar)/i.test(whole) ? COMPARED.exec(whole) : null
  if (compared !== null) {
    const [a = '', b = ''] = compared.slice(1).filter((part) => part !== undefined)
    const sides = [readQuestion(`what is ${a}`, weights), readQuestion(`what is ${b}`, weights)]
    if (sides.every(({ terms }) => terms.length > 0)) return sides
  }
  const parts = whole.split(SECOND).filter((part) => /[\p{L}\p{N}]/u.test(part))
  const [first = '', second = ''] = parts
  if (parts.length !== 2 || !ASKS.test(first)) return [readQuestion(whole, weights)]
  const both = [readQuestion(first, weights, second), readQuestion(second, weights, first)]
  return both.every(({ terms }) => terms.length > 0) ? both : [readQuestion(whole, weights)]
}

const ASKS = /^(?:how|what|which|where|when|who|why|can|does|do|did|is|are|was|were|should|in which|at which|for how)\b/i

const analyzer = new Analyzer()

/** Weight of verbs and nouns that only the grammar needs, stemmed: an answer often paraphrases or omits them. */
const LIGHT_SHARE = 0.3
const LIGHT =
  'make use need get take give go come keep put set let work happen occur call name know find want try mean become start stop show tell turn look possible several time way thing kind type sort part exactly usually typically generally actually really currently available using made got given gave taken went came kept called named found known'
let light: ReadonlySet<string> | undefined

function isLight(term: string): boolean {
  return (light ??= new Set(analyzer.terms(LIGHT))).has(term)
}

/** "The difference between A and B" asks for the definitions of A and of B. */
const COMPARED =
  /\b(?:differences?|different|differs?|compare[ds]?|comparison)\b.*?\b(?:between|from|to|with)?\s+(.{2,80}?)\s+(?:and|vs\.?|versus|or|from|to|with)\s+(.{2,80}?)(?:\s+differ)?\s*[?.]?$|^how do(?:es)?\s+(.{2,80}?)\s+(?:and|differ from)\s+(.{2,80}?)(?:\s+differ)?\s*[?.]?$/i

/** @param beside the other question of the text: its terms have a lower weight here. */
export function readQuestion(asked: string, weights?: Readonly<Record<string, number>>, beside = ''): Question {
  const text = asked.slice(0, LONGEST)
  const own = termsOf(text)
  const raw = new Map<string, number>()
  for (const term of own) raw.set(term, (isLight(term) ? LIGHT_SHARE : 1) * weightOf(term, weights))
  for (const term of beside === '' ? [] : termsOf(beside)) if (!raw.has(term)) raw.set(term, SHARED * weightOf(term, weights))
  const literals = literalsOf(text)
  const mean = raw.size === 0 ? 1 : [...raw.values()].reduce((sum, weight) => sum + weight, 0) / raw.size
  const total = literals.length * mean + [...raw.values()].reduce((sum, weight) => sum + weight, 0)
  const shareOf = (weight: number): number => (total > 0 ? weight / total : 1 / (raw.size + literals.length))
  const terms: Term[] = [
    ...Array.from(raw, ([term, weight]) => ({ term, weight: shareOf(weight) })),
    ...literals.map((term) => ({ term, literal: true as const, weight: shareOf(mean) })),
  ]
  return { text, terms, weight: total, sought: PATTERNS.find(([, pattern]) => pattern.test(text.trim()))?.[0] ?? 'anything' }
}

/** English words that only ask, in addition to the stop words of the analyser. */
const ASKING =
  /\b(?:difference|differences|differ)\b(?:\s+between\b)?|\b(?:does|do|did)\b(.*?)\b(?:mean|do|stand for)\b|\b(?:is|are)\b(.*?)\bused for\b|\b(?:please|tell me|show me|explain|describe)\b/gi

/** Matches an option, a sign before a word, a sign alone, and anything in backticks with a sign in it. */
const LITERAL =
  /(?<=^|\s)(--?[\p{L}][\p{L}\p{N}-]*|[&*$@%^!~][\p{L}_]\w*|[?&|*%^~=<>!:+@$#]{1,3}(?=\s+\p{L}))|`([^`\s]*[^`\s\p{L}\p{N}_.][^`\s]*)`/gu

function literalsOf(text: string): string[] {
  return [...new Set(Array.from(text.matchAll(LITERAL), ([, bare, quoted]) => bare ?? quoted ?? ''))]
}

function termsOf(text: string): string[] {
  const terms = analyzer.terms(withoutQuestionWords(text).replaceAll(ASKING, ' $1 $2 '))
  return terms.length > 0 ? terms : analyzer.terms(text)
}

function weightOf(term: string, weights: Readonly<Record<string, number>> | undefined): number {
  return weights === undefined ? 1 : Math.max(0, weights[term] ?? 0)
}
