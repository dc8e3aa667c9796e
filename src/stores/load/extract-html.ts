/** HTML as Markdown: what a reader of the page would read. */

import type { Extracted } from './extracted.ts'

/** Parts of a page that are about the page. Forms stay: some pages are one form. */
const LEFT_OUT =
  'nav footer script style noscript template button input select textarea svg iframe object embed canvas video audio'.split(' ')
/** Images inside the page are megabytes of nothing to read. */
const DATA_URL = /\b(src|href|srcset)\s*=\s*(?:"data:[^"]*"|'data:[^']*')/gi
const CHARSET = /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w-]{2,40})/i
const CHARSET_WINDOW = 2048

const TITLE = /<title[^>]{0,200}>([^<]{1,1000})</i
const TITLE_WINDOW = 65_536

export async function extractHtml(html: string): Promise<Extracted> {
  const { htmlToMarkdown } = await import('@mdream/js')
  const text = htmlToMarkdown(html.replaceAll(DATA_URL, '$1=""'), {
    plugins: {
      filter: { exclude: LEFT_OUT },
      tagOverrides: {
        dl: { spacing: [2, 2], enter: '', exit: '' },
        dt: { spacing: [1, 0], enter: '**', exit: '**' },
        dd: { spacing: [1, 0], enter: ': ', exit: '' },
      },
    },
    clean: { emptyLinks: true, emptyLinkText: true, emptyImages: true, selfLinkHeadings: true },
  })
  const marked = TITLE.exec(html.slice(0, TITLE_WINDOW))?.[1]
  const title = marked === undefined ? '' : htmlToMarkdown(marked, { format: 'text' }).replaceAll(/\s+/g, ' ').trim()
  return { text, ...(title === '' ? {} : { title }) }
}

/** The encoding that a page declares for itself, where it is one we know. */
export function declaredCharset(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, CHARSET_WINDOW))
  const label = CHARSET.exec(head)?.[1]
  if (label === undefined) return undefined
  try {
    const { encoding } = new TextDecoder(label)
    // A page whose declaration could be read as ASCII is not in UTF-16, whatever it says (HTML standard, 13.2.3.2).
    return encoding.startsWith('utf-16') ? undefined : encoding
  } catch {
    return undefined
  }
}
