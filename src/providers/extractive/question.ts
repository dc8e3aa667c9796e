/** What a question asks for: its words with their weights, the kind of answer, and the noun the answer is one of. */

import { porterStem } from '../../text/porter.ts'
import type { AnswerKind } from './answer-kind.ts'
import { definingWords, weighsAsHalf } from './defining.ts'
import { emptyPairs, kindIn, languageOf, withoutAsking } from './languages.ts'
import type { Language } from './languages.ts'
import { EVENT_VERBS, FUNCTION_WORDS, KIND_OF_NOUN, QUANTITY_ADJECTIVES } from './lexicon.ts'
import { joinNames, spellingOf } from './named.ts'
import type { Spelling } from './named.ts'
import type { Word } from './words.ts'
import { readWords } from './words.ts'

export interface Question {
  readonly text: string
  readonly words: readonly Word[]
  /** The words that carry meaning, each once, in order. */
  readonly terms: readonly Term[]
  readonly kind: AnswerKind
  /** Stems of the noun that the answer is one of ("which *river*", "how many *gold medals*"), last word first. */
  readonly focus: readonly string[]
  /** Stems of all words, for telling the new from the given. */
  readonly given: ReadonlySet<string>
  /** How its names may be written. */
  readonly spelling: Spelling
  /** In English, or in a language that is not known: only of English are all words for numbers known. */
  readonly isEnglish: boolean
  /** Asks what to do or to type, so that a line of code may be the answer. */
  readonly asksForCode: boolean
  /** "What does `open` do?": a line of code that says the name answers nothing. */
  readonly asksPurpose: boolean
  /** "Does it run on Windows?": nothing but what it names can be the answer. */
  readonly isYesNo: boolean
  /** Asks how to do something, so that several steps may be the answer. */
  readonly asksForSteps: boolean
}

export interface Term {
  readonly stem: string
  readonly lower: string
  /** Share of the whole question's weight, 0 to 1; the shares add up to 1. */
  readonly weight: number
  /** Written as a name (capital letter inside the question) or a number: not to be missing from an answer. */
  readonly specific: boolean
  /** Part of the focus: says what the answer is, and need not stand beside it. */
  readonly focus: boolean
  /** `K3`, `PAY-104`: no other name stands for it, and no number alone. */
  readonly coded: boolean
  /** Of a name without a number: each alone says a part of it. */
  readonly parts: readonly Pick<Word, 'stem' | 'lower'>[]
}

const WH = new Set(['who', 'whom', 'whose', 'what', 'which', 'when', 'where', 'why', 'how'])
const AUXILIARIES = new Set(
  'is are was were be been being am do does did has have had can could will would shall should may might must s re'.split(' '),
)
const NAME_NOUNS = new Set([
  'name',
  'names',
  'title',
  'term',
  'word',
  'type',
  'types',
  'kind',
  'kinds',
  'sort',
  'form',
  'part',
  'parts',
  'number',
  'amount',
  'one',
  'example',
])

/**
 * Reads a question. `weights` are inverse document frequencies by analysed word, where the store knows them; without them every
 * word of meaning weighs the same.
 */
export function readQuestion(text: string, weights?: Readonly<Record<string, number>>): Question {
  const asked = withoutAsking(text.slice(0, LONGEST_QUESTION))
  const words = joinNames(asked, readWords(asked))
  const language = languageOf(words, FUNCTION_WORDS)
  const wh = words.findIndex((word) => WH.has(word.lower))
  const defining = language === undefined ? definingWords(words) : new Set<Word>()
  const focusWords = language === undefined ? readFocus(words, wh).filter((word) => !defining.has(word)) : []
  const empty = new Set([...emptyPairs(asked, words), ...(weighsAsHalf(words, defining) ? defining : [])])
  const inEnglish = (): AnswerKind => (defining.size > 0 ? 'definition' : readKind(words, wh, focusWords))
  return {
    text,
    words,
    terms: readTerms(words, { focus: focusWords, language, weights, empty }),
    kind: language === undefined ? inEnglish() : kindIn(language, words),
    isEnglish: language === undefined,
    focus: focusWords.map((word) => word.stem),
    given: new Set(words.flatMap((word) => [word, ...(word.parts ?? [])]).map((word) => word.stem)),
    spelling: spellingOf(words),
    asksForCode: asksForCode(words, wh),
    asksPurpose: language === undefined && PURPOSE.test(words.map(({ lower }) => lower).join(' ')),
    isYesNo: language === undefined && wh === -1 && AUXILIARIES.has(words[0]?.lower ?? ''),
    asksForSteps: language === undefined && asksForSteps(words, wh),
  }
}

/** Beside "how do I …" and "how to …": whoever says one of these means what is written in code. */
const CODE_NOUNS = new Set(
  'api argument arguments code command commands example examples expression field flag flags function functions import key keys method methods option options parameter parameters property script setting settings snippet syntax type value values variable variables'.split(
    ' ',
  ),
)
/** Also "what is `open` for" and "what is the purpose of `open`". */
const PURPOSE =
  /^what (?:do|does|did) .+ do$|^what (?:is|are|was|were) (?:.+ for|(?:the )?(?:purpose|use|job|role|point) of .+|(?:an? |the )?[^ ]+)$/
const STEPS = new Set(['steps', 'procedure', 'instructions'])
const ASKERS = new Set(['i', 'we', 'you', 'one'])

function asksForCode(words: readonly Word[], wh: number): boolean {
  if (words.some(({ lower }) => CODE_NOUNS.has(lower))) return true
  // Without a question word it may be a search: "install client".
  return wh === -1 || asksHowTo(words, wh)
}

function asksForSteps(words: readonly Word[], wh: number): boolean {
  return asksHowTo(words, wh) || words.some(({ lower }) => STEPS.has(lower))
}

function asksHowTo(words: readonly Word[], wh: number): boolean {
  const [first, second] = [words[wh + 1]?.lower ?? '', words[wh + 2]?.lower ?? '']
  return words[wh]?.lower === 'how' && (first === 'to' || (AUXILIARIES.has(first) && ASKERS.has(second)))
}

/** More than any question says; what comes after is not read, so that a book as a question costs no more than a page. */
const LONGEST_QUESTION = 4000

interface Known {
  readonly focus: readonly Word[]
  readonly language: Language | undefined
  readonly weights: Readonly<Record<string, number>> | undefined
  readonly empty: ReadonlySet<Word>
}

function readTerms(words: readonly Word[], { focus, language, weights, empty }: Known): Term[] {
  const functionWords = language?.functionWords ?? FUNCTION_WORDS
  const seen = new Map<string, { word: Word; specific: boolean; focus: boolean }>()
  words.forEach((word, index) => {
    const isLetter = isLetterName(word, index, words)
    if (functionWords.has(word.lower) && !isAcronym(word) && !isLetter) return
    if (word.lower.length < 2 && !word.numeric && !isLetter) return
    if (language === undefined && (WH.has(word.lower) || isMeasure(words, index))) return
    if (empty.has(word)) return
    const before = seen.get(word.stem)
    const specific = word.numeric || word.coded || (word.capital && index > 0 && language?.namesByCapital !== false)
    seen.set(word.stem, {
      word,
      specific: specific || before?.specific === true,
      focus: focus.includes(word) || before?.focus === true,
    })
  })
  const entries = [...seen.values()]
  const named = entries.filter(({ word }) => !EVENT_VERBS.has(word.lower))
  const raw = (named.length > 0 ? named : entries).map((entry) => ({ ...entry, weight: weightOf(entry.word, weights) }))
  const total = raw.reduce((sum, entry) => sum + entry.weight, 0)
  return raw.map(({ word, specific, focus: isFocus, weight }) => ({
    stem: word.stem,
    lower: word.lower,
    weight: total > 0 ? weight / total : 1 / raw.length,
    specific,
    focus: isFocus,
    coded: word.coded,
    parts: word.coded ? [] : (word.parts ?? []),
  }))
}

/** "Who made *C*?", "grade *A*": a capital letter inside a question is a name. `I` is a word, and `A` is one where every word has a capital. */
function isLetterName({ lower, upper }: Word, index: number, words: readonly Word[]): boolean {
  if (index === 0 || !upper || lower.length !== 1 || lower === 'i') return false
  const before = words[index - 1]
  return lower !== 'a' || (before?.capital === false && !FUNCTION_WORDS.has(before.lower))
}

/** "How *long*": the answer says how long, and not that it is long. */
function isMeasure(words: readonly Word[], index: number): boolean {
  return words[index - 1]?.lower === 'how' && QUANTITY_ADJECTIVES.has(words[index]?.lower ?? '')
}

/** `US`, `IT`: written in capitals it is no function word. */
function isAcronym(word: Word): boolean {
  return word.capital && word.end - word.start > 1 && word.upper
}

function weightOf(word: Word, weights: Readonly<Record<string, number>> | undefined): number {
  if (weights === undefined) return 1
  const { stem, lower, parts } = word
  const known = weights[porterStem(lower)] ?? weights[lower] ?? weights[stem]
  if (known !== undefined) return Math.max(0, known)
  // A name is as rare as the rarest of its parts, at least.
  if (parts !== undefined) return Math.max(...parts.map((part) => weightOf(part, weights)))
  // The store knows words that no document has; what it leaves out it takes for a function word.
  const all = Object.values(weights)
  return (FUNCTION_WORD_SHARE * all.reduce((sum, weight) => sum + weight, 0)) / Math.max(1, all.length)
}

/** What a word weighs that only we take for one of meaning, as a share of the mean. */
const FUNCTION_WORD_SHARE = 0.5

/** The noun phrase right after "which" or "what", or after "what is the", up to its verb; last word first. */
function readFocus(words: readonly Word[], wh: number): Word[] {
  const word = words[wh]
  // "release date of the film", "the group that elects the president": the noun that the question begins with.
  if (word === undefined) return nounPhrase(words, 0)
  let from = wh + 1
  if (word.lower === 'how') {
    if (words[from]?.lower === 'many' || words[from]?.lower === 'much') from++
    else return []
  } else if (word.lower !== 'what' && word.lower !== 'which') {
    return []
  }
  if (AUXILIARIES.has(words[from]?.lower ?? '')) {
    if (word.lower === 'how' || !isArticle(words[from + 1])) return []
    from++
  }
  return nounPhrase(words, from)
}

function nounPhrase(words: readonly Word[], from: number): Word[] {
  const phrase: Word[] = []
  let i = from
  for (; i < words.length && phrase.length < LONGEST_FOCUS; i++) {
    const word = words[i]
    if (word === undefined || AUXILIARIES.has(word.lower)) break
    if (isArticle(word)) continue
    if (FUNCTION_WORDS.has(word.lower) && !NAME_NOUNS.has(word.lower)) break
    phrase.unshift(word)
  }
  const [head] = phrase
  // "the name of the dragon", "what type of rock": the noun after "of" says more.
  if (head !== undefined && NAME_NOUNS.has(head.lower) && words[i]?.lower === 'of') {
    const inner = nounPhrase(words, i + 1)
    if (inner.length > 0) return inner
  }
  return phrase
}

const LONGEST_FOCUS = 4

function isArticle(word: Word | undefined): boolean {
  return word !== undefined && (word.lower === 'the' || word.lower === 'a' || word.lower === 'an')
}

function readKind(words: readonly Word[], wh: number, focus: readonly Word[]): AnswerKind {
  const lower = words[wh]?.lower
  const next = words[wh + 1]?.lower ?? ''
  switch (lower) {
    case 'who':
    case 'whom':
    case 'whose':
      return 'person'
    case 'when':
      return 'time'
    case 'where':
      return 'place'
    case 'why':
      return 'reason'
    case 'how':
      if (next === 'many') return 'count'
      if (next === 'much' || QUANTITY_ADJECTIVES.has(next)) return 'quantity'
      return 'manner'
    default:
      return kindOfFocus(words, focus)
  }
}

function kindOfFocus(words: readonly Word[], focus: readonly Word[]): AnswerKind {
  for (const word of focus) {
    const kind = KIND_OF_NOUN.get(word.lower)
    if (kind !== undefined) return kind
  }
  const text = words.map((word) => word.lower).join(' ')
  if (/\b(?:mean|means|meaning|definition|defined|stand for|refers? to)\b/.test(text)) return 'definition'
  if (/^what (?:is|are|was|were) (?:[\w.-]+ ?){1,3}$/.test(text)) return 'definition'
  if (/\bcaused?\b/.test(text)) return 'reason'
  return 'thing'
}
