/** Stems words by M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980. */

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
