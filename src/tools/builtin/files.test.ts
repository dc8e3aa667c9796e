import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { pdf } from '../../../test/support/document-files.ts'
import { callerOf } from '../../../test/support/tool-call.ts'
import type { Call } from '../../../test/support/tool-call.ts'
import { builtinTools as appTools } from '../../app/agent-tools.ts'
import type { Tool } from '../../core/tool.ts'
import { builtinTools } from './builtin-tools.ts'
import { createFile, readTextFile, replaceFile } from './text-file.ts'
import { Workspace } from './workspace.ts'

let base: string
let root: string
let tools: readonly Tool[]
let call: Call

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'cria-tools-')))
  root = join(base, 'root')
  mkdirSync(root)
  tools = builtinTools({ root })
  call = callerOf(tools)
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

function write(files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
}
const bytes = (path: string): Buffer => readFileSync(join(root, path))
const text = (path: string): string => bytes(path).toString('utf8')
const tool = (name: string): Tool => {
  const found = tools.find((each) => each.name === name)
  if (found === undefined) throw new Error(name)
  return found
}

/** A call of each tool that takes a path. */
const TAKING: readonly (readonly [string, object])[] = [
  ['read_file', {}],
  ['write_file', { content: 'x' }],
  ['edit_file', { old_string: 'a', new_string: 'b' }],
  ['list_files', {}],
  ['search_files', { pattern: '.' }],
]

describe('paths', () => {
  beforeEach(() => {
    writeFileSync(join(base, 'secret.txt'), 'outside')
    mkdirSync(join(base, 'root-too'))
    writeFileSync(join(base, 'root-too', 'x.txt'), 'outside')
    write({ 'a.txt': 'inside', 'dir/b.txt': 'inside' })
    symlinkSync(base, join(root, 'out'))
    symlinkSync('../secret.txt', join(root, 'out.txt'))
    symlinkSync('dir', join(root, 'in'))
    symlinkSync('nowhere', join(root, 'broken'))
    symlinkSync('../made-outside.txt', join(root, 'broken-out'))
    symlinkSync('loop', join(root, 'loop'))
  })

  const OUTSIDE = [
    '..',
    '../secret.txt',
    'dir/../../secret.txt',
    'in/../../secret.txt',
    '/etc/passwd',
    '/',
    'out',
    'out/secret.txt',
    'out.txt',
    'out/root/../secret.txt',
    '../root-too/x.txt',
    'broken-out',
    '~',
    '~/.bashrc',
    'file:///etc/passwd',
    '%2e%2e/secret.txt',
    '..%2fsecret.txt',
    '..\\secret.txt',
    'a.txt\0.png',
    'a\nb',
    '\u202ea.txt',
    'dir/.../x',
    '',
    'loop',
    '/dev/zero',
    '/proc/self/environ',
  ]

  it.each(OUTSIDE)('%j is refused by every tool', async (path) => {
    for (const [name, more] of TAKING) {
      const { isError, content } = await call(name, { ...more, path })
      expect({ name, isError }).toEqual({ name, isError: true })
      expect(content).not.toContain('outside\n')
    }
    expect(readFileSync(join(base, 'secret.txt'), 'utf8')).toBe('outside')
    expect(existsSync(join(base, 'made-outside.txt'))).toBe(false)
  })

  it('links that stay inside work, and so does a root that is a link', async () => {
    expect((await call('read_file', { path: 'in/b.txt' })).content).toBe('inside')
    expect((await call('read_file', { path: join(root, 'a.txt') })).content).toBe('inside')
    symlinkSync(root, join(base, 'link'))
    const linked = callerOf(builtinTools({ root: join(base, 'link') }))
    expect((await linked('read_file', { path: 'a.txt' })).content).toBe('inside')
    expect((await linked('read_file', { path: join(base, 'link', 'dir', 'b.txt') })).content).toBe('inside')
    expect((await linked('read_file', { path: '../secret.txt' })).isError).toBe(true)
  })

  it('a folder that is replaced by a link between check and use is not followed', async () => {
    mkdirSync(join(base, 'outside'))
    writeFileSync(join(base, 'outside', 'b.txt'), 'outside')
    write({ 'swapped/b.txt': 'inside' })
    const place = await new Workspace(root).place('swapped/b.txt')
    const file = await readTextFile(place)
    if (file === undefined) throw new Error('not found')
    rmSync(join(root, 'swapped'), { recursive: true })
    symlinkSync(join(base, 'outside'), join(root, 'swapped'))
    await expect(readTextFile(place)).rejects.toMatchObject({ code: 'permission_denied' })
    const fresh = { ...place, real: join(root, 'swapped', 'new.txt') }
    await expect(replaceFile(place, Buffer.from('evil'), file)).rejects.toThrow('cannot be written')
    await expect(createFile(fresh, Buffer.from('evil'))).rejects.toThrow('cannot be')
    expect(readdirSync(join(base, 'outside'))).toEqual(['b.txt'])
    expect(readFileSync(join(base, 'outside', 'b.txt'), 'utf8')).toBe('outside')
  })

  it('the root must exist', () => {
    expect(() => builtinTools({ root: join(base, 'nowhere') })).toThrow(/cannot be found/)
  })

  it('odd but unambiguous names are accepted', async () => {
    for (const name of ['a b.txt', 'ünï.txt', '日本.txt', '-rf', '...x', 'x..y', '#a', 'a%b', "it's", '🦙.md']) {
      write({ [name]: name })
      expect((await call('read_file', { path: name })).content).toBe(name)
    }
  })

  it('data of version control is not written', async () => {
    mkdirSync(join(root, '.git', 'hooks'), { recursive: true })
    symlinkSync('.git', join(root, 'vcs'))
    for (const path of ['.git/hooks/pre-commit', '.git/config', 'vcs/config', '.GIT/config', 'sub/.git/config']) {
      expect((await call('write_file', { path, content: 'x' })).code).toBe('permission_denied')
    }
    expect(readdirSync(join(root, '.git'))).toEqual(['hooks'])
  })
})

describe('read_file', () => {
  it('returns the text, with line feeds', async () => {
    write({ 'a.txt': 'one\r\ntwo\r\n', 'empty.txt': '' })
    expect((await call('read_file', { path: 'a.txt' })).content).toBe('one\ntwo\n')
    expect((await call('read_file', { path: 'empty.txt' })).content).toContain('is empty')
    expect((await call('read_file', { path: 'nothing.txt' })).content).toContain('no file "nothing.txt"')
    expect((await call('read_file', { path: 'a.txt/b' })).isError).toBe(true)
    expect((await call('read_file', { path: '.' })).content).toContain('list_files')
  })

  it('returns parts of long files, and reports how to continue', async () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `line ${index + 1}`)
    write({ 'long.txt': `${lines.join('\n')}\n` })
    const first = (await call('read_file', { path: 'long.txt' })).content
    expect(first).toMatch(/^line 1\n[^]*line 2000\n\[Lines 1 to 2000 of 5000\. Read on with offset: 2001\.\]$/)
    const part = (await call('read_file', { path: 'long.txt', offset: 4999, limit: 10 })).content
    expect(part).toBe('line 4999\nline 5000\n\n[Lines 4999 to 5000 of 5000.]')
    expect((await call('read_file', { path: 'long.txt', offset: 6000 })).content).toContain('only 5000 lines')
  })

  it('cuts long lines at whole characters', async () => {
    write({ 'wide.txt': `${'a'.repeat(1999)}🦙${'b'.repeat(5000)}\nshort` })
    const { content } = await call('read_file', { path: 'wide.txt' })
    expect(content.isWellFormed()).toBe(true)
    expect(content).toMatch(/^a{1999} \[… 5,002 more characters in this line\]\nshort$/)
  })

  it('shows images, and only the size of other binary files', async () => {
    const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
    write({ 'a.png': png, 'a.bin': Buffer.from([0, 1, 2, 3, 0, 255]), 'a.pdf': '%PDF-1.7\0' })
    const image = await call('read_file', { path: 'a.png' })
    expect(image.attachments).toEqual([{ type: 'image', mediaType: 'image/png', data: png.toString('base64') }])
    expect((await call('read_file', { path: 'a.bin' })).content).toBe('(a.bin is not shown: binary data, 6 bytes)')
    expect((await call('read_file', { path: 'a.pdf' })).content).toContain('application/pdf')
  })

  it('extracts the text of documents', async () => {
    write({ 'a.pdf': pdf([['The red wine', 'of the valley']]), 'broken.pdf': '%PDF-1.7\0', '.hidden.pdf': pdf([['hidden']]) })
    const reading = callerOf(appTools({ root }))
    expect((await reading('read_file', { path: 'a.pdf' })).content).toMatch(/red wine\s+of the valley/)
    expect((await reading('read_file', { path: '.hidden.pdf' })).content).toContain('hidden')
    expect(await reading('read_file', { path: 'broken.pdf' })).toMatchObject({
      isError: true,
      content: expect.stringContaining('broken.pdf cannot be read') as string,
    })
  })

  it('reads UTF-16, Windows-1252 and text with a byte order mark', async () => {
    write({
      'le.txt': Buffer.from('\ufeffGrüße\r\n', 'utf16le'),
      'be.txt': Buffer.from('\ufeffGrüße', 'utf16le').swap16(),
      'bare.txt': Buffer.from('plain wide text', 'utf16le'),
      'latin.txt': Buffer.from('Gr\xfc\xdfe', 'latin1'),
      'bom.txt': '\ufeffGrüße',
    })
    for (const name of ['le', 'be', 'latin', 'bom']) {
      expect((await call('read_file', { path: `${name}.txt` })).content.trim()).toBe('Grüße')
    }
    expect((await call('read_file', { path: 'bare.txt' })).content).toBe('plain wide text')
  })

  it('does not wait for a pipe and does not read a device', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')])
    expect((await call('read_file', { path: 'pipe' })).content).toContain('not a regular file')
    expect((await call('write_file', { path: 'pipe', content: 'x' })).isError).toBe(true)
    expect((await call('search_files', { pattern: 'x', path: 'pipe' })).content).toContain('no match')
  })

  it('reads lines of a file that is too large for memory', async () => {
    const line = `${'x'.repeat(99)}\n`
    write({ 'huge.log': `${line.repeat(120_000)}the end\n` })
    truncateSync(join(root, 'huge.log'), 12_000_008)
    const { content } = await call('read_file', { path: 'huge.log', offset: 120_000, limit: 5 })
    expect(content).toBe(`${'x'.repeat(99)}\nthe end\n[Lines 120000 to 120001 of a file too large to be edited.]`)
    expect((await call('edit_file', { path: 'huge.log', old_string: 'the end', new_string: '' })).content).toContain(
      'larger than',
    )
    write({ 'zeros.bin': '' })
    truncateSync(join(root, 'zeros.bin'), 5_000_000_000)
    expect((await call('read_file', { path: 'zeros.bin' })).content).toContain('not shown')
    expect((await call('search_files', { pattern: '.', path: 'zeros.bin' })).content).toContain('no match')
  })

  it('a single endless line is cut, not held in memory', async () => {
    write({ 'line.txt': 'y'.repeat(11_000_000) })
    const { content } = await call('read_file', { path: 'line.txt' })
    expect(content).toMatch(/^y{2000} \[… 10,998,000 more characters in this line\]\n\[Lines 1 to 1/)
  })
})

describe('edit_file', () => {
  const edit = async (path: string, old_string: string, new_string: string, more: object = {}): ReturnType<Call> => {
    await call('read_file', { path })
    return call('edit_file', { path, old_string, new_string, ...more })
  }

  it('replaces a text that occurs once', async () => {
    write({ 'a.ts': 'const a = 1\nconst b = 2\n' })
    expect((await edit('a.ts', 'a = 1', 'a = 3')).content).toBe('Changed a.ts: 1 line added, 1 removed.')
    expect(text('a.ts')).toBe('const a = 3\nconst b = 2\n')
  })

  it('reports the reason of a failure', async () => {
    write({ 'a.ts': 'x = 1\n  y = 2\nx = 1\n' })
    expect((await edit('a.ts', 'x = 1', 'z')).content).toMatch(/occurs 2 times, in lines 1, 3:.*replace_all/)
    expect((await edit('a.ts', 'nothing', 'z')).content).toContain('does not occur')
    expect((await edit('a.ts', '\ty = 2', 'z')).content).toContain('other white space')
    expect((await edit('a.ts', 'y = 2\nq', 'z')).content).toContain('first line is in line 2')
    expect((await edit('a.ts', '', 'z')).content).toContain('is empty')
    expect((await edit('a.ts', 'y', 'y')).content).toContain('nothing to change')
    write({ 'many.txt': 'x'.repeat(100_000) })
    expect((await edit('many.txt', 'x', 'y'.repeat(100_000), { replace_all: true })).content).toContain('too large')
    write({ 'lines.txt': 'x\n'.repeat(12) })
    expect((await edit('lines.txt', 'x', 'y')).content).toContain('occurs 12 times, in lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …: ')
    expect((await call('edit_file', { path: 'no.ts', old_string: 'a', new_string: 'b' })).content).toContain('write_file')
    expect(text('a.ts')).toBe('x = 1\n  y = 2\nx = 1\n')
  })

  it('replaces every occurrence with `replace_all`, and does not interpret patterns', async () => {
    write({ 'a.txt': 'a.b a+b $& a.b' })
    await edit('a.txt', 'a.b', '$&$1', { replace_all: true })
    expect(text('a.txt')).toBe('$&$1 a+b $& $&$1')
  })

  it.each([
    ['CRLF', 'one\r\ntwo\r\nthree\r\n', 'two\n', 'zwei\nzwo\n', 'one\r\nzwei\r\nzwo\r\nthree\r\n'],
    ['LF', 'one\ntwo\n', 'two', '2', 'one\n2\n'],
    ['mixed ends', 'one\r\ntwo\nthree\r\nfour', 'two\nthree', '2\n3', 'one\r\n2\n3\r\nfour'],
    ['no final line end', 'one\ntwo', 'two', '2', 'one\n2'],
    ['CRLF in the call', 'one\ntwo\n', 'one\r\ntwo', '1\r\n2', '1\n2\n'],
    ['a byte order mark', '\ufeffone\r\n', 'one', '1', '\ufeff1\r\n'],
    ['a lone carriage return', 'one\rtwo\n', 'two', '2', 'one\r2\n'],
  ])('keeps %s', async (_what, before, old, young, after) => {
    write({ 'a.txt': before })
    expect((await edit('a.txt', old, young)).isError).toBe(false)
    expect(text('a.txt')).toBe(after)
  })

  it('keeps the encoding, or reports that it cannot', async () => {
    write({
      'le.txt': Buffer.from('\ufeffalt\r\n', 'utf16le'),
      'be.txt': Buffer.from('\ufeffalt\n', 'utf16le').swap16(),
      'latin.txt': Buffer.from('Gr\xfc\xdfe \x80 alt\n', 'latin1'),
    })
    await edit('le.txt', 'alt', 'größer')
    expect(bytes('le.txt')).toEqual(Buffer.from('\ufeffgrößer\r\n', 'utf16le'))
    await edit('be.txt', 'alt', 'neu')
    expect(bytes('be.txt')).toEqual(Buffer.from('\ufeffneu\n', 'utf16le').swap16())
    await edit('latin.txt', 'alt', 'älter')
    expect(bytes('latin.txt')).toEqual(Buffer.from('Gr\xfc\xdfe \x80 \xe4lter\n', 'latin1'))
    expect((await edit('latin.txt', 'älter', '日本')).content).toContain('windows-1252')
    write({ 'a.bin': Buffer.from([0, 1, 2]) })
    expect((await edit('a.bin', 'a', 'b')).content).toContain('not a text file')
  })

  it('keeps the mode, writes through links, and leaves no temporary file', async () => {
    write({ 'run.sh': '#!/bin/sh\necho a\n' })
    chmodSync(join(root, 'run.sh'), 0o751)
    symlinkSync('run.sh', join(root, 'link'))
    await edit('link', 'echo a', 'echo b')
    expect(text('run.sh')).toBe('#!/bin/sh\necho b\n')
    expect(statSync(join(root, 'run.sh')).mode & 0o7777).toBe(0o751)
    expect(readlinkSync(join(root, 'link'))).toBe('run.sh')
    expect(readdirSync(root).toSorted()).toEqual(['link', 'run.sh'])
  })

  it('refuses a file that was not read, or has changed since, and shows its current content', async () => {
    write({ 'a.txt': 'one\n' })
    const input = { path: 'a.txt', old_string: 'one', new_string: 'two' }
    expect((await call('edit_file', input)).content).toContain('was not read yet')
    await call('read_file', { path: 'a.txt' })
    expect((await call('edit_file', input, { sessionId: 'other' })).content).toContain('was not read yet')
    write({ 'a.txt': 'one and more\n' })
    const stale = await call('edit_file', input)
    expect(stale).toMatchObject({
      isError: true,
      content: expect.stringMatching(/has changed since[^]*\none and more\n$/) as string,
    })
    expect(text('a.txt')).toBe('one and more\n')
    expect((await call('edit_file', input)).isError).toBe(false)
    expect(text('a.txt')).toBe('two and more\n')
    expect((await call('write_file', { path: 'a.txt', content: 'three\n' })).isError).toBe(false)
    write({ 'a.txt': 'x'.repeat(20_000) })
    expect((await call('write_file', { path: 'a.txt', content: 'four' })).content).toContain('read it again')
    expect(text('a.txt')).toHaveLength(20_000)
  })

  it('previews a change without writing it', async () => {
    write({ 'a.txt': 'one\ntwo\nthree\n' })
    const preview = (name: string, input: object): unknown => tool(name).preview?.(input as never)
    expect(await preview('edit_file', { path: 'a.txt', old_string: 'two', new_string: '2' })).toBe(
      '--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three',
    )
    expect(await preview('write_file', { path: 'b.txt', content: 'new\n' })).toBe(
      '--- /dev/null\n+++ b.txt\n@@ -0,0 +1,1 @@\n+new',
    )
    expect(await preview('run_command', { command: 'ls' })).toBe('ls')
    expect(text('a.txt')).toBe('one\ntwo\nthree\n')
  })

  it('an edit changes its text and no other byte', async () => {
    const line = fc.string({ unit: 'grapheme', maxLength: 8 }).filter((each) => !/[\r\n\0]/.test(each))
    const end = fc.constantFrom('\n', '\r\n')
    const file = fc.array(fc.tuple(line, end), { maxLength: 8 })
    const mark = fc.constantFrom('', '\ufeff')
    await fc.assert(
      fc.asyncProperty(file, file, mark, async (before, after, bom) => {
        const [head, tail] = [before, after].map((lines) => lines.map((parts) => parts.join('')).join(''))
        write({ 'p.txt': `${bom}${head}<<HERE>>${tail}` })
        expect((await edit('p.txt', '<<HERE>>', 'THERE')).isError).toBe(false)
        expect(text('p.txt')).toBe(`${bom}${head}THERE${tail}`)
      }),
      { numRuns: 60 },
    )
  })
})

describe('write_file', () => {
  it('makes files and folders', async () => {
    expect((await call('write_file', { path: 'a/b/c.txt', content: 'x\n' })).content).toBe(
      'Made a/b/c.txt: 1 line added, 0 removed.',
    )
    expect(text('a/b/c.txt')).toBe('x\n')
    expect((await call('write_file', { path: 'a/b/c.txt/d', content: 'x' })).isError).toBe(true)
    expect((await call('write_file', { path: 'a', content: 'x' })).content).toContain('is a folder')
  })

  it('keeps line ends, encoding and mode of a replaced file', async () => {
    write({ 'a.txt': '\ufeffone\r\ntwo\r\n' })
    chmodSync(join(root, 'a.txt'), 0o640)
    await call('read_file', { path: 'a.txt' })
    await call('write_file', { path: 'a.txt', content: '1\n2\n3' })
    expect(text('a.txt')).toBe('\ufeff1\r\n2\r\n3')
    expect(statSync(join(root, 'a.txt')).mode & 0o777).toBe(0o640)
    expect((await call('write_file', { path: 'a.txt', content: '1\n2\n3' })).content).toContain('already')
  })

  it('writes a new file unchanged, and refuses half characters', async () => {
    await call('write_file', { path: 'crlf.txt', content: 'a\r\nb' })
    expect(text('crlf.txt')).toBe('a\r\nb')
    expect((await call('write_file', { path: 'half.txt', content: 'a\ud800' })).isError).toBe(true)
    expect(existsSync(join(root, 'half.txt'))).toBe(false)
  })

  it('several edits of a file in a step are all applied', () => {
    write({ 'a.txt': 'x' })
    linkSync(join(root, 'a.txt'), join(root, 'hard.txt'))
    symlinkSync('a.txt', join(root, 'soft.txt'))
    const writes = (name: string, path: string): unknown => tool(name).resources?.({ path } as never)
    expect(writes('edit_file', 'soft.txt')).toEqual(writes('edit_file', './a.txt'))
    expect(writes('write_file', 'a.txt')).toEqual({ writes: [join(root, 'a.txt')] })
    expect(writes('read_file', 'soft.txt')).toEqual({ reads: [join(root, 'a.txt')] })
    expect(tool('run_command').resources?.({} as never)).toEqual({ writes: ['/'] })
  })
})

describe('list_files', () => {
  it('leaves out ignored files, hidden files and packages; upper levels come first', async () => {
    mkdirSync(join(root, '.git'))
    write({
      '.gitignore': 'dist/\n*.log\n!keep.log\n',
      'b/deep/c.ts': '',
      'a.ts': '',
      'dist/x.js': '',
      'x.log': '',
      'keep.log': '',
      '.hidden': '',
      'node_modules/p/index.js': '',
      '.git/config': '',
    })
    symlinkSync('a.ts', join(root, 'link'))
    expect((await call('list_files', {})).content.split('\n')).toEqual([
      'a.ts',
      'b/',
      'keep.log',
      'link (link)',
      'b/deep/',
      'b/deep/c.ts',
    ])
    expect((await call('list_files', { depth: 1 })).content.split('\n')).toHaveLength(4)
    expect((await call('list_files', { hidden: true })).content).toContain('.hidden')
    expect((await call('list_files', { hidden: true })).content).not.toContain('.git/')
    expect((await call('list_files', { path: 'b', glob: '*.ts' })).content).toBe('b/deep/c.ts')
    expect((await call('list_files', { glob: '**/*.{ts,log}', limit: 2 })).content).toMatch(/^a\.ts\nkeep\.log\n\[More than 2/)
    expect((await call('list_files', { path: 'a.ts' })).content).toContain('read_file')
    expect((await call('list_files', { glob: '*.none' })).content).toBe('(nothing found)')
  })

  it.each(['.gitignore', 'sub/.gitignore', '.criaignore'])(
    'a %s that is a pipe or endless does not block the listing',
    async (name) => {
      write({ 'a.txt': 'hello', 'sub/b.txt': 'hello' })
      execFileSync('mkfifo', [join(root, name)])
      expect((await call('list_files', {})).content).toBe('a.txt\nsub/\nsub/b.txt')
      expect((await call('search_files', { pattern: 'hello', show: 'files' })).content).toBe('a.txt\nsub/b.txt')
      rmSync(join(root, name))
      symlinkSync('/dev/zero', join(root, name))
      expect((await call('list_files', {})).content).toBe('a.txt\nsub/\nsub/b.txt')
      rmSync(join(root, name))
      write({ [name]: 'a*\n'.repeat(2_000_000) })
      expect((await call('list_files', {})).content).toBe('a.txt\nsub/\nsub/b.txt')
    },
  )

  it('a name with a line feed does not look like two names', async () => {
    write({ 'a\nb': 'x' })
    expect((await call('list_files', {})).content).toBe(String.raw`"a\nb"`)
    expect((await call('search_files', { pattern: 'x' })).content).toBe(String.raw`"a\nb":1:x`)
  })
})

describe('secrets', () => {
  const SECRET = [
    '.env',
    'sub/.env.local',
    '.npmrc',
    'id_rsa',
    'keys/server.key',
    '.ssh/config',
    '.aws/credentials',
    '.git/config',
    'link.txt',
  ]
  beforeEach(() => {
    write(Object.fromEntries(SECRET.slice(0, -1).map((path) => [path, 'canary'])))
    symlinkSync('.env', join(root, 'link.txt'))
  })

  it.each(SECRET)('%s needs permission', (path) => {
    for (const name of ['read_file', 'search_files']) {
      const { needsPermission, subjects } = tool(name)
      const ask = needsPermission as (input: object) => boolean
      expect(ask({ path })).toBe(true)
      expect(ask({ path: 'README.md' })).toBe(false)
      expect(subjects?.({ path } as never)).toEqual([{ kind: 'path', path: join(root, path), sensitive: true }])
    }
  })

  it('a private key under a harmless name is not shown', async () => {
    write({
      'notes.md': '-----BEGIN OPENSSH PRIVATE KEY-----\ncanary\n',
      'about.md': 'About -----BEGIN PRIVATE KEY----- lines.\n',
    })
    expect(await call('read_file', { path: 'notes.md' })).toMatchObject({ isError: true, code: 'permission_denied' })
    expect((await call('search_files', { pattern: 'canary', glob: '*.md' })).content).toContain('no match')
    expect((await call('read_file', { path: 'about.md' })).content).toContain('About')
  })

  it('are not searched', async () => {
    const { content } = await call('search_files', { pattern: 'canary', hidden: true })
    expect(content).not.toContain('canary')
  })
})
