/** Answers that cite well and badly, made from test documents by rules and a seed for each class. */

import type { CitationKind } from '../../src/core/citation.ts'
import type { Retrieved } from '../../src/core/message.ts'
import type { TestDocument } from './citation-documents.ts'

export interface CitationCase {
  readonly class: string
  readonly answer: string
  readonly marker: string
  readonly supported: boolean
  /** Kinds that say it rightly. */
  readonly kinds: readonly CitationKind[]
  /** The passage that does say it. */
  readonly foundIn?: string
}

interface Spot {
  readonly document: TestDocument
  /** Which passage of the document. */
  readonly index: number
  readonly marker: string
  readonly neighbour: string
  readonly foreign: string
  readonly sentences: readonly string[]
  readonly next: readonly string[]
}

type Chance = () => number

/** Mulberry32. */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** Every passage of the documents, numbered through; sources are cut without overlap. */
export function passagesOf(documents: readonly TestDocument[]): Retrieved[] {
  let number = 0
  return documents.flatMap(({ source, language, passages }) => {
    let at = 0
    return passages.map((sentences) => {
      const text = sentences.join(language === 'zh' ? '' : language === 'code' ? '\n' : ' ')
      const start = at
      at += text.length + 1
      const marker = String(++number)
      return {
        marker,
        origin: 'docstore' as const,
        store: 'test',
        chunk: { id: `c${marker}`, text, source, start, end: start + text.length, metadata: {}, score: 1 },
      }
    })
  })
}

export function casesOf(documents: readonly TestDocument[]): CitationCase[] {
  const spots: Spot[] = []
  const total = documents.reduce((sum, { passages }) => sum + passages.length, 0)
  let number = 0
  for (const document of documents) {
    const first = number + 1
    number += document.passages.length
    document.passages.forEach((sentences, index) => {
      const next = (index + 1) % document.passages.length
      spots.push({
        document,
        index,
        marker: String(first + index),
        neighbour: String(first + next),
        foreign: String(
          ((first + index + 2) % total) + 1 === first + index
            ? ((first + index + 3) % total) + 1
            : ((first + index + 2) % total) + 1,
        ),
        sentences,
        next: document.passages[next] ?? [],
      })
    })
  }
  return Object.entries(CLASSES).flatMap(([name, make], index) => {
    const chance = chanceOf(1000 + index)
    return spots.flatMap((spot) => make(spot, chance).map((one) => ({ class: name, ...one })))
  })
}

type Made = Omit<CitationCase, 'class'>
type Maker = (spot: Spot, chance: Chance) => Made[]

const pick = <Value>(values: readonly Value[], chance: Chance): Value => values[Math.floor(chance() * values.length)] as Value

/** How a sentence is quoted, as models do. */
function quoted(text: string, { document: { language } }: Spot, chance: Chance): string {
  if (language === 'code') return `\`${text}\``
  const bare = text.replace(/[.。]$/, '')
  const forms: Readonly<Record<string, readonly string[]>> = {
    en: [`"${text}"`, `“${text}”`, `The source says: "${bare}".`, `It notes that “${bare}”`, `> ${text}\n>`],
    de: [`„${text}“`, `In der Quelle steht: „${bare}“.`, `"${text}"`, `»${bare}«`],
    fr: [`« ${text} »`, `Il est écrit : « ${bare} ».`, `"${text}"`],
    es: [`«${text}»`, `El texto dice: «${bare}».`, `"${text}"`],
    zh: [`“${text}”`, `「${bare}」`, `文中写道：“${text}”`],
  }
  return pick(forms[language] ?? [`"${text}"`], chance)
}

const cite = (text: string, marker: string, chance: Chance): string =>
  /^[^>]*[.]$/.test(text) && chance() < 0.5 ? `${text.slice(0, -1)} [${marker}].` : `${text} [${marker}]`

const good = (answer: string, marker: string, kinds: readonly CitationKind[]): Made => ({
  answer,
  marker,
  supported: true,
  kinds,
})
const bad = (answer: string, marker: string, kinds: readonly CitationKind[], foundIn?: string): Made => ({
  answer,
  marker,
  supported: false,
  kinds,
  ...(foundIn === undefined ? {} : { foundIn }),
})

const isProse = ({ document: { language } }: Spot): boolean => language !== 'code'
const isSpaced = ({ document: { language } }: Spot): boolean => language !== 'code' && language !== 'zh'

const paraphrasesOf = ({ document: { paraphrases }, index }: Spot): string[] =>
  paraphrases.flatMap(([passage, text]) => (passage === index ? [text] : []))

/** A change of one sentence; `undefined` where it does not apply. */
type Change = (sentence: string, spot: Spot, chance: Chance) => string | undefined

/** The change inside a quotation, and in a statement without quotation marks. */
function changed(change: Change, kinds: readonly CitationKind[], statementKinds: readonly CitationKind[] = kinds): Maker {
  return (spot, chance) =>
    spot.sentences.flatMap((sentence) => {
      const other = change(sentence, spot, chance)
      if (other === undefined || other === sentence) return []
      const cases = [bad(cite(quoted(other, spot, chance), spot.marker, chance), spot.marker, kinds)]
      if (isProse(spot)) cases.push(bad(cite(other, spot.marker, chance), spot.marker, statementKinds))
      return cases
    })
}

function harmless(change: Change): Maker {
  return (spot, chance) =>
    spot.sentences.flatMap((sentence) => {
      const other = change(sentence, spot, chance)
      return other === undefined || other === sentence
        ? []
        : [
            good(cite(quoted(other, spot, chance), spot.marker, chance), spot.marker, ['verbatim']),
            ...(isProse(spot) ? [good(cite(other, spot.marker, chance), spot.marker, ['verbatim', 'paraphrase'])] : []),
          ]
    })
}

const words = (sentence: string): string[] => sentence.split(' ')

const otherNumber = (sentence: string, chance: Chance): string | undefined => {
  const numbers = [...sentence.matchAll(/\d+/g)]
  if (numbers.length === 0) return undefined
  const { index, 0: number } = pick(numbers, chance)
  const digit = Math.floor(chance() * number.length)
  const changedDigit = (Number(number[digit]) + 1 + Math.floor(chance() * 8)) % 10
  const other = `${number.slice(0, digit)}${digit === 0 && changedDigit === 0 ? 7 : changedDigit}${number.slice(digit + 1)}`
  return other === number ? undefined : sentence.slice(0, index) + other + sentence.slice(index + number.length)
}

const NEGATE: Readonly<Record<string, readonly [RegExp, string][]>> = {
  en: [
    [/\b(did|is|was|must|may|are|has|have|does) not\b/, '$1'],
    [/\bDo not open\b/, 'Open'],
    [/\bnever repaired\b/, 'repaired'],
    [/\b(was|is|were|are|must|may|has)\b(?! not)/, '$1 not'],
    [/^No grain was\b/, 'Grain was'],
    [/^Neither group showed\b/, 'Each group showed'],
  ],
  de: [
    [/ nicht\b/, ''],
    [/\bkeine\b/, 'immer'],
    [/\b(wurde|hat|kostet|besteht|konnte|geht)\b/, '$1 nicht'],
  ],
  fr: [
    [/ n’(habite) plus/, ' $1'],
    [/ n’a pas /, ' a '],
    [/\ba été\b/, 'n’a pas été'],
    [/\b(sont)\b/, 'ne $1 pas'],
  ],
  es: [
    [/ no se /, ' se '],
    [/^Ningún menor/, 'Todo menor'],
    [/\b(guarda|termina|donó)\b/, 'no $1'],
  ],
  zh: [
    [/不能/, '能'],
    [/没有/, ''],
    [/可以/, '不可以'],
    [/免费/, '不免费'],
    [/建于/, '没有建于'],
  ],
  code: [
    [/!/, ''],
    [/\bnot /, ''],
    [/===/, '!=='],
    [/>=/, '<'],
  ],
}

const negated: Change = (sentence, { document }, chance) => {
  const fitting = (NEGATE[document.language] ?? []).filter(([pattern]) => pattern.test(sentence))
  if (fitting.length === 0) return undefined
  const [pattern, other] = pick(fitting, chance)
  return sentence.replace(pattern, other)
}

const STRANGE: Readonly<Record<string, readonly string[]>> = {
  en: ['velvet', 'harbour', 'seldom', 'purple', 'borrowed'],
  de: ['Samt', 'geliehen', 'selten', 'Hafenbecken'],
  fr: ['velours', 'emprunté', 'rarement', 'fougère'],
  es: ['terciopelo', 'prestado', 'rara', 'helecho'],
  zh: ['丝绒', '港口', '紫色'],
  code: ['foo', 'velvet'],
}

/** A word of some length becomes another one. */
const otherWord: Change = (sentence, { document }, chance) => {
  const strange = pick(STRANGE[document.language] ?? ['velvet'], chance)
  if (document.language === 'zh') {
    const at = 2 + Math.floor(chance() * Math.max(1, sentence.length - 6))
    return /^\p{sc=Han}{2}/u.test(sentence.slice(at)) ? sentence.slice(0, at) + strange + sentence.slice(at + 2) : undefined
  }
  const all = [...sentence.matchAll(/\p{L}{5,}/gu)].filter(({ index }) => index > 0)
  if (all.length === 0) return undefined
  const { index, 0: word } = pick(all, chance)
  return sentence.slice(0, index) + strange + sentence.slice(index + word.length)
}

const NAMES = ['Tobias', 'Wilhelmina', 'Okonkwo', 'Zafira']
const otherName: Change = (sentence, spot, chance) => {
  if (!isSpaced(spot)) return undefined
  const names = [
    ...sentence.matchAll(
      /(?<=\s)(?:Ida|Marsh|Peter|Ludbury|Hedwig|Brandt|Graz|Norland|Amara|Oyelaran|Wexley|Emil|Fuchs|Sonnfeld|Bern|Louis|Perrec|Kerouan|Inés|Carvajal|Almenara|Lindenau)/g,
    ),
  ]
  if (names.length === 0) return undefined
  const { index, 0: name } = pick(names, chance)
  return sentence.slice(0, index) + pick(NAMES, chance) + sentence.slice(index + name.length)
}

const addedWord: Change = (sentence, spot, chance) => {
  if (!isSpaced(spot)) return undefined
  const list = words(sentence)
  if (list.length < 5) return undefined
  const at = 2 + Math.floor(chance() * (list.length - 3))
  return [...list.slice(0, at), pick(STRANGE[spot.document.language] ?? [], chance), ...list.slice(at)].join(' ')
}

const CLASSES: Readonly<Record<string, Maker>> = {
  verbatim: (spot, chance) =>
    spot.sentences.flatMap((sentence) => [
      good(cite(quoted(sentence, spot, chance), spot.marker, chance), spot.marker, ['verbatim']),
      ...(isProse(spot) ? [good(cite(sentence, spot.marker, chance), spot.marker, ['verbatim'])] : []),
    ]),
  'part of a sentence': (spot, chance) =>
    spot.sentences.flatMap((sentence) => {
      if (!isSpaced(spot)) return []
      const list = words(sentence)
      if (list.length < 7) return []
      const from = Math.floor(chance() * (list.length - 5))
      const part = list
        .slice(from, from + 5)
        .join(' ')
        .replace(/[,;.]$/, '')
      return [good(`"${part}" [${spot.marker}]`, spot.marker, ['verbatim'])]
    }),
  'two sentences': (spot, chance) =>
    spot.sentences.slice(1).flatMap((sentence, index) => {
      if (!isProse(spot)) return []
      const both = `${spot.sentences[index] ?? ''}${isSpaced(spot) ? ' ' : ''}${sentence}`
      return [
        good(cite(both, spot.marker, chance), spot.marker, ['verbatim']),
        good(`“${both}” [${spot.marker}]`, spot.marker, ['verbatim']),
      ]
    }),
  'white space': harmless((sentence, spot, chance) =>
    isSpaced(spot)
      ? words(sentence)
          .map((word) => word + (chance() < 0.2 ? '\n' : chance() < 0.2 ? '  ' : chance() < 0.1 ? '\u00a0' : ' '))
          .join('')
          .trim()
      : undefined,
  ),
  typography: harmless((sentence) =>
    sentence
      .replaceAll('’', "'")
      .replaceAll('°C', '° C')
      .replaceAll(/(\p{L})-(\p{L})/gu, '$1\u2011$2')
      .replaceAll('; ', '—'),
  ),
  'hyphens at line ends': harmless((sentence, spot, chance) => {
    if (!isSpaced(spot)) return undefined
    const long = [...sentence.matchAll(/\p{Ll}{8,}/gu)]
    if (long.length === 0) return undefined
    const { index } = pick(long, chance)
    return `${sentence.slice(0, index + 4)}-\n${sentence.slice(index + 4)}`
  }),
  ligatures: harmless((sentence) =>
    sentence.replaceAll('ffi', 'ﬃ').replaceAll('fi', 'ﬁ').replaceAll('fl', 'ﬂ').replaceAll('ff', 'ﬀ'),
  ),
  'case at the beginning': harmless((sentence, spot) =>
    isSpaced(spot) ? sentence.charAt(0).toLowerCase() + sentence.slice(1) : undefined,
  ),
  emphasis: harmless((sentence, spot, chance) => {
    if (!isSpaced(spot)) return undefined
    const list = words(sentence)
    const at = Math.floor(chance() * (list.length - 1))
    const mark = pick(['**', '*', '_', '__'], chance)
    return list.map((word, index) => (index === at ? `${mark}${word}${mark}` : word)).join(' ')
  }),
  elided: (spot, chance) =>
    spot.sentences.flatMap((sentence) => {
      if (!isSpaced(spot)) return []
      const list = words(sentence)
      if (list.length < 9) return []
      const from = 3 + Math.floor(chance() * (list.length - 8))
      const gap = list.slice(from, from + 2)
      if (gap.some((word) => /^(?:not|no|never|nicht|keine|pas|plus|n’|no)/i.test(word))) return []
      const mark = pick(['…', '...', '[...]', '[…]', '(…)'], chance)
      const text = [...list.slice(0, from), mark, ...list.slice(from + 2)].join(' ')
      return [good(cite(quoted(text, spot, chance), spot.marker, chance), spot.marker, ['elided'])]
    }),
  'elided over sentences': (spot, chance) => {
    const [first = '', , third] = spot.sentences
    if (!isSpaced(spot) || third === undefined) return []
    return [
      good(
        `“${words(first).slice(0, 6).join(' ')} ${pick(['…', '[...]'], chance)} ${words(third).slice(-4).join(' ')}” [${spot.marker}]`,
        spot.marker,
        ['elided'],
      ),
    ]
  },
  paraphrase: (spot, chance) =>
    paraphrasesOf(spot).map((text) => good(cite(text, spot.marker, chance), spot.marker, ['paraphrase', 'verbatim'])),

  'another number': changed((sentence, _spot, chance) => otherNumber(sentence, chance), ['edited'], ['edited', 'unfounded']),
  'another negation': changed(negated, ['edited'], ['edited', 'unfounded', 'stitched']),
  'another word': changed(otherWord, ['edited'], ['edited', 'unfounded']),
  'another name': changed(otherName, ['edited'], ['edited', 'unfounded']),
  'an added word': changed(addedWord, ['edited', 'stitched'], ['edited', 'unfounded']),
  stitched: (spot, chance) => {
    if (!isSpaced(spot)) return []
    return spot.sentences.slice(1).flatMap((sentence, index) => {
      const head = words(spot.sentences[index] ?? '')
      const tail = words(sentence)
      if (head.length < 8 || tail.length < 8) return []
      const text = [...head.slice(0, 4), ...tail.slice(-4)].join(' ')
      return [bad(cite(quoted(text, spot, chance), spot.marker, chance), spot.marker, ['stitched', 'edited'])]
    })
  },
  'stitched of two passages': (spot, chance) => {
    const [own = ''] = spot.sentences
    const other = spot.next.at(-1) ?? ''
    if (!isProse(spot)) return []
    const text = isSpaced(spot)
      ? [...words(own).slice(0, 5), ...words(other).slice(-5)].join(' ')
      : own.slice(0, 7) + other.slice(-7)
    return [
      bad(cite(quoted(text, spot, chance), spot.marker, chance), spot.marker, ['stitched', 'edited']),
      bad(`“${text.slice(0, text.length / 2)} … ${text.slice(text.length / 2)}” [${spot.marker}]`, spot.marker, [
        'stitched',
        'edited',
      ]),
    ]
  },
  'the passage beside it': (spot, chance) =>
    spot.next.flatMap((sentence) => [
      bad(cite(quoted(sentence, spot, chance), spot.marker, chance), spot.marker, ['shifted'], spot.neighbour),
      ...(isProse(spot) ? [bad(cite(sentence, spot.marker, chance), spot.marker, ['shifted'], spot.neighbour)] : []),
    ]),
  'markers that changed places': (spot) => {
    const [own = ''] = spot.sentences
    const [other = ''] = spot.next
    if (!isProse(spot)) return []
    return [bad(`${own} [${spot.foreign}] ${other} [${spot.marker}]`, spot.marker, ['shifted'], spot.neighbour)]
  },
  misattributed: (spot, chance) =>
    spot.sentences.flatMap((sentence) => [
      bad(cite(quoted(sentence, spot, chance), spot.foreign, chance), spot.foreign, ['misattributed'], spot.marker),
      ...(isProse(spot) ? [bad(cite(sentence, spot.foreign, chance), spot.foreign, ['misattributed'], spot.marker)] : []),
    ]),
  invented: (spot, chance) =>
    spot.document.inventions.flatMap((text) => [
      bad(cite(quoted(text, spot, chance), spot.marker, chance), spot.marker, ['invented']),
      ...(isProse(spot) ? [bad(cite(text, spot.marker, chance), spot.marker, ['unfounded'])] : []),
    ]),
  'own words for another passage': (spot, chance) =>
    paraphrasesOf(spot).map((text) => bad(cite(text, spot.foreign, chance), spot.foreign, ['misattributed'], spot.marker)),
  'own words with another number': (spot, chance) =>
    paraphrasesOf(spot).flatMap((text) => {
      const other = otherNumber(text, chance)
      return other === undefined ? [] : [bad(cite(other, spot.marker, chance), spot.marker, ['unfounded', 'edited'])]
    }),
  'own words with another negation': (spot, chance) =>
    paraphrasesOf(spot).flatMap((text) => {
      const other = negated(text, spot, chance)
      return other === undefined ? [] : [bad(cite(other, spot.marker, chance), spot.marker, ['unfounded', 'edited'])]
    }),
}
