/** Analyses text for search: reduces spellings and inflections of a word to one term. */

import { fold, normalize } from './fold.ts'
import { ngrams, parts, pieces, runs, segments } from './split.ts'

/** Increase it when the terms of a text may change: a store made by another version is indexed again. */
export const ANALYZER_VERSION = 2

/** Longest term in characters; longer ones are cut. Queries have no longer words, and encoded data must not fill the index. */
const MAX_TERM = 64
const MAX_REMEMBERED = 50_000
const IDEOGRAPHIC_GRAM = 2
const SYLLABIC_GRAM = 4

/** Reports whether a term is a run of a script without spaces that is too short for a group; in longer runs it is part of a group. */
export function isFragment(term: string): boolean {
  const [run, ...more] = segments(term)
  if (run === undefined || more.length > 0 || run.kind === 'spaced') return false
  return Array.from(term).length < (run.kind === 'ideographic' ? IDEOGRAPHIC_GRAM : SYLLABIC_GRAM)
}

/**
 * Turns text into terms, in text order and with repetitions; stop words are left out.
 *
 * - Words are folded and stemmed: `Résumés` is `resum`.
 * - Identifiers yield their parts and the whole, stemmed as if typed in lower case: `getUserName` is `get`, `user`, `name`, `getusernam`, and so is
 *   `get_user_name`.
 * - Versions and codes yield their parts and the whole: `v1.2.3`, `CVE-2021-44228`.
 * - Han, Kana and Hangul become pairs of characters, Thai, Lao, Khmer and Burmese groups of four.
 */
export class Analyzer {
  readonly #remembered = new Map<string, readonly string[]>()

  terms(text: string): string[] {
    const terms: string[] = []
    for (const run of runs(normalize(text))) {
      let found = this.#remembered.get(run)
      if (found === undefined) {
        found = termsOfRun(run)
        // Word frequencies follow Zipf's law: clearing the cache costs little, and bounds memory.
        if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear()
        if (run.length <= MAX_TERM) this.#remembered.set(run, found)
      }
      for (const term of found) terms.push(term)
    }
    return terms
  }
}

/** Returns the terms of a text without caching any word. */
export function termsOf(text: string): string[] {
  return runs(normalize(text)).flatMap(termsOfRun)
}

function termsOfRun(run: string): string[] {
  return segments(run).flatMap(({ text, kind }) => {
    if (kind === 'ideographic') return ngrams(text, IDEOGRAPHIC_GRAM)
    if (kind === 'syllabic') return ngrams(text, SYLLABIC_GRAM)
    return termsOfWord(text)
  })
}

function termsOfWord(run: string): string[] {
  if (run.endsWith('#') || run.endsWith('+')) return [run.toLowerCase()]
  const found = pieces(run)
  const elided = withoutElision(run, found)
  if (elided !== undefined) return termsOfWord(elided)
  const byPiece = found.map((piece) => parts(piece))
  const terms = byPiece
    .flat()
    .map(word)
    .filter((term) => term !== undefined)
  return [...terms, ...wholes(run, found, byPiece).map((whole) => porterStem(fold(whole).slice(0, MAX_TERM)))]
}

/** Removes elisions: `don't` is `don`, `l'eau` is `eau`; undefined without an elision. */
function withoutElision(run: string, found: readonly string[]): string | undefined {
  const [first, second, third] = found
  if (first === undefined || second === undefined || third !== undefined || !/^\p{L}+['’]\p{L}+$/u.test(run)) return undefined
  if (second.length <= 2) return first
  return first.length <= 2 ? second : undefined
}

/** Returns the forms of a run that are kept whole, in addition to its parts. */
function wholes(run: string, found: readonly string[], byPiece: readonly (readonly string[])[]): string[] {
  if (found.length > 1 && /\p{N}/u.test(run) && /[.-]/.test(run)) return [run]
  if (run.includes('_')) return byPiece.flat().length > 1 ? [found.join('')] : []
  return found.filter((_, at) => (byPiece[at]?.length ?? 0) > 1)
}

function word(part: string): string | undefined {
  const folded = fold(part)
  return isStopWord(folded) || folded === '' ? undefined : porterStem(folded.slice(0, MAX_TERM))
}

/**
 * Stop words: neither indexed nor searched, because they do not identify a topic.
 *
 * English function words, auxiliaries and question words. Other languages need no list: inverse document frequency gives their function words
 * a low weight, and a wrong guess at the language would cost more than a list gains.
 */
const WORDS = `
  a an the this that these those such same own other another each every any some all both few more most many much no nor not none
  only very too so also just then than once again further now here there
  i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
  it its itself they them their theirs themselves who whom whose which what when where why how
  am is are was were be been being do does did doing done have has had having
  can could may might must shall should will would cannot ought
  isn aren wasn weren don doesn didn haven hasn hadn couldn mightn mustn shan shouldn won wouldn
  and or but if because as until while of at by for with about against between into through during before after above below
  to from up down in out on off over under upon within without among toward towards per via
  s t ll re ve
`

/** The last line lists the remains of `it's` and `don't` in tokenised texts. Other single letters stay: `vitamin D`, `R`. */
const STOP_WORDS: ReadonlySet<string> = new Set(WORDS.trim().split(/\s+/))

/** Reports whether a folded, unstemmed word is a stop word. */
function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word)
}

// The stemmer: M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980.

const DERIVATIONS = suffixes(
  `ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e ousli:ous ization:ize ation:ate ator:ate alism:al
  iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble logi:log`,
)
const ENDINGS = suffixes('icate:ic ative: alize:al iciti:ic ical:ic ful: ness:')
const RESIDUES = suffixes('al: ance: ence: er: ic: able: ible: ant: ement: ment: ent: ion: ou: ism: ate: iti: ous: ive: ize:')

const ENGLISH = /^[a-z]{3,}$/

/** Returns the stem of a folded word. A word of fewer than three letters, or with other letters than a to z, is returned unchanged. */
export function porterStem(word: string): string {
  if (!ENGLISH.test(word)) return word
  return withoutFinalE(withoutResidue(derive(derive(yToI(withoutInflection(withoutPlural(word))), DERIVATIONS), ENDINGS)))
}

// Step 1a
function withoutPlural(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2)
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}

// Step 1b
function withoutInflection(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word
  const suffix = ['ed', 'ing'].find((ending) => word.endsWith(ending) && hasVowel(word.slice(0, -ending.length)))
  if (suffix === undefined) return word
  const base = word.slice(0, -suffix.length)
  if (/(?:at|bl|iz)$/.test(base)) return `${base}e`
  if (endsInDouble(base) && !/[lsz]$/.test(base)) return base.slice(0, -1)
  return measure(base) === 1 && endsInShortSyllable(base) ? `${base}e` : base
}

// Step 1c
function yToI(word: string): string {
  return word.endsWith('y') && hasVowel(word.slice(0, -1)) ? `${word.slice(0, -1)}i` : word
}

// Steps 2 and 3
function derive(word: string, rules: readonly (readonly [string, string])[]): string {
  const rule = rules.find(([suffix]) => word.endsWith(suffix))
  if (rule === undefined) return word
  const base = word.slice(0, -rule[0].length)
  return measure(base) > 0 ? base + rule[1] : word
}

// Step 4
function withoutResidue(word: string): string {
  const rule = RESIDUES.find(([suffix]) => word.endsWith(suffix))
  if (rule === undefined) return word
  const base = word.slice(0, -rule[0].length)
  return measure(base) > 1 && (rule[0] !== 'ion' || /[st]$/.test(base)) ? base : word
}

// Step 5
function withoutFinalE(word: string): string {
  let stemmed = word
  if (word.endsWith('e')) {
    const base = word.slice(0, -1)
    const size = measure(base)
    if (size > 1 || (size === 1 && !endsInShortSyllable(base))) stemmed = base
  }
  return stemmed.endsWith('ll') && measure(stemmed) > 1 ? stemmed.slice(0, -1) : stemmed
}

/** Returns `C` or `V` for each letter; a `y` after a consonant is a vowel. */
function shape(word: string): string {
  let pattern = ''
  for (const letter of word) {
    const vowel = letter === 'y' ? pattern.endsWith('C') : 'aeiou'.includes(letter)
    pattern += vowel ? 'V' : 'C'
  }
  return pattern
}

/** Counts how often consonants follow vowels. */
function measure(word: string): number {
  return shape(word).match(/VC/g)?.length ?? 0
}

function hasVowel(word: string): boolean {
  return shape(word).includes('V')
}

function endsInDouble(word: string): boolean {
  return word.length > 1 && word.at(-1) === word.at(-2) && shape(word).endsWith('C')
}

function endsInShortSyllable(word: string): boolean {
  return shape(word).endsWith('CVC') && !/[wxy]$/.test(word)
}

/** Parses suffixes and their replacements, longest first, because the longest matching suffix decides. */
function suffixes(rules: string): readonly (readonly [string, string])[] {
  const pairs = rules.split(/\s+/).map((rule) => rule.split(':'))
  return pairs.map(([suffix = '', by = '']) => [suffix, by] as const).toSorted(([a], [b]) => b.length - a.length)
}
