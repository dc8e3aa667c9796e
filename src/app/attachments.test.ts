import { once } from 'node:events'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { user } from '../core/message.ts'
import { file, image } from './attachments.ts'
import { handOver } from './hand-over.ts'

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const PDF = Buffer.from('%PDF-1.4\n%%EOF')
const ZIP = Buffer.from('504b030414000000', 'hex')

let folder: string
const at = (name: string): string => join(folder, name)

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cria-attach-'))
  mkdirSync(at('folder.png'))
  writeFileSync(at('photo.jpg'), PNG)
  writeFileSync(at('report.pdf'), PDF)
  writeFileSync(at('notes.md'), '# Notes')
  writeFileSync(at('old.txt'), Buffer.from('Größe', 'utf16le'))
  writeFileSync(at('a.docx'), ZIP)
  writeFileSync(at('empty.png'), '')
  symlinkSync(at('photo.jpg'), at('link.png'))
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('image() and file()', () => {
  it('detects the type from the content, not from the name', () => {
    expect(image(at('photo.jpg'))).toEqual({ type: 'image', mediaType: 'image/png', data: PNG.toString('base64') })
    expect(file(at('photo.jpg'))).toEqual({
      type: 'file',
      mediaType: 'image/png',
      data: PNG.toString('base64'),
      filename: 'photo.jpg',
    })
    expect(image(at('link.png')).mediaType).toBe('image/png')
  })

  it('accepts paths, file: and data: addresses, and bytes of every kind', () => {
    const pdf = { type: 'file', mediaType: 'application/pdf', data: PDF.toString('base64') }
    expect(file(at('report.pdf'))).toEqual({ ...pdf, filename: 'report.pdf' })
    expect(file(pathToFileURL(at('report.pdf')))).toEqual({ ...pdf, filename: 'report.pdf' })
    expect(file(String(pathToFileURL(at('report.pdf'))))).toEqual({ ...pdf, filename: 'report.pdf' })
    expect(file(PDF)).toEqual(pdf)
    expect(file(Uint8Array.from(PDF).buffer, { filename: 'x.pdf' })).toEqual({ ...pdf, filename: 'x.pdf' })
    expect(file(`data:application/pdf;base64,${PDF.toString('base64')}`)).toEqual(pdf)
    expect(image(`data:;base64,${PNG.toString('base64')}`).mediaType).toBe('image/png')
    expect(file('data:,hello%20you')).toMatchObject({
      mediaType: 'text/plain',
      data: Buffer.from('hello you').toString('base64'),
    })
  })

  it('sends text as UTF-8, with the text type of its extension', () => {
    expect(file(at('notes.md'))).toMatchObject({ mediaType: 'text/markdown', filename: 'notes.md' })
    expect(file(at('old.txt'))).toMatchObject({ mediaType: 'text/plain', data: Buffer.from('Größe').toString('base64') })
  })

  it('takes a text that mentions the header of a PDF for a text', () => {
    const text = Buffer.from('A PDF begins with `%PDF-1.7`.')
    expect(file(text, { filename: 'a.md' }).mediaType).toBe('text/markdown')
    const junk = Buffer.concat([Buffer.from([0, 1]), PDF])
    expect(file(junk).mediaType).toBe('application/pdf')
  })

  it('passes a web address to the provider', () => {
    expect(image('https://example.com/a.webp?size=2')).toEqual({
      type: 'image',
      mediaType: 'image/webp',
      data: 'https://example.com/a.webp?size=2',
    })
    expect(image(new URL('https://example.com/picture')).mediaType).toBe('image/*')
    expect(file('https://example.com/a.pdf')).toMatchObject({ mediaType: 'application/pdf', filename: 'a.pdf' })
    expect(file('https://example.com/download', { mediaType: 'application/pdf' }).mediaType).toBe('application/pdf')
  })

  it.each<[string, () => unknown, RegExp]>([
    ['a missing file', () => image(at('none.png')), /cannot be read: there is no file at .*none\.png\.$/],
    ['a folder', () => image(at('folder.png')), /is a folder: name a file\.$/],
    ['an empty file', () => image(at('empty.png')), /is empty/],
    ['a document as an image', () => image(at('report.pdf')), /is application\/pdf\. Expected a PNG.* Use file\(\)\.$/],
    ['a text as an image', () => image(at('notes.md')), /is text\/markdown\. Expected a PNG.* Use file\(\)\.$/],
    ['a Word document', () => file(at('a.docx')), /is application\/zip\..*loadDocuments\(\)\.$/],
    [
      'a picture format that no model accepts',
      () => image(Buffer.from('49492a0008000000', 'hex')),
      /is image\/tiff\..* Convert it to PNG/,
    ],
    ['unknown binary data', () => file(Buffer.from([0, 1, 2, 3, 250, 251, 0, 0, 0])), /binary data of an unknown format/],
    ['too many bytes in a file', () => file(at('report.pdf'), { maxBytes: 10 }), /has 14 bytes, and at most 10 are sent/],
    ['too many bytes in a buffer', () => image(Buffer.concat([PNG, Buffer.alloc(3_750_000)])), /at most 3,750,000 are sent/],
    ['a limit that is not a number', () => file(PDF, { maxBytes: Number.NaN }), /maxBytes must be a number above 0/],
    [
      'an address without a known type',
      () => file('https://example.com/download'),
      /does not name its type\. Pass it, \{ mediaType/,
    ],
    ['an address of another type', () => image('https://example.com/a.pdf'), /is application\/pdf\..*Use file/],
    [
      'an address with a password',
      () => image('https://me:secret@example.com/a.png'),
      /^(?!.*secret).*holds a user name or password/,
    ],
    ['a broken address', () => image('https://'), /is not an address/],
    ['a data: address without data', () => image('data:image/png;base64,'), /holds no data/],
    ['a file: address of another machine', () => image('file://host/a.png'), /is not the address of a local file/],
    ['a value of another kind', () => image(42 as never), /takes a path, an address or bytes, but got a value of type number/],
    [
      'an address of an unsupported protocol',
      () => image(new URL('ftp://example.com/a.png')),
      /takes https:, http:, data: and file: addresses, but got one of ftp:$/,
    ],
    ['an empty path', () => image(''), /"" is not a path/],
    ['a path with NUL', () => file('a\0b'), /is not a path/],
    ['null', () => file(null as never), /but got null/],
  ])('refuses %s', (_what, make, message) => {
    expect(make).toThrow(message)
    expect(make).toThrow(expect.objectContaining({ code: 'configuration' }))
  })
})

describe('user()', () => {
  it('keeps the order of texts and attachments', () => {
    const message = user('What is this?', image(PNG), file(PDF), 'Be brief.')
    expect(message.parts.map(({ type }) => type)).toEqual(['text', 'image', 'file', 'text'])
    expect(message.content).toBe('What is this?Be brief.')
    expect(user(image(PNG)).parts).toHaveLength(1)
    expect(user([{ type: 'text', text: 'a' }], 'b').content).toBe('ab')
    expect(user('').parts).toEqual([])
  })

  it('rejects an argument that is neither a text nor a part', () => {
    expect(() => user('a', null as never)).toThrow('user()[1] must be a part, but is null.')
    expect(() => user('a', 5 as never)).toThrow('user()[1] must be a part')
    expect(() => user(undefined as never)).toThrow('user() takes a text or a list of parts, but got undefined.')
  })
})

describe('handOver()', () => {
  it('stops waiting for a silent pipe when it is aborted', async () => {
    execFileSync('mkfifo', [at('pipe')])
    const abort = new AbortController()
    const waiting = handOver('pipe', { cwd: folder, signal: abort.signal })
    abort.abort()
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
  })

  it.each([
    ['http://[', /is not an address/],
    ['ftp://127.0.0.1/', /cannot be fetched/],
    ['http://name:secret@127.0.0.1/', /without a password/],
  ])('rejects a redirect to %s with the reason', async (location, message) => {
    const server = createServer((_request, response) => response.writeHead(302, { location }).end())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    try {
      const { port } = server.address() as AddressInfo
      const fetching = handOver(`http://127.0.0.1:${port}/`, { cwd: folder, signal: new AbortController().signal })
      await expect(fetching).rejects.toMatchObject({ name: 'ConfigurationError', message: expect.stringMatching(message) })
    } finally {
      server.close()
    }
  })
})
