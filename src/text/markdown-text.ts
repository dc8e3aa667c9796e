/** Converts Markdown to its visible text, and code to Markdown. Separate from the blocks, which every program loads. */

const NOISE =
  /<!--[^]*?(?:-->|$)|!\[[^\]\n]{0,200}\]\([^)\n]{0,500}\)|<\/?[a-zA-Z][^<>\n]{0,300}>|^\s*(?:!!!|\?\?\?\+?)\s*\w+\s*(?:"[^"\n]*")?|^\s*:{3,}\s*(?:\{[^}\n]*\})?[^\n]*$|^\s*\([\w-]+\)=\s*$|\{(?::[^}\n]{1,200}|\s*[.#][\w-]+[^}\n]{0,200})\}|\[![A-Z]+\]|!\[[^\]\n]{0,200}\]\[[^\]\n]{0,200}\]|(?<!\])\[\s*\](?:\([^)\n]{0,500}\))|\[\^[\w-]{1,40}\](?!:)/gm
/** Roles before code: `{func}`echo`` of MyST, `:func:`echo`` of reStructuredText. */
const ROLE = /(?:\{[\w:.-]{1,40}\}|:[\w:.-]{1,40}:)$/
const TAB = /^\s*===\+?\s*"([^"\n]*)"/gm
const RELATIVE_LINK = /(?<!!)\[((?:[^[\]\n]|\[[^[\]\n]*\]){1,300})\](?:\((?!https?:)[^)\n]{0,500}\)|\[[^\]\n]{0,200}\])/g
/** Text that would be read as one of cria's citation markers. */
const MARKER = /\[(?=\d{1,4}(?:\s*[,;]\s*\d{1,4})*\])/g
const QUOTE_SIGN = /^[ \t]*>[ \t]?/gm
const CODE = /(`+)(?:(?!\1)[^])+?\1/g

/** Returns the visible text: without comments, tags, images, roles and relative link targets. Words and code stay. */
export function withoutMarkup(text: string): string {
  const linked = text.replaceAll(QUOTE_SIGN, '').replaceAll(RELATIVE_LINK, '$1')
  let shown = ''
  let at = 0
  for (const code of linked.matchAll(CODE)) {
    shown += plain(linked.slice(at, code.index)).replace(ROLE, '') + code[0]
    at = code.index + code[0].length
  }
  return shown + plain(linked.slice(at))
}

function plain(text: string): string {
  return text.replaceAll(NOISE, '').replaceAll(TAB, '**$1**').replaceAll(MARKER, '\\[')
}

/** Wraps code in a fence that is longer than any inside it. */
export function fenced(code: string, language: string): string {
  const longest = code.match(/`{3,}/g)?.reduce((most, ticks) => Math.max(most, ticks.length), 2) ?? 2
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${code}\n${fence}`
}
