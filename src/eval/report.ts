/** Writes a comparison as Markdown, or as one HTML file. Text of a collection is escaped in both. */

import type { Comparison, Failure } from './comparison.ts'

const SHOWN_FAILURES = 100
const LONGEST_TEXT = 300

/** Returns the table of measures as rows of text, head first. */
function measureRows({ measures }: Comparison): readonly (readonly string[])[] {
  const rows = measures.map((one) => [
    one.measure,
    fixed(one.baseline),
    fixed(one.system),
    signed(one.difference),
    `${signed(one.interval[0])} to ${signed(one.interval[1])}`,
    p(one.pRandomization),
    p(one.pAdjusted),
    p(one.pT),
    `${one.wins} / ${one.losses} / ${one.ties}`,
  ])
  return [
    ['measure', 'baseline', 'system', 'difference', '95 % interval', 'p', 'p (Holm)', 'p (t-test)', 'won / lost / even'],
    ...rows,
  ]
}

export function comparisonMarkdown(comparison: Comparison): string {
  const { collection, names, questions, failures } = comparison
  const [head = '', ...rows] = measureRows(comparison).map((cells) => `| ${cells.join(' | ')} |`)
  const failed = failures.slice(0, SHOWN_FAILURES).map((failure) => {
    const line = (label: string, values: readonly string[]): string =>
      `   - ${label}: ${values.length === 0 ? 'nothing' : values.map(markdownText).join(' · ')}`
    return `1. **${markdownText(failure.id)}** ${markdownText(failure.question)} (${change(failure)})\n${line('expected', failure.expected)}\n${line('found', failure.found)}`
  })
  return `# ${markdownText(collection)}: ${markdownText(names[1])} against ${markdownText(names[0])}

${questions} questions. Differences are system − baseline. ${METHOD}

${[head, head.replaceAll(/[^|]+/g, '---'), ...rows].join('\n')}

## Questions that fail

${failed.length === 0 ? 'None.' : failed.join('\n')}
${more(failures)}`
}

const METHOD =
  'p is that of a paired randomisation test with 10,000 draws and a fixed seed, two-sided; Holm’s correction is over all measures of the table; the interval is a percentile bootstrap.'

function more(failures: readonly Failure[]): string {
  return failures.length > SHOWN_FAILURES ? `\n${failures.length - SHOWN_FAILURES} more are in the JSON.\n` : ''
}

/** Returns one HTML file without scripts or links; it loads nothing. */
export function comparisonHtml(comparison: Comparison): string {
  const { collection, names, questions, failures } = comparison
  const title = `${collection}: ${names[1]} against ${names[0]}`
  const list = (values: readonly string[]): string =>
    values.length === 0 ? 'nothing' : `<ol>${values.map((value) => `<li>${htmlText(value)}</li>`).join('')}</ol>`
  const failed = failures
    .slice(0, SHOWN_FAILURES)
    .map((failure) => [
      htmlText(failure.id),
      htmlText(failure.question),
      htmlText(change(failure)),
      list(failure.expected),
      list(failure.found),
    ])
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>${htmlText(title)}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
table { border-collapse: collapse } td, th { padding: .2rem .7rem; border-bottom: 1px solid #ccc; text-align: left; vertical-align: top }
svg { max-width: 100%; height: auto } ol { margin: 0; padding-left: 1.2rem } td { overflow-wrap: anywhere }
</style>
</head>
<body>
<h1>${htmlText(title)}</h1>
<p>${questions} questions. Differences are system − baseline. ${htmlText(METHOD)}</p>
${htmlTable(measureRows(comparison).map((cells) => cells.map(htmlText)))}
<h2>Differences and their 95 % intervals</h2>
${intervalPlot(comparison)}
<h2>Difference of each question, largest first</h2>
${differencePlot(comparison)}
<h2>Questions that fail</h2>
${failed.length === 0 ? '<p>None.</p>' : htmlTable([['question', 'text', 'baseline → system', 'expected', 'found instead'], ...failed])}
<p>${htmlText(more(failures).trim())}</p>
</body>
</html>
`
}

/** @param rows cells as HTML; the first row is the table head. */
function htmlTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[], tag: 'td' | 'th'): string =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`
  return `<table>\n${[row(head, 'th'), ...rows.map((cells) => row(cells, 'td'))].join('\n')}\n</table>`
}

const WIDTH = 720
const LABELS = 110
const ROW = 28

/** Draws a line per measure, from one end of its interval to the other. */
function intervalPlot({ measures }: Comparison): string {
  const most = Math.max(0.01, ...measures.flatMap(({ interval }) => interval.map(Math.abs))) * 1.05
  const x = (value: number): string => (LABELS + ((value + most) / (2 * most)) * (WIDTH - LABELS)).toFixed(1)
  const height = measures.length * ROW + 24
  const rows = measures.map(({ measure, difference, interval }, index) => {
    const y = index * ROW + 16
    return `<text x="0" y="${y + 4}">${htmlText(measure)}</text><line x1="${x(interval[0])}" x2="${x(interval[1])}" y1="${y}" y2="${y}" stroke="#36c" stroke-width="3"/><circle cx="${x(difference)}" cy="${y}" r="5" fill="#36c"/>`
  })
  return `<svg viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="Differences with intervals" font-size="13">
<line x1="${x(0)}" x2="${x(0)}" y1="0" y2="${height - 18}" stroke="#999"/>
${rows.join('\n')}
<text x="${x(-most / 1.05)}" y="${height - 3}">${signed(-most / 1.05)}</text><text x="${x(0)}" y="${height - 3}" text-anchor="middle">0</text><text x="${WIDTH}" y="${height - 3}" text-anchor="end">${signed(most / 1.05)}</text>
</svg>`
}

const HEIGHT = 200
/** Maximum number of bars; with more questions, each bar is the mean of neighbours. */
const BARS = 360

function differencePlot({ differences }: Comparison): string {
  const step = Math.max(1, Math.ceil(differences.length / BARS))
  const bars: number[] = []
  for (let at = 0; at < differences.length; at += step) {
    const group = differences.slice(at, at + step)
    bars.push(group.reduce((sum, { difference }) => sum + difference, 0) / group.length)
  }
  const width = WIDTH / Math.max(1, bars.length)
  const drawn = bars.map((value, index) => {
    const size = Math.abs(value) * (HEIGHT / 2)
    const y = value > 0 ? HEIGHT / 2 - size : HEIGHT / 2
    return `<rect x="${(index * width).toFixed(2)}" y="${y.toFixed(1)}" width="${Math.max(0.5, width * 0.9).toFixed(2)}" height="${size.toFixed(1)}" fill="${value > 0 ? '#283' : '#c33'}"/>`
  })
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="Difference of each question">
<line x1="0" x2="${WIDTH}" y1="${HEIGHT / 2}" y2="${HEIGHT / 2}" stroke="#999"/>
${drawn.join('\n')}
</svg>`
}

function change({ baseline, system }: Failure): string {
  return `${fixed(baseline)} → ${fixed(system)}`
}

function fixed(value: number): string {
  return value.toFixed(4)
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(4)}`
}

function p(value: number): string {
  return value < 0.001 ? '< .001' : value.toFixed(3)
}

/** Returns one line of plain text, without characters that hide or reorder others. */
function line(text: string): string {
  const plain = text
    .slice(0, LONGEST_TEXT * 4)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029\s]+/gu, ' ')
    .trim()
  return plain.length > LONGEST_TEXT ? `${plain.slice(0, LONGEST_TEXT).toWellFormed()}…` : plain
}

export function htmlText(text: string): string {
  return line(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

/** Escapes every character that could begin markup: Markdown also allows HTML and links bare addresses. */
export function markdownText(text: string): string {
  return line(text)
    .replaceAll(/[\\`*_{}[\]()#+!|~<>&$^=-]/g, (mark) =>
      mark === '<' ? '&lt;' : mark === '>' ? '&gt;' : mark === '&' ? '&amp;' : `\\${mark}`,
    )
    .replaceAll(/:(?=\/\/)|@|(?<=\bwww)\./gi, (mark) => `&#${mark.charCodeAt(0)};`)
}
