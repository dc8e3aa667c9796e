/**
 * Compiles patterns with Unicode classes, in a short form for Latin text.
 *
 * Unicode classes have hundreds of ranges, and compiling a class takes a millisecond: too slow for a process that answers a single
 * question. For Latin-1 text and general punctuation a few ranges are equivalent.
 */

const NOT_LATIN = /[^\0-\xff\u2000-\u206f]/

/** Members of a class (https://www.unicode.org/reports/tr44/) among the characters that `NOT_LATIN` does not match. */
const LATIN: Readonly<Record<string, string>> = {
  L: 'A-Za-zªµºÀ-ÖØ-öø-ÿ',
  Lu: 'A-ZÀ-ÖØ-Þ',
  Ll: 'a-zµß-öø-ÿ',
  Lt: '',
  Lm: '',
  Lo: 'ªº',
  M: '',
  N: '0-9²³¹¼½¾',
  P: String.raw`!-#%-*,-\/:;?@\[-\]_\{\}¡§«¶·»¿\u2010-\u2027\u2030-\u2043\u2045-\u2051\u2053-\u205e`,
  S: String.raw`$+<->\^\x60\|~¢-¦¨©¬®-±´¸×÷\u2044\u2052`,
  Sentence_Terminal: '!.?\u2024\u203c\u203d\u2047-\u2049',
}
const CLASS = /\\p\{(\w+)(=\w+)?\}/g

/**
 * Returns a function that returns the pattern to use for a text.
 *
 * @param source of a regular expression. It may use these classes, inside brackets only: `\p{L}`, `Lu`, `Ll`, `Lt`, `Lm`, `Lo`, `M`, `N`, `P`, `S`,
 *   `Sentence_Terminal`, and scripts other than Latin. Another class makes the returned function throw a TypeError for Latin text.
 */
export function patternFor(source: string, flags: 'u' | 'gu' | 'iu'): (text: string) => RegExp {
  let latin: RegExp | undefined
  let all: RegExp | undefined
  return (text) => {
    if (NOT_LATIN.test(text)) return (all ??= new RegExp(source, flags))
    return (latin ??= new RegExp(narrowed(source), flags))
  }
}

/** Compiles a pattern on first use, to save time in runs that do not need it. */
export function whenNeeded(make: () => RegExp): () => RegExp {
  let made: RegExp | undefined
  return () => (made ??= make())
}

function narrowed(source: string): string {
  return source.replaceAll(CLASS, (_, name: string, script?: string) => {
    const ranges = script === undefined ? LATIN[name] : script === '=Latin' ? undefined : ''
    if (ranges === undefined) throw new TypeError(`patternFor() does not know \\p{${name}${script ?? ''}}.`)
    return ranges
  })
}
