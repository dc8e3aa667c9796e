/**
 * English word forms brought together: irregular forms by a short table, the rest by Porter's algorithm
 * (M. F. Porter, "An algorithm for suffix stripping", 1980). Words that are not plain a-z pass unchanged.
 */

const IRREGULAR: ReadonlyMap<string, string> = new Map(
  `arise arose arisen|bear bore borne born|beat beaten|become became|begin began begun|bite bit bitten|bleed bled|blow blew blown|break broke broken
breed bred|bring brought|build built|buy bought|catch caught|choose chose chosen|come came|creep crept|deal dealt|die died dying dies dead death
dig dug|draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found
flee fled|fly flew flown|forbid forbade forbidden|forget forgot forgotten|freeze froze frozen|get got gotten|give gave given|go went gone
grow grew grown|hang hung|hear heard|hide hid hidden|hold held|keep kept|know knew known|lay laid|lead led|leave left|lend lent|lose lost loss
make made|mean meant|meet met|pay paid|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen|seek sought|sell sold
send sent|shake shook shaken|shine shone|shoot shot|shrink shrank shrunk|sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid
speak spoke spoken|spend spent|spin spun|spring sprang sprung|stand stood|steal stole stolen|stick stuck|strike struck stricken|swear swore sworn
sweep swept|swim swam swum|swing swung|take took taken|teach taught|tear tore torn|tell told|think thought|throw threw thrown
understand understood|wake woke woken|wear wore worn|weave wove woven|win won winner winning|write wrote written
man men|woman women|child children|person people persons|foot feet|tooth teeth|goose geese|mouse mice|life lives|wife wives|leaf leaves
datum data|medium media|phenomenon phenomena|criterion criteria|crisis crises|analysis analyses|thesis theses`
    .split(/[|\n]/)
    .flatMap((line) => {
      const [base = '', ...forms] = line.trim().split(' ')
      return [base, ...forms].map((form): [string, string] => [form, base])
    }),
)

const CONSONANT = '[^aeiou]'
const VOWEL = '[aeiouy]'
const CONSONANTS = `${CONSONANT}[^aeiouy]*`
const VOWELS = `${VOWEL}[aeiou]*`
const MEASURE_POSITIVE = new RegExp(`^(?:${CONSONANTS})?${VOWELS}${CONSONANTS}`)
const MEASURE_ONE = new RegExp(`^(?:${CONSONANTS})?${VOWELS}${CONSONANTS}(?:${VOWELS})?$`)
const MEASURE_ABOVE_ONE = new RegExp(`^(?:${CONSONANTS})?${VOWELS}${CONSONANTS}${VOWELS}${CONSONANTS}`)
const HAS_VOWEL = new RegExp(`^(?:${CONSONANTS})?${VOWEL}`)
const SHORT_SYLLABLE = new RegExp(`^${CONSONANTS}${VOWEL}[^aeiouwxy]$`)

const STEP_2: Readonly<Record<string, string>> = {
  ational: 'ate',
  tional: 'tion',
  enci: 'ence',
  anci: 'ance',
  izer: 'ize',
  bli: 'ble',
  alli: 'al',
  entli: 'ent',
  eli: 'e',
  ousli: 'ous',
  ization: 'ize',
  ation: 'ate',
  ator: 'ate',
  alism: 'al',
  iveness: 'ive',
  fulness: 'ful',
  ousness: 'ous',
  aliti: 'al',
  iviti: 'ive',
  biliti: 'ble',
  logi: 'log',
}
const STEP_2_SUFFIX = new RegExp(`^(.+?)(${Object.keys(STEP_2).join('|')})$`)
const STEP_3: Readonly<Record<string, string>> = {
  icate: 'ic',
  ative: '',
  alize: 'al',
  iciti: 'ic',
  ical: 'ic',
  ful: '',
  ness: '',
}
const STEP_3_SUFFIX = new RegExp(`^(.+?)(${Object.keys(STEP_3).join('|')})$`)
const STEP_4_SUFFIX = /^(.+?)(al|ance|ence|er|ic|able|ible|ant|ement|ment|ent|ou|ism|ate|iti|ous|ive|ize)$/

/** The common form of a lower-case word. */
export function stem(word: string): string {
  return regularStem(IRREGULAR.get(word) ?? word)
}

/** The same without the irregular forms: what the index of a store is likely to call it. */
export function regularStem(word: string): string {
  return word.length < 3 || !/^[a-z]+$/.test(word) ? word : porter(word)
}

function porter(word: string): string {
  let w = word.startsWith('y') ? `Y${word.slice(1)}` : word
  w = inflections(w)
  w = replaceSuffix(w, STEP_2_SUFFIX, STEP_2)
  w = replaceSuffix(w, STEP_3_SUFFIX, STEP_3)
  w = derivations(w)
  return w.startsWith('Y') ? `y${w.slice(1)}` : w
}

/** Porter's step 1: plurals, -ed, -ing, and y to i. */
function inflections(word: string): string {
  let w = word
  if (/(?:ss|i)es$/.test(w)) w = w.slice(0, -2)
  else if (/[^s]s$/.test(w)) w = w.slice(0, -1)
  const eed = /^(.+?)eed$/.exec(w)
  const past = eed === null ? /^(.+?)(?:ed|ing)$/.exec(w) : null
  if (eed !== null) {
    if (MEASURE_POSITIVE.test(eed[1] ?? '')) w = w.slice(0, -1)
  } else if (past !== null && HAS_VOWEL.test(past[1] ?? '')) {
    w = past[1] ?? ''
    if (/(?:at|bl|iz)$/.test(w)) w += 'e'
    else if (/([^aeiouylsz])\1$/.test(w)) w = w.slice(0, -1)
    else if (SHORT_SYLLABLE.test(w)) w += 'e'
  }
  return w.endsWith('y') && HAS_VOWEL.test(w.slice(0, -1)) ? `${w.slice(0, -1)}i` : w
}

function replaceSuffix(word: string, suffixes: RegExp, replacements: Readonly<Record<string, string>>): string {
  const match = suffixes.exec(word)
  if (match === null) return word
  const [, head = '', suffix = ''] = match
  return MEASURE_POSITIVE.test(head) ? head + (replacements[suffix] ?? '') : word
}

/** Porter's steps 4 and 5: derivational suffixes, final e, double l. */
function derivations(word: string): string {
  let w = word
  const suffix = STEP_4_SUFFIX.exec(w)
  const ion = suffix === null ? /^(.+?[st])ion$/.exec(w) : null
  const head = suffix?.[1] ?? ion?.[1]
  if (head !== undefined && MEASURE_ABOVE_ONE.test(head)) w = head
  if (w.endsWith('e')) {
    const short = w.slice(0, -1)
    if (MEASURE_ABOVE_ONE.test(short) || (MEASURE_ONE.test(short) && !SHORT_SYLLABLE.test(short))) w = short
  }
  return w.endsWith('ll') && MEASURE_ABOVE_ONE.test(w) ? w.slice(0, -1) : w
}
