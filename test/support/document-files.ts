/** Writes small PDF and DOCX files, so that tests of loaders need no binary files. */

import { crc32, deflateRawSync, deflateSync } from 'node:zlib'

/** Returns a PDF with one page for each list of lines. An empty line leaves a gap. Characters beyond Latin-1 are not supported. */
export function pdf(pages: readonly (readonly string[])[], { title }: { readonly title?: string } = {}): Buffer {
  const kids = pages.map((_, index) => `${4 + 2 * index} 0 R`).join(' ')
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
  ]
  for (const [index, lines] of pages.entries()) {
    const shown = lines.map((line) => `(${line.replaceAll(/[\\()]/g, String.raw`\$&`)}) Tj T*`)
    const content = deflateSync(Buffer.from(`BT /F1 11 Tf 14 TL 60 780 Td ${shown.join(' ')} ET`, 'latin1'))
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + 2 * index} 0 R >>`,
      `<< /Length ${content.length} /Filter /FlateDecode >>\nstream\n${content.toString('latin1')}\nendstream`,
    )
  }
  if (title !== undefined) objects.push(`<< /Title (${title}) >>`)
  return pdfOf(objects, title === undefined ? undefined : objects.length)
}

/** Returns a PDF of one page with this content stream, encoded by `filter`. */
export function pdfPage(content: Buffer, filter: string): Buffer {
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 5 0 R >> >> /Contents 4 0 R >>',
    `<< /Length ${content.length} /Filter ${filter} >>\nstream\n${content.toString('latin1')}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ])
}

/** Returns a PDF of these objects, the first of which is the catalogue. */
export function pdfOf(objects: readonly string[], info?: number): Buffer {
  let text = '%PDF-1.7\n'
  const offsets: number[] = []
  for (const [index, object] of objects.entries()) {
    offsets.push(text.length)
    text += `${index + 1} 0 obj\n${object}\nendobj\n`
  }
  const xref = text.length
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const trailer = `<< /Size ${objects.length + 1} /Root 1 0 R ${info === undefined ? '' : `/Info ${info} 0 R `}>>`
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}trailer\n${trailer}\nstartxref\n${xref}\n%%EOF\n`
  return Buffer.from(text, 'latin1')
}

export type DocxBlock =
  | { readonly heading: string; readonly level: number }
  | { readonly table: readonly (readonly string[])[] }
  | string

/** Returns a Word document of headings, paragraphs and tables. */
export function docx(blocks: readonly DocxBlock[]): Buffer {
  return storedZip(docxParts(blocks.map(blockXml).join('')))
}

/** Returns the parts of a Word document with this body. */
export function docxParts(body: string): Map<string, Buffer> {
  const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
  const main = 'application/vnd.openxmlformats-officedocument.wordprocessingml'
  const relationships = 'http://schemas.openxmlformats.org/package/2006/relationships'
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  const word = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'
  const styles = [1, 2, 3].map(
    (level) => `<w:style w:type="paragraph" w:styleId="Heading${level}"><w:name w:val="heading ${level}"/></w:style>`,
  )
  const parts: Readonly<Record<string, string>> = {
    '[Content_Types].xml':
      `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
      `<Override PartName="/word/document.xml" ContentType="${main}.document.main+xml"/><Override PartName="/word/styles.xml" ContentType="${main}.styles+xml"/></Types>`,
    '_rels/.rels': `<Relationships xmlns="${relationships}"><Relationship Id="r1" Type="${office}/officeDocument" Target="word/document.xml"/></Relationships>`,
    'word/_rels/document.xml.rels': `<Relationships xmlns="${relationships}"><Relationship Id="r1" Type="${office}/styles" Target="styles.xml"/></Relationships>`,
    'word/styles.xml': `<w:styles xmlns:w="${word}">${styles.join('')}</w:styles>`,
    'word/document.xml': `<w:document xmlns:w="${word}"><w:body>${body}</w:body></w:document>`,
  }
  return new Map(Object.entries(parts).map(([name, content]) => [name, Buffer.from(xml + content)]))
}

function blockXml(block: DocxBlock): string {
  if (typeof block === 'string') return paragraph(block)
  if ('heading' in block) return paragraph(block.heading, `<w:pPr><w:pStyle w:val="Heading${block.level}"/></w:pPr>`)
  const rows = block.table.map((row) => `<w:tr>${row.map((cell) => `<w:tc>${paragraph(cell)}</w:tc>`).join('')}</w:tr>`)
  return `<w:tbl>${rows.join('')}</w:tbl>`
}

function paragraph(text: string, properties = ''): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<w:p>${properties}<w:r><w:t xml:space="preserve">${escaped}</w:t></w:r></w:p>`
}

/** Returns a ZIP archive of uncompressed entries. */
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

/** Returns the fields that both headers share: version, flags (UTF-8 names), method, time, checksum, sizes and length of the name. */
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

/** Returns a ZIP archive with one more, deflated entry; `claims` is the false size in its header. */
export function deflatedZip(
  parts: ReadonlyMap<string, Buffer>,
  name: string,
  content: Buffer,
  claims: number = content.length,
): Buffer {
  const archive = storedZip(new Map([...parts, [name, deflateRawSync(content)]]))
  for (const signature of [0x04034b50, 0x02014b50]) {
    const shift = signature === 0x02014b50 ? 2 : 0
    for (let at = 0; at + 46 < archive.length; at++) {
      const isHeader = archive.readUInt32LE(at) === signature
      const nameAt = at + (shift === 0 ? 30 : 46)
      if (!isHeader || archive.toString('utf8', nameAt, nameAt + name.length) !== name) continue
      archive.writeUInt16LE(8, at + 8 + shift)
      archive.writeUInt32LE(crc32(content), at + 14 + shift)
      archive.writeUInt32LE(claims, at + 22 + shift)
    }
  }
  return archive
}
