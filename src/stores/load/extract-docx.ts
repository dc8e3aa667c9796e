/** Reads Word documents as Markdown. */

import type { Extracted } from './unreadable.ts'
import { extractHtml } from './extract-html.ts'
import { Unreadable } from './unreadable.ts'
import { inflateEntries, zipEntries } from './zip.ts'
import { crc32 } from 'node:zlib'

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

export function storedZip(parts: ReadonlyMap<string, Buffer>): Buffer {
  const files: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, data] of parts) {
    const fields = commonFields(Buffer.byteLength(name), data)
    const local = Buffer.concat([signature(0x04034b50), fields, Buffer.from(name), data])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    directory.push(Buffer.concat([signature(0x02014b50), Buffer.from([20, 0]), fields, rest, Buffer.from(name)]))
    files.push(local)
    offset += local.length
  }
  const entries = Buffer.concat(directory)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(Math.min(parts.size, 0xffff), 4)
  end.writeUInt16LE(Math.min(parts.size, 0xffff), 6)
  end.writeUInt32LE(entries.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...files, entries, signature(0x06054b50), end])
}

/** Version needed, flags (UTF-8 names), method, time, checksum, sizes and length of the name: the same in both headers. */
function commonFields(nameLength: number, data: Buffer): Buffer {
  const fields = Buffer.alloc(26)
  fields.writeUInt16LE(20, 0)
  fields.writeUInt16LE(0x0800, 2)
  fields.writeUInt32LE(crc32(data), 10)
  fields.writeUInt32LE(data.length, 14)
  fields.writeUInt32LE(data.length, 18)
  fields.writeUInt16LE(nameLength, 22)
  return fields
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value, 0)
  return bytes
}
