/** Markdown as a reader sees it: what is there for programs and for the eye is left out. */

const NOISE =
  /<!--[^]*?(?:-->|$)|!\[[^\]\n]{0,200}\]\([^)\n]{0,500}\)|<\/?[a-zA-Z][^<>\n]{0,300}>|^\s*(?:!!!|\?\?\?\+?)\s*\w+\s*(?:"[^"\n]*")?|^\s*:{3,}\s*(?:\{[^}\n]*\})?[^\n]*$|^\s*\([\w-]+\)=\s*$|\{(?::[^}\n]{1,200}|\s*[.#][\w-]+[^}\n]{0,200})\}|\[![A-Z]+\]|!\[[^\]\n]{0,200}\]\[[^\]\n]{0,200}\]|(?<!\])\[\s*\](?:\([^)\n]{0,500}\))|\[\^[\w-]{1,40}\](?!:)/gm
/** `{func}`echo`` of MyST, `:func:`echo`` of reStructuredText: the role before the code. */
const ROLE = /(?:\{[\w:.-]{1,40}\}|:[\w:.-]{1,40}:)$/
const TAB = /^\s*===\+?\s*"([^"\n]*)"/gm
const RELATIVE_LINK = /(?<!!)\[((?:[^[\]\n]|\[[^[\]\n]*\]){1,300})\](?:\((?!https?:)[^)\n]{0,500}\)|\[[^\]\n]{0,200}\])/g
/** Text that would read as a marker of ours. */
const MARKER = /\[(?=\d{1,4}(?:\s*[,;]\s*\d{1,4})*\])/g
const QUOTE_SIGN = /^[ \t]*>[ \t]?/gm
const CODE = /(`+)(?:(?!\1)[^])+?\1/g

/** A text as a reader sees it: no comments, tags, images, roles and links that lead nowhere. Its words stay, and so does code. */
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
