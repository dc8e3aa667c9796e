/** Word documents as Markdown. */

import type { Extracted } from './unreadable.ts'
import { extractHtml } from './extract-html.ts'
import { Unreadable } from './unreadable.ts'
import { storedZip } from './zip-write.ts'
import { inflateEntries, zipEntries } from './zip.ts'

/** The parts that are read; pictures are not even unpacked. */
const READ = /\.(?:xml|rels)$/i
/** OLE compound file: the old format, or a document with a password. */
const OLE = Buffer.from([0xd0, 0xcf, 0x11, 0xe0])

/** @throws Unreadable */
export async function extractDocx(bytes: Buffer): Promise<Extracted> {
  if (bytes.subarray(0, 4).equals(OLE)) throw new Unreadable('a Word document with a password or in the old .doc format')
  const parts = inflateEntries(zipEntries(bytes).filter(({ name }) => READ.test(name)))
  if (!parts.has('[Content_Types].xml')) throw new Unreadable('no Word document')
  const { default: mammoth } = await import('mammoth')
  // The library gets an archive of what was unpacked within limits, so that it cannot read the given one in another way than we did.
  const { value } = await mammoth.convertToHtml(
    { buffer: storedZip(parts) },
    { convertImage: mammoth.images.imgElement(() => Promise.resolve({ src: '' })), externalFileAccess: false },
  )
  return extractHtml(value)
}
