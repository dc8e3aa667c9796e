/**
 * Reads the quantities of a text: numbers in digits or words, with scales, separators, units and rates.
 *
 * `17.79 million`, `17,786,419`, `zwölf Prozent`, `70 000`, `one-fifth of 1 MB`. Digits in a name (`MPEG-4`, `X.25`, `SHA256`) and numbers of list
 * items are not quantities.
 */

import { isPartOf, readDates } from './dates.ts'
import type { DateMention } from './dates.ts'
import type { Language } from './function-words.ts'
import { compoundNumber, hanNumber, numberWords, THAI_NUMBER, thaiNumber, UNSPACED_SCALES } from './number-words.ts'
import { unitAt, unitNamed } from './units.ts'
import type { Unit } from './units.ts'

export interface Quantity {
  /** UTF-16 offsets of the number, without scale and unit. */
  readonly start: number
  readonly end: number
  /** Possible values of the digits: `1.600` is 1600 or 1.6. */
  readonly values: readonly number[]
  /** The rounding unit: the number is a multiple of it. */
  readonly step: number
  readonly form: 'digits' | 'word' | 'ordinal'
  readonly unit?: Unit
  /** End of the unit, if it follows the number; for `5` in `5–10 years`, the end of `years`. */
  readonly unitEnd?: number
  /** The unit after `per`, `each` and the like. */
  readonly rate?: Unit
}

export interface Measured {
  readonly quantities: readonly Quantity[]
  readonly dates: readonly DateMention[]
  /** Units of measurement without a number: `in seconds`. */
  readonly unitWords: readonly UnitWord[]
}

export interface UnitWord {
  readonly start: number
  readonly end: number
  readonly unit: Unit
}

type Draft = { -readonly [Key in keyof Quantity]: Quantity[Key] }

const NUMBER_OR_WORD = new RegExp(
  String.raw`(?<digits>\p{Nd}{1,3}(?:[ \u00a0\u2009\u202f]\p{Nd}{3})+(?![\p{Nd}])|\p{Nd}+(?:[.,'’٫٬]\p{Nd}+)*)|(?<thai>${THAI_NUMBER})|(?<han>[〇零一二三四五六七八九十百千万亿两]+)|[^\P{L}\u3400-\u9fff](?:[^\P{L}\u3400-\u9fff]|\p{M})*`,
  'gu',
)
/** Prefixes of ordinals: `第`, `อันดับที่`. */
const ORDINAL_BEFORE = /(?:第|อันดับ(?:ที่)? ?|ครั้งที่ ?)$/u
/** Joins the words of a number: `twenty-one`, `ciento y dos`. */
const JOINS = /^(?:[ \u00a0-]{1,2}|[ \u00a0](?:and|und|y|et|e|en|и)[ \u00a0]|\s?و)$/u
/** Joins two numbers that share the unit of the second: `5–10 years`. */
const SHARES_UNIT = /^[ \u00a0]?(?:[-–—~…]|to|bis|a|à|al|y|and|und|et|e|en|or|oder|ou|o|до|и|إلى|至|到|和|或|与|ถึง)[ \u00a0]?$/u
/** Joins two numbers that form a ratio: `one in five`. Neither number alone states it. */
const RATIO = /^[ \u00a0]?(?:in|of|out of|of the|of every|de cada|von|der|sur|su|из|من)[ \u00a0]?$/u
const RATE =
  /(?:(?<!\p{L})(?:per|each|every|pro|je|jede[rns]?|por|cada|par|chaque|в|за|каждый|каждые)[ \u00a0]|(?<!\p{L})(?:an?|al)[ \u00a0](?=\p{L}+\s*(?:[.,;:)]|$))|\/[ \u00a0]?|每|ต่อ|لكل |كل )(\p{L}[\p{L}\p{M}]*)/gu
const PERCENT = /^ (?:per cent|por ciento|pour cent|per cento|por cento|на сто)(?!\p{L})/u
const UNIT_BEHIND = /^\.?[ \u00a0\n-]{0,2}([%％$€£¥×]|°\p{L}?|[A-Za-zµμÀ-ž]+|\p{L}[\p{L}\p{M}]*)/u
/** Most UTF-16 units between a number and its rate. */
const RATE_WITHIN = 80

/** @param text with code removed, unless code is to be read. */
export function readQuantities(text: string, language: Language): Measured {
  const words = numberWords(language)
  const dates = readDates(text)
  const found: Draft[] = []
  let nextDate = 0
  let open: { quantity: Draft; total: number; group: number; last: number } | undefined
  for (const match of text.matchAll(NUMBER_OR_WORD)) {
    const { index: start, 0: word } = match
    const end = start + word.length
    if (start < (found.at(-1)?.end ?? 0)) continue
    while ((dates[nextDate]?.end ?? Infinity) <= start) nextDate++
    const isDate = isPartOf(dates[nextDate], start, end)
    const { digits, han, thai } = match.groups ?? {}
    const previous: Draft | undefined = found.at(-1)
    const gap = previous === undefined ? undefined : text.slice(previous.end, Math.min(start, previous.end + 12))
    const isWord = digits === undefined && han === undefined && thai === undefined
    const known = isWord ? wordNumber(word, words, language) : undefined
    if (isWord && known === undefined) continue
    if (known !== undefined && open !== undefined && open.quantity === previous && gap !== undefined && JOINS.test(gap)) {
      const joined = join(open, known.value, known.role)
      if (joined) {
        open.quantity.end = end
        open.quantity.values = [open.total + open.group]
        open.quantity.step = stepOf(open.total + open.group)
        continue
      }
    }
    open = undefined
    if (digits !== undefined) {
      if (isDate || isName(text, start, end) || isListNumber(text, start, end)) continue
      const ordinal = /^(?:st|nd|rd|th|º|ª|er|ème|e)(?!\p{L})/u.exec(text.slice(end, end + 4))
      const scale = scaleAt(text, end, words)
      const values = valuesOf(digits).map((value) => value * scale.value)
      if (values.length === 0) continue
      const step = scale.value === 1 ? stepOf(values[0] ?? 0, digits) : scale.value / 10 ** decimalsOf(digits)
      const form = ordinal === null && !ORDINAL_BEFORE.test(text.slice(Math.max(0, start - 10), start)) ? 'digits' : 'ordinal'
      found.push({ start, end: scale.end, values, step, form })
    } else if (han !== undefined || thai !== undefined) {
      const value = han === undefined ? thaiNumber(word) : hanNumber(han)
      if (isDate || value === undefined || value < 2) continue
      found.push({
        start,
        end,
        values: [value],
        step: stepOf(value),
        form: ORDINAL_BEFORE.test(text.slice(Math.max(0, start - 10), start)) ? 'ordinal' : 'word',
      })
    } else if (known !== undefined && !isDate) {
      const { value, role } = known
      if (role === 'scale' && (language !== 'es' || word !== 'mil')) continue
      const quantity: Draft = { start, end, values: [value], step: stepOf(value), form: role === 'ordinal' ? 'ordinal' : 'word' }
      found.push(quantity)
      if (role !== 'ordinal')
        open = { quantity, total: role === 'scale' ? value : 0, group: role === 'scale' ? 0 : value, last: value }
    }
  }
  addUnits(text, found)
  addRates(text, found)
  return {
    quantities: found.filter((quantity, at) => {
      const before = found[at - 1]
      // Handles `300 por ciento`.
      const isInUnit = quantity.start < (before?.unitEnd ?? 0) && quantity.unitEnd !== before?.unitEnd
      return !isInUnit && !isRatio(text, found, quantity, at) && !isUnitWord(text, quantity)
    }),
    dates,
    unitWords: unitWordsIn(text),
  }
}

function wordNumber(
  word: string,
  words: ReadonlyMap<string, { value: number; role: 'add' | 'times' | 'scale' | 'ordinal' }>,
  language: Language,
): { value: number; role: 'add' | 'times' | 'scale' | 'ordinal' } | undefined {
  const lower = word.toLowerCase()
  const known = words.get(lower)
  if (known !== undefined) return known
  if (language === 'ar') return words.get(lower.replace(/^و?(?:ال|ب|ل)?/u, '').replace(/[ًٌٍَُِّْ]/gu, ''))
  if ((language === 'de' || language === 'nl') && word.length > 5) {
    const value = compoundNumber(lower, words)
    return value === undefined ? undefined : { value, role: 'add' }
  }
  return undefined
}

/** Adds a word to the number before it, if the two can form one number. */
function join(open: { total: number; group: number; last: number }, value: number, role: string): boolean {
  if (role === 'scale' && open.group + open.total > 0 && value > open.last % 1000) {
    open.total += Math.max(open.group, 1) * value
    open.group = 0
  } else if (role === 'times') open.group = Math.max(open.group, 1) * value
  else if (role === 'add' && open.last === 4 && value === 20) open.group += 76
  else if (role === 'add' && addsTo(open.last, value)) open.group += value
  else return false
  open.last = value
  return true
}

/** Reports whether a word may be added: `hundred two`, `twenty one`, `soixante dix`, `dix sept`. */
function addsTo(last: number, value: number): boolean {
  if (last >= 100) return value < last
  if (last >= 20) return value < 10 || ((last === 60 || last === 20) && value < 20)
  return last === 10 && value >= 7 && value < 10
}

/** Reports whether digits are part of an identifier or name. */
function isName(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 2), start)
  if (/[A-Za-zÀ-ž\u0400-\u04ff_@]$/.test(before) || /[A-Za-z\u3400-\u9fff][-.‐‑/]$/.test(before)) return true
  // `100kb`, `5th`, `2.1x`, `1990s` are numbers; `2A`, `3D` are names.
  const word = /^[A-Za-z_µ]+/.exec(text.slice(end, end + 14))?.[0]
  return word !== undefined && unitNamed(word) === undefined && !/^(?:st|nd|rd|th|x|s|k|m|mn|bn|er|e)$/i.test(word)
}

/** Reports whether digits number a list item: `3. ` at the start of a line. */
function isListNumber(text: string, start: number, end: number): boolean {
  return /^[.)][ \t]/.test(text.slice(end, end + 2)) && /(?:^|\n)[ \t>]*$/.test(text.slice(Math.max(0, start - 12), start))
}

const ZERO_DIGITS = [0x30, 0x660, 0x6f0, 0x966, 0xe50, 0xff10]

function asciiDigits(text: string): string {
  return text.replace(/[^ -~]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    const zero = ZERO_DIGITS.findLast((first) => first <= code)
    if (zero !== undefined && code < zero + 10) return String(code - zero)
    return character === '٫' ? '.' : character === '٬' || character === '’' ? "'" : ' '
  })
}

/** Returns the possible values of digits with separators. Several dots that do not group thousands form a version, which has no value. */
function valuesOf(text: string): number[] {
  const digits = asciiDigits(text).replaceAll(/[ ']/g, '')
  const separators = digits.replaceAll(/\d/g, '')
  if (separators === '') return digits.length > 15 ? [] : [Number(digits)]
  const last = separators.at(-1) ?? ''
  const first = separators[0] ?? ''
  const groups = digits.split(/[.,]/)
  const areThousands = (parts: readonly string[]): boolean =>
    (parts[0]?.length ?? 4) <= 3 && parts[0] !== '0' && parts.slice(1).every((part) => part.length === 3)
  if (separators.length > 1) {
    if ([...separators].every((separator) => separator === first)) return areThousands(groups) ? [Number(groups.join(''))] : []
    // In `1.234.567,8` the last separator is the decimal point.
    const whole = groups.slice(0, -1)
    if (separators.slice(0, -1).includes(last) || !areThousands(whole)) return []
    return [Number(`${whole.join('')}.${groups.at(-1)}`)]
  }
  const decimal = Number(groups.join('.'))
  return areThousands(groups) ? [Number(groups.join('')), decimal] : [decimal]
}

function decimalsOf(text: string): number {
  const digits = asciiDigits(text)
  return /[.,](\d+)$/.exec(digits)?.[1]?.length ?? 0
}

/** Large numbers that end in zeros count as rounded, except numbers that may be a year. */
function stepOf(value: number, digits = ''): number {
  if (!Number.isInteger(value)) return 10 ** -Math.max(1, decimalsOf(digits))
  if (value < 1000 || (value >= 1000 && value < 2200 && !/[.,' ]/.test(digits))) return 1
  let step = 1
  while (value % (step * 10) === 0) step *= 10
  return step
}

function scaleAt(
  text: string,
  end: number,
  words: ReadonlyMap<string, { value: number; role: string }>,
): { readonly value: number; readonly end: number } {
  const [, space = '', word = ''] = /^([ \u00a0-]?)(\p{L}+)\.?/u.exec(text.slice(end, end + 16)) ?? []
  const known = words.get(word.toLowerCase())
  if (known !== undefined && (known.role === 'scale' || known.role === 'times'))
    return { value: known.value, end: end + space.length + word.length }
  let at = end + space.length
  let value = 1
  for (;;) {
    const [name, scale] = Object.entries(UNSPACED_SCALES).find(([scaleName]) => text.startsWith(scaleName, at)) ?? []
    if (name === undefined || scale === undefined) break
    value *= scale
    at += name.length
  }
  return { value, end: value === 1 ? end : at }
}

function addUnits(text: string, all: readonly Draft[]): void {
  for (let at = all.length - 1; at >= 0; at--) {
    const quantity = all[at]
    if (quantity === undefined || quantity.form === 'ordinal') continue
    const after = text.slice(quantity.end, quantity.end + 24)
    const [found = '', word = ''] = UNIT_BEHIND.exec(after) ?? []
    const before = /([$€£¥])[ \u00a0]?$/.exec(text.slice(Math.max(0, quantity.start - 2), quantity.start))?.[1]
    const percent = PERCENT.exec(after)?.[0]
    const unspaced = unspacedUnit(text, quantity.end)
    const behind =
      percent !== undefined
        ? unitNamed('%')
        : /^[x×](?!\p{L})/u.test(after)
          ? unitNamed('times')
          : (unitNamed(word) ?? unspaced?.unit)
    const unit = before === undefined ? behind : unitNamed(before)
    if (unit !== undefined) {
      // `1969年` and `1970s` name years: they measure neither years nor seconds.
      const [value = 0] = quantity.values
      if (
        value >= 1000 &&
        ((unit.name === 'year' && after.startsWith('年')) ||
          (unit.name === 'second' && /^s(?!\p{L})/u.test(after) && value < 2200))
      )
        continue
      quantity.unit = unit
      if (before === undefined)
        quantity.unitEnd =
          quantity.end + (percent ?? (unitNamed(word) === undefined ? after.slice(0, unspaced?.length ?? 1) : found)).length
      continue
    }
    const next = all[at + 1]
    if (next?.unit !== undefined && SHARES_UNIT.test(text.slice(quantity.end, next.start))) {
      quantity.unit = next.unit
      if (next.unitEnd !== undefined) quantity.unitEnd = next.unitEnd
    }
  }
}

/** Returns the unit after digits in a script without spaces. */
function unspacedUnit(text: string, end: number): { readonly unit: Unit; readonly length: number } | undefined {
  const space = /^[ \u00a0]/.test(text.slice(end, end + 1)) ? 1 : 0
  const found = /^[\u0e00-\u0e7f\u3040-\u9fff]/.test(text.slice(end + space, end + space + 1))
    ? unitAt(text, end + space)
    : undefined
  return found === undefined ? undefined : { unit: found.unit, length: found.length + space }
}

function addRates(text: string, found: readonly Draft[]): void {
  let next = 0
  for (const match of text.matchAll(RATE)) {
    const rate = unitNamed(match[1] ?? '')
    if (rate?.family !== 'time') continue
    while ((found[next + 1]?.start ?? Infinity) < match.index) next++
    const quantity = found[next]
    if (quantity === undefined || quantity.start > match.index || match.index - quantity.end > RATE_WITHIN) continue
    if (/[.!?;。]\s/.test(text.slice(quantity.end, match.index))) continue
    if (quantity.unit?.name !== rate.name) quantity.rate = rate
  }
}

/** Excludes the word in `per second` from the ordinals. */
function isUnitWord(text: string, { start, end, form }: Draft): boolean {
  return (
    form === 'ordinal' &&
    unitNamed(text.slice(start, end)) !== undefined &&
    /(?:per|each|every|pro|por|par|cada|a)[ \u00a0]$/.test(text.slice(Math.max(0, start - 6), start))
  )
}

function isRatio(text: string, found: readonly Draft[], { start, end }: Draft, at: number): boolean {
  const [before, after] = [found[at - 1], found[at + 1]]
  const parts = (from: number, to: number): boolean => to - from < 12 && RATIO.test(text.slice(from, to))
  return (before !== undefined && parts(before.end, start)) || (after !== undefined && parts(end, after.start))
}

const MEASURED_IN = /(?<!\p{L})(?:in|en|em|à|в|as|als) (\p{L}{3,})(?!\p{L})/giu

function unitWordsIn(text: string): UnitWord[] {
  return Array.from(text.matchAll(MEASURED_IN)).flatMap(({ index, 0: { length }, 1: word = '' }) => {
    const unit = unitNamed(word)
    return unit === undefined ? [] : [{ start: index + length - word.length, end: index + length, unit }]
  })
}

/** Words before an approximate number, and before a count of items already mentioned. */
export const NEARLY: RegExp =
  /(?:about|around|nearly|almost|roughly|approximately|some|circa|ca\.|close to|etwa|rund|fast|knapp|gut|ungefähr|unos|unas|casi|cerca de|alrededor de|aproximadamente|environ|presque|près de|около|почти|примерно|约|大约|近|ประมาณ|เกือบ|حوالي|نحو|قرابة)[ \u00a0]?$/iu
export const COUNTED_BEFORE: RegExp =
  /(?:these|those|the other|the remaining|the last|the first|both|diese[rnm]?|die anderen|estos|estas|los otros|las otras|ces|эти|этих|这)[ \u00a0]?$/iu

/** Returns the tolerance of an approximate number: half a unit of its only nonzero digit, else a twentieth. */
export function halfStep(value: number): number {
  const magnitude = 10 ** Math.floor(Math.log10(Math.max(1, value)))
  return value % magnitude === 0 ? magnitude / 2 : value / 20
}
