/** Guesses the language of a text from its script; for Latin letters, from the most frequent function words. */

export type Language = 'en' | 'de' | 'fr' | 'es' | 'it' | 'pt' | 'nl' | 'ru' | 'ar' | 'th' | 'zh' | 'ja'

/** UTF-16 units that are read; bounds the cost. */
const SAMPLE = 4000
const SCRIPTS: readonly (readonly [Language, RegExp])[] = [
  ['ja', /[\u3040-\u30ff]/g],
  ['zh', /[\u3400-\u9fff]/g],
  ['th', /[\u0e00-\u0e7f]/g],
  ['ar', /[\u0600-\u06ff]/g],
  ['ru', /[\u0400-\u04ff]/g],
]
/** Least share of letters in a non-Latin script for a text in that script: names and code use Latin letters everywhere. */
const SHARE_OF_SCRIPT = 0.2

const FUNCTION_WORDS: Readonly<Partial<Record<Language, string>>> = {
  en: 'the of and to in is are was were that it for with as on by an be this from at or which not have has you your if when will can',
  de: 'der die das und ist in den von zu mit dem des im für auf ein eine nicht sich als auch es an werden wurde war sind aus bei wird oder nach',
  fr: 'le la les de des et est en un une du que qui dans pour au aux sur par plus ne pas ce se sont avec il elle été cette ou',
  es: 'el la los las de y que en un una es del se por con para no al lo su como más fue son este esta ha o sus entre',
  it: 'il la le di che e è un una in per con del della non si i gli al da sono nel come dei alla ha o più',
  pt: 'o a os as de e que em um uma é do da se por com para não ao no na foi são dos das mais ou como',
  nl: 'de het een van en in is dat op te zijn voor met niet aan door er om ook als bij naar wordt werd uit of',
}
let languagesOf: Map<string, Language[]> | undefined

/** Returns English if there is no evidence. */
export function languageOf(text: string): Language {
  const sample = text.slice(0, SAMPLE)
  const letters = count(sample, /\p{L}/gu)
  for (const [language, pattern] of SCRIPTS) if (count(sample, pattern) > SHARE_OF_SCRIPT * letters) return language
  languagesOf ??= wordsByLanguage()
  const votes = new Map<Language, number>()
  for (const [word] of sample.toLowerCase().matchAll(/[a-zà-ÿ]+/g))
    for (const language of languagesOf.get(word) ?? []) votes.set(language, (votes.get(language) ?? 0) + 1)
  let best: Language = 'en'
  for (const [language, number] of votes) if (number > (votes.get(best) ?? 0)) best = language
  return best
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}

function wordsByLanguage(): Map<string, Language[]> {
  const found = new Map<string, Language[]>()
  for (const [language, words] of Object.entries(FUNCTION_WORDS) as [Language, string][])
    for (const word of words.split(' ')) found.set(word, [...(found.get(word) ?? []), language])
  return found
}
