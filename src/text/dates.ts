/** Reads the dates of a text: `8 October 2015`, `12. Mai 1705`, `10/6/1973`, `1971年12月`, `2020-02-29`. */

export interface DateMention {
  readonly start: number
  readonly end: number
  readonly year?: number
  /** 1 to 12. */
  readonly month?: number
  readonly day?: number
  /** True if day and month may be swapped: `8/10/2015`. */
  readonly ambiguous?: true
}

const MONTHS = [
  'january jan januar jänner janvier enero gennaio janeiro januari января январь январе يناير มกราคม',
  'february feb februar février febrero febbraio fevereiro februari февраля февраль феврале فبراير กุมภาพันธ์',
  'march mar märz mars marzo março maart марта март марте مارس มีนาคม',
  'april apr avril abril aprile апреля апрель апреле أبريل เมษายน',
  'may mai mayo maggio maio mei мая май мае مايو พฤษภาคม',
  'june jun juni juin junio giugno junho июня июнь июне يونيو มิถุนายน',
  'july jul juli juillet julio luglio julho июля июль июле يوليو กรกฎาคม',
  'august aug août agosto augustus августа август августе أغسطس สิงหาคม',
  'september sep sept septembre septiembre settembre setembro сентября сентябрь сентябре سبتمبر กันยายน',
  'october oct oktober okt octobre octubre ottobre outubro октября октябрь октябре أكتوبر ตุลาคม',
  'november nov novembre noviembre novembro ноября ноябрь ноябре نوفمبر พฤศจิกายน',
  'december dec dezember dez décembre diciembre dicembre dezembro декабря декабрь декабре ديسمبر ธันวาคม',
]
let monthOf: Map<string, number> | undefined

const DAY = String.raw`(?<!\p{Nd})\p{Nd}{1,2}(?:st|nd|rd|th|er|º)?`
const YEAR = String.raw`[12]\p{Nd}{3}(?!\p{Nd})`
const OF = String.raw`[.,]?[ \u00a0]{1,2}(?:(?:of|de|del|d[ei]|the)[ \u00a0])?`
let pattern: RegExp | undefined

/** Returns dates in text order. A lone year is a number, not a date; a lone month name may be a word: `may`, `mars`. */
export function readDates(text: string): DateMention[] {
  monthOf ??= new Map(MONTHS.flatMap((names, index) => names.split(' ').map((name): [string, number] => [name, index + 1])))
  pattern ??= new RegExp(
    [
      String.raw`(?<!\p{Nd})(?<y1>[12]\p{Nd}{3})-(?<m1>\p{Nd}{2})-(?<d1>\p{Nd}{2})(?!\p{Nd})`,
      String.raw`(?<!\p{Nd})(?<a>\p{Nd}{1,2})[./-](?<b>\p{Nd}{1,2})[./-](?<y2>${YEAR})`,
      String.raw`(?:(?<y3>[12]\p{Nd}{3})[ ]?年[ ]?)?(?<m3>\p{Nd}{1,2})[ ]?月(?:[ ]?(?<d3>\p{Nd}{1,2})[ ]?日)?`,
      String.raw`(?:(?<d4>${DAY})${OF})?(?<name>${[...monthOf.keys()].sort((x, y) => y.length - x.length).join('|')})(?!\p{L})(?:(?:\.?[ \u00a0](?:the )?)(?<d5>\p{Nd}{1,2}(?:st|nd|rd|th)?)(?![\p{Nd}.]\p{Nd}|\p{Nd}|[ \u00a0][\p{Lu}])(?=,?[ \u00a0]|[^\p{Nd}]|$))?(?:(?:,|${OF}|[ \u00a0])[ \u00a0]?(?<y5>${YEAR}))?`,
    ].join('|'),
    'giu',
  )
  const dates: DateMention[] = []
  for (const { index: start, 0: match, groups = {} } of text.matchAll(pattern)) {
    const name = groups['name']
    if (name !== undefined && /\p{L}/u.test(text[start + match.indexOf(name) - 1] ?? '')) continue
    const [year, day] = [
      groups['y1'] ?? groups['y2'] ?? groups['y3'] ?? groups['y5'],
      groups['d1'] ?? groups['d3'] ?? groups['d4'] ?? groups['d5'],
    ]
    let month = name === undefined ? number(groups['m1'] ?? groups['m3']) : monthOf.get(name.toLowerCase())
    let dayNumber = number(day)
    let ambiguous = false
    const [a, b] = [number(groups['a']), number(groups['b'])]
    if (a !== undefined && b !== undefined) {
      ;[dayNumber, month] = b > 12 ? [b, a] : [a, b]
      ambiguous = a <= 12 && b <= 12 && a !== b
    }
    if (month === undefined || month < 1 || month > 12 || (dayNumber ?? 1) > 31 || (dayNumber ?? 1) < 1) continue
    dates.push({
      start,
      end: start + match.length,
      month,
      ...(year === undefined ? {} : { year: Number(ascii(year)) }),
      ...(dayNumber === undefined ? {} : { day: dayNumber }),
      ...(ambiguous ? { ambiguous } : {}),
    })
  }
  return dates
}

function number(digits: string | undefined): number | undefined {
  const value = digits === undefined ? Number.NaN : Number.parseInt(ascii(digits), 10)
  return Number.isNaN(value) ? undefined : value
}

function ascii(digits: string): string {
  return digits.replace(/[\u0660-\u0669\u0e50-\u0e59]/g, (digit) => String(((digit.codePointAt(0) ?? 0) % 16) % 10))
}

/** Reports whether a number is part of a date. */
export function isPartOf(date: DateMention | undefined, start: number, end: number): boolean {
  return date !== undefined && start >= date.start && end <= date.end
}

/** Reports whether two dates can be the same day, month or year, comparing only the fields that both have. */
export function agree(one: DateMention, other: DateMention): boolean {
  if (one.year !== undefined && other.year !== undefined && one.year !== other.year) return false
  const same = (x: number | undefined, y: number | undefined): boolean => x === undefined || y === undefined || x === y
  if (same(one.month, other.month) && same(one.day, other.day)) return true
  return (one.ambiguous === true || other.ambiguous === true) && same(one.month, other.day) && same(one.day, other.month)
}
