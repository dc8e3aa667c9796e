/** Finds a quotation in the text it is said to come from, forgiving only what typesetting changes. */

export interface Range {
  readonly start: number
  readonly end: number
}

const TYPOGRAPHY: Readonly<Record<string, string>> = {
  '‘': "'",
  '’': "'",
  '‚': "'",
  '“': '"',
  '”': '"',
  '„': '"',
  '«': '"',
  '»': '"',
  '‐': '-',
  '‑': '-',
  '–': '-',
  '—': '-',
  '−': '-',
  '\u00ad': '',
}

interface Folded {
  readonly text: string
  /** For each code unit of `text`, where it stood in the original. */
  readonly origin: readonly number[]
}

/** Runs of white space become one space, typographic quotes and dashes become plain, everything else stays. */
function fold(text: string): Folded {
  let folded = ''
  const origin: number[] = []
  for (let index = 0; index < text.length; index++) {
    const unit = text.charAt(index)
    const plain = /\s/.test(unit) ? ' ' : (TYPOGRAPHY[unit] ?? unit)
    if (plain === '' || (plain === ' ' && (folded === '' || folded.endsWith(' ')))) continue
    folded += plain
    origin.push(index)
  }
  return { text: folded, origin }
}

/** The first place where `quote` stands in `text`, word for word; `undefined` where it does not, or is empty. */
export function locate(quote: string, text: string): Range | undefined {
  const exact = quote === '' ? -1 : text.indexOf(quote)
  if (exact >= 0 && quote.trim() === quote) return { start: exact, end: exact + quote.length }
  const needle = fold(quote).text.trimEnd()
  if (needle === '') return undefined
  const hay = fold(text)
  const at = hay.text.indexOf(needle)
  const start = hay.origin[at]
  const last = hay.origin[at + needle.length - 1]
  return at < 0 || start === undefined || last === undefined ? undefined : { start, end: last + 1 }
}
