/** Reads Word documents as Markdown. */

import type { convertToHtml } from 'mammoth'
import { extractHtml } from './extract-html.ts'
import type { Extracted } from './unreadable.ts'
import { Unreadable } from './unreadable.ts'
import { unzip } from './zip.ts'

/** The parts that are read; pictures are not even unpacked. */
const READ = /\.(?:xml|rels)$/i
/** OLE compound file: the old format, or a document with a password. */
const OLE = Buffer.from([0xd0, 0xcf, 0x11, 0xe0])

/** @throws Unreadable */
export async function extractDocx(bytes: Buffer): Promise<Extracted> {
  if (bytes.subarray(0, 4).equals(OLE)) throw new Unreadable('a Word document with a password or in the old .doc format')
  const parts = unzip(bytes, READ)
  if (!parts.has('[Content_Types].xml')) throw new Unreadable('no Word document')
  const { default: mammoth } = await import('mammoth')
  const { value } = await mammoth.convertToHtml(opened(parts), {
    convertImage: mammoth.images.imgElement(() => Promise.resolve({ src: '' })),
    externalFileAccess: false,
  })
  return extractHtml(value)
}

/**
 * The archive as mammoth sees one that it has opened. It gets what was unpacked within limits and never the bytes, which it could read in another
 * way than we did. Its types do not know `file`.
 */
function opened(parts: ReadonlyMap<string, Buffer>): Parameters<typeof convertToHtml>[0] {
  const file = {
    exists: (name: string): boolean => parts.has(name),
    read: (name: string, encoding?: string): Promise<string | Buffer | undefined> => {
      const data = parts.get(name)
      return Promise.resolve(encoding === undefined ? data : new TextDecoder(encoding).decode(data))
    },
  }
  return { file } as unknown as Parameters<typeof convertToHtml>[0]
}
