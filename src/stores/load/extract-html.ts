/** Converts HTML to the Markdown of its visible text. */

import { setImmediate } from 'node:timers/promises'
import type { BuiltinPlugins } from '@mdream/js'
import type { Extracted, Patience } from './unreadable.ts'
import { Unreadable } from './unreadable.ts'

/** Elements that are not content; the title is returned separately. Forms stay: some pages consist of one form. */
const LEFT_OUT =
  'title nav footer script style noscript template button input select textarea svg iframe object embed canvas video audio'.split(
    ' ',
  )
/** Inline images: megabytes without text. */
const DATA_URL = /\b(src|href|srcset)\s*=\s*(?:"data:[^"]*"|'data:[^']*')/gi
const CHARSET = /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w-]{2,40})/i
const CHARSET_WINDOW = 2048

const TITLE = /<title[^>]{0,200}>([^<]{1,1000})</i
const TITLE_WINDOW = 65_536
/** Block elements. White space beside them has no meaning in HTML, but makes the converter join paragraphs. */
const BLOCK = String.raw`<\/?(?:p|li|ul|ol|dl|dt|dd|div|section|article|blockquote|h[1-6]|table|thead|tbody|tr|td|th)\b`
const SPACE_BEFORE_BLOCK = new RegExp(String.raw`\s+(${BLOCK})?`, 'gi')
const SPACE_AFTER_BLOCK = new RegExp(String.raw`(${BLOCK}[^<>]*>)\s+`, 'gi')
/** Links and images without text. */
const NOTHING_SHOWN = /(?<!\\)!?\[\]\([^()\s]{0,2000}\)/g
const PLUGINS: BuiltinPlugins = {
  filter: { exclude: LEFT_OUT },
  tagOverrides: {
    dl: { spacing: [2, 2], enter: '', exit: '' },
    dt: { spacing: [1, 0], enter: '**', exit: '**' },
    dd: { spacing: [1, 0], enter: ': ', exit: '' },
  },
}

/** Characters converted per slice, about 30 ms of work. */
const SLICE = 65_536

/** @throws Unreadable after `timeout` milliseconds; the reason of the signal when it is aborted. */
export async function extractHtml(html: string, { timeout = Infinity, signal }: Partial<Patience> = {}): Promise<Extracted> {
  const { htmlToMarkdown, streamHtmlToMarkdown } = await import('@mdream/js')
  const trimmed = html
    .replaceAll(DATA_URL, '$1=""')
    .replaceAll(SPACE_BEFORE_BLOCK, (space, tag: string | undefined) => tag ?? space)
    .replaceAll(SPACE_AFTER_BLOCK, '$1')
  const deadline = performance.now() + timeout
  let size = SLICE
  let at = 0
  // Slices end before a tag, so that timers and signals run while a large page is converted. The converter keeps undecided input (text that no tag
  // has ended, an unclosed tag) and reads it again with the next slice. While it returns nothing, the slices grow; otherwise a page of only `<`
  // would take quadratic time.
  const slices = new ReadableStream<string>(
    {
      pull: async (controller) => {
        signal?.throwIfAborted()
        if (performance.now() > deadline) throw new Unreadable(`a page that takes longer than ${timeout / 1000} s to read`)
        if (at >= trimmed.length) return controller.close()
        const tag = trimmed.indexOf('<', at + size)
        const end = tag === -1 ? trimmed.length : tag
        controller.enqueue(trimmed.slice(at, end))
        at = end
        size *= 2
        await setImmediate()
      },
    },
    { highWaterMark: 0 },
  )
  let text = ''
  for await (const part of streamHtmlToMarkdown(slices, { plugins: PLUGINS })) {
    text += part
    size = SLICE
  }
  const marked = TITLE.exec(html.slice(0, TITLE_WINDOW))?.[1]
  const title = marked === undefined ? '' : htmlToMarkdown(marked, { format: 'text' }).replaceAll(/\s+/g, ' ').trim()
  return { text: text.replaceAll(NOTHING_SHOWN, '').trim(), ...(title === '' ? {} : { title }) }
}

/** Returns the encoding that a page declares, if `TextDecoder` supports it. */
export function declaredCharset(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, CHARSET_WINDOW))
  const label = CHARSET.exec(head)?.[1]
  if (label === undefined) return undefined
  try {
    const { encoding } = new TextDecoder(label)
    // A declaration that was readable as ASCII rules out UTF-16, whatever it says (HTML standard, 13.2.3.2).
    return encoding.startsWith('utf-16') ? undefined : encoding
  } catch {
    return undefined
  }
}
