/** Numbers that are written in different ways brought to one: `two`, `2` and `II`; `first` and `1st`; `1,600` and `1600`. */

const CARDINALS =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'.split(
    ' ',
  )
const TENS = 'thirty forty fifty sixty seventy eighty ninety'.split(' ')
const ORDINALS =
  'zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth'.split(
    ' ',
  )

const SPELLED: ReadonlyMap<string, string> = new Map([
  ...CARDINALS.map((word, value): [string, string] => [word, String(value)]),
  ...TENS.map((word, index): [string, string] => [word, String(30 + 10 * index)]),
  ...ORDINALS.map((word, value): [string, string] => [word, ordinal(value)]),
])

const ROMAN = /^x{0,3}(?:ix|iv|v?i{0,3})$/
const ROMAN_ABOVE_39 = /^(?:X[LC]|L?X{0,3})(?:IX|IV|V?I{0,3})$/
const ROMAN_VALUES: Readonly<Record<string, number>> = { i: 1, v: 5, x: 10, l: 50, c: 100 }

/** The common form of a number; `undefined` for a word that is none. Roman numerals above 39 must be written in capitals. */
export function numeral(run: string, lower: string): string | undefined {
  if (/^\p{N}/u.test(lower)) return lower.replaceAll(',', '')
  const spelled = SPELLED.get(lower)
  if (spelled !== undefined) return spelled
  return lower.length > 1 && (ROMAN.test(lower) || ROMAN_ABOVE_39.test(run)) ? String(romanValue(lower)) : undefined
}

function romanValue(lower: string): number {
  const values = [...lower].map((letter) => ROMAN_VALUES[letter] ?? 0)
  return values.reduce((sum, value, i) => sum + (value < (values[i + 1] ?? 0) ? -value : value), 0)
}

function ordinal(value: number): string {
  return `${value}${value === 1 ? 'st' : value === 2 ? 'nd' : value === 3 ? 'rd' : 'th'}`
}
