/**
 * Reads Word documents as Markdown. They are untrusted ZIP archives, so limits apply to the inflated bytes, not to the sizes the archive declares.
 *
 * Format: APPNOTE 6.3.10, https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, sections 4.3.7, 4.3.12 and 4.3.16.
 */

import { inflateRawSync } from 'node:zlib'
import type { convertToHtml } from 'mammoth'
import { extractHtml } from './extract-html.ts'
import type { Extracted } from './unreadable.ts'
import { Unreadable } from './unreadable.ts'

/** The parts that are inflated; pictures are skipped. */
const READ = /\.(?:xml|rels)$/i
/** OLE compound file: the old format, or a password-protected document. */
const OLE = Buffer.from([0xd0, 0xcf, 0x11, 0xe0])

/** @throws Unreadable */
export async function extractDocx(bytes: Buffer): Promise<Extracted> {
  if (bytes.subarray(0, 4).equals(OLE)) throw new Unreadable('a Word document with a password or in the old .doc format')
  const parts = unzip(bytes, READ)
  if (!parts.has('[Content_Types].xml')) throw new Unreadable('not a Word document')
  const { default: mammoth } = await import('mammoth')
  const { value } = await mammoth.convertToHtml(opened(parts), {
    convertImage: mammoth.images.imgElement(() => Promise.resolve({ src: '' })),
    externalFileAccess: false,
  })
  return extractHtml(value)
}

/**
 * Returns the archive in the form that mammoth keeps of an opened one. It holds the parts inflated within limits and not the raw bytes, which mammoth
 * might parse differently. Its types do not declare `file`.
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

const MEGABYTE = 1024 * 1024
const MOST_ENTRIES = 10_000
/** Limit for all inflated entries together. A book of a thousand pages has about 12 MB of XML; reading it takes seconds and half a gigabyte. */
const MOST_BYTES = 16 * MEGABYTE
/** Limit of inflated to deflated size, for archives of more than `RATIO_FROM` inflated bytes. */
const HIGHEST_RATIO = 150
const RATIO_FROM = 8 * MEGABYTE

interface Entry {
  readonly name: string
  readonly method: number
  readonly isEncrypted: boolean
  /** The compressed bytes. */
  readonly data: Buffer
}

const END_OF_DIRECTORY = 0x06054b50
const DIRECTORY_ENTRY = 0x02014b50
const LOCAL_HEADER = 0x04034b50
const LONGEST_COMMENT = 0xffff

/** Returns the entries whose names match, inflated one after the other. @throws Unreadable */
function unzip(archive: Buffer, wanted: RegExp): Map<string, Buffer> {
  const inflated = new Map<string, Buffer>()
  let deflatedBytes = 0
  let bytes = 0
  for (const entry of [...entriesOf(archive)].filter(({ name }) => wanted.test(name))) {
    if (entry.isEncrypted) throw new Unreadable('an encrypted ZIP archive')
    const data = inflate(entry, MOST_BYTES - bytes)
    deflatedBytes += entry.data.length
    bytes += data.length
    if (bytes > RATIO_FROM && bytes > deflatedBytes * HIGHEST_RATIO) {
      throw new Unreadable(`a ZIP archive that grows more than ${HIGHEST_RATIO} times when it is unpacked (a zip bomb?)`)
    }
    inflated.set(entry.name, data)
  }
  return inflated
}

function* entriesOf(archive: Buffer): Generator<Entry> {
  const end = endOfDirectory(archive)
  let entries = 0
  let at = archive.readUInt32LE(end + 16)
  // Reads as long as entries follow, and ignores the number of entries that the archive declares.
  while (at + 46 <= archive.length && archive.readUInt32LE(at) === DIRECTORY_ENTRY) {
    if (entries++ === MOST_ENTRIES) throw new Unreadable(`a ZIP archive of more than ${MOST_ENTRIES} entries`)
    const nameEnd = at + 46 + archive.readUInt16LE(at + 28)
    yield {
      name: archive.toString('utf8', at + 46, nameEnd),
      method: archive.readUInt16LE(at + 10),
      isEncrypted: (archive.readUInt16LE(at + 8) & 1) === 1,
      data: localData(archive, archive.readUInt32LE(at + 42), archive.readUInt32LE(at + 20)),
    }
    at = nameEnd + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32)
  }
  if (entries === 0) throw new Unreadable('an empty or broken ZIP archive')
}

function inflate({ method, data, name }: Entry, room: number): Buffer {
  const tooLarge = (): Unreadable =>
    new Unreadable(`a ZIP archive that holds more than ${MOST_BYTES / MEGABYTE} MB of XML (a zip bomb?)`)
  if (method === 0) {
    if (data.length > room) throw tooLarge()
    return data
  }
  if (method !== 8) throw new Unreadable(`a ZIP archive with an unknown compression (method ${method})`)
  try {
    return inflateRawSync(data, { maxOutputLength: Math.max(1, room) })
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge()
    throw new Unreadable(`a broken ZIP archive (${JSON.stringify(name.slice(0, 80))})`)
  }
}

function endOfDirectory(archive: Buffer): number {
  const first = Math.max(0, archive.length - 22 - LONGEST_COMMENT)
  for (let at = archive.length - 22; at >= first; at--) if (archive.readUInt32LE(at) === END_OF_DIRECTORY) return at
  throw new Unreadable('not a ZIP archive, or cut off')
}

function localData(archive: Buffer, header: number, size: number): Buffer {
  if (header + 30 > archive.length || archive.readUInt32LE(header) !== LOCAL_HEADER)
    throw new Unreadable('a broken ZIP archive (entry)')
  const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28)
  if (start + size > archive.length) throw new Unreadable('a broken ZIP archive (entry cut off)')
  return archive.subarray(start, start + size)
}
