import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { callerOf } from '../../../test/support/tool-call.ts'
import type { Called } from '../../../test/support/tool-call.ts'
import { builtinTools } from '../../app/agent-tools.ts'
import type { FetchOptions } from './fetch-url.ts'
import { isPublicAddress } from './http-get.ts'

let server: Server
let host: string
let asked: string[]
let answer: (request: IncomingMessage, response: ServerResponse) => void

beforeEach(async () => {
  asked = []
  server = createServer((request, response) => {
    asked.push(`${request.headers.host ?? ''}${request.url ?? ''}`)
    answer(request, response)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

const get = (url: string, options: FetchOptions = {}): Promise<Called> =>
  callerOf(builtinTools({ root: '.', fetch: options }))('fetch_url', { url })
/** Fetches from the server of the test, whose host is allowed. */
const getHere = (path: string, options: FetchOptions = {}): Promise<Called> =>
  get(`http://${host}${path}`, { allowedHosts: [host], ...options })
const send =
  (body: string | Buffer, headers: Readonly<Record<string, string>> = { 'content-type': 'text/plain' }, status = 200) =>
  (_request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(status, headers)
    response.end(body)
  }

describe('fetch_url', () => {
  it('is offered only on request', () => {
    expect(builtinTools({ root: '.' }).map(({ name }) => name)).not.toContain('fetch_url')
  })

  it('converts pages to Markdown, and returns text unchanged', async () => {
    answer = send('<html><head><title>Wine</title></head><body><script>x()</script><p>Red <b>wine</b></p></body></html>', {
      'content-type': 'text/html',
    })
    expect((await getHere('/')).content).toBe(`http://${host}/ (200, text/html)\n\nWine\n\nRed **wine**`)
    answer = send('{"a":1}', { 'content-type': 'application/json' })
    expect((await getHere('/')).content).toContain('{"a":1}')
    answer = send(Buffer.from('Gr\xfc\xdfe', 'latin1'), { 'content-type': 'text/plain; charset=iso-8859-1' })
    expect((await getHere('/')).content).toContain('Grüße')
    answer = send(Buffer.from([0, 1, 2]), { 'content-type': 'application/x-thing' })
    expect((await getHere('/')).content).toContain('not shown, binary data, 3 bytes')
    answer = send('no such page', { 'content-type': 'text/plain' }, 404)
    expect(await getHere('/')).toMatchObject({ isError: true, content: expect.stringContaining('no such page') as string })
  })

  it.each([
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://0/',
    'http://0.0.0.0/',
    'http://[::1]/',
    'http://[::]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[fe80::1]/',
    'http://[fd00::1]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://10.0.0.1/',
    'http://172.16.0.1/',
    'http://192.168.1.1/',
    'http://100.64.0.1/',
    'http://224.0.0.1/',
    'http://255.255.255.255/',
    'http://①②⑦.0.0.1/',
    'https://127.0.0.1:8443/',
  ])('refuses %s', async (url) => {
    expect(await get(url)).toMatchObject({ isError: true, code: 'permission_denied' })
  })

  it.each(['localhost', 'localhost.', 'metadata.internal', 'mixed.example'])(
    'refuses the name %s because of its address',
    async (name) => {
      const addresses = name === 'mixed.example' ? ['10.0.0.1', '::1'] : ['127.0.0.1']
      const lookup: NonNullable<FetchOptions['lookup']> = (_host, done) => {
        done(
          null,
          addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
        )
      }
      const { port } = server.address() as AddressInfo
      expect(await get(`http://${name}:${port}/`, { lookup })).toMatchObject({ isError: true, code: 'permission_denied' })
      expect(asked).toEqual([])
    },
  )

  it.each([
    'file:///etc/passwd',
    'ftp://example.org/',
    'gopher://x/',
    'data:text/plain,x',
    'javascript:x',
    'example.org',
    'http://',
    'http://u:p@example.org/',
  ])('refuses %s', async (url) => {
    expect((await get(url)).isError).toBe(true)
  })

  it('every redirect is checked, and a redirect to another host is not followed', async () => {
    answer = (request, response) => {
      const to = { '/a': '/b', '/b': 'http://169.254.169.254/latest', '/c': 'http://127.0.0.1:1/', '/loop': '/loop' }[
        request.url ?? ''
      ]
      if (to === undefined) send('end')(request, response)
      else send('', { location: to }, 302)(request, response)
    }
    expect((await getHere('/a')).content).toContain(`http://${host}/b leads to http://169.254.169.254/latest (302)`)
    // A different port counts as a different host.
    expect((await getHere('/c')).content).toContain(`http://${host}/c leads to http://127.0.0.1:1/ (302)`)
    expect(await getHere('/loop')).toMatchObject({
      isError: true,
      content: expect.stringContaining('more than 5 times') as string,
    })
    expect((await getHere('/d')).content).toContain('end')
    answer = send('', { location: 'file:///etc/passwd' }, 302)
    expect((await getHere('/e')).content).toContain('not an http or https address')
  })

  it('decompresses within its size limit', async () => {
    const text = 'wine '.repeat(1000)
    answer = send(gzipSync(text), { 'content-type': 'text/plain', 'content-encoding': 'gzip' })
    expect((await getHere('/')).content).toContain(text)
    answer = send(brotliCompressSync(text), { 'content-type': 'text/plain', 'content-encoding': 'br' })
    expect((await getHere('/')).content).toContain(text)
    answer = send(gzipSync(Buffer.alloc(50_000_000)), { 'content-type': 'text/plain', 'content-encoding': 'gzip' })
    expect((await getHere('/')).content).toContain('larger than 5 MB')
    answer = send('🦙'.repeat(40_000))
    const { content } = await getHere('/')
    expect(content).toMatch(/🦙\n\[… 30,000 more characters left out\]$/u)
    answer = send('broken', { 'content-type': 'text/plain', 'content-encoding': 'gzip' })
    expect(await getHere('/')).toMatchObject({ isError: true, code: 'network' })
  })

  it('fails when the response is not complete in time', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      response.write('a beginning')
    }
    expect((await getHere('/', { timeout: 200 })).content).toContain('no whole answer within 0.2 s')
    answer = () => {}
    expect((await getHere('/', { timeout: 200 })).content).toContain('no whole answer within 0.2 s')
  })

  it('reports an unreachable host', async () => {
    const { code, isError } = await get('http://127.0.0.1:9/', { allowedHosts: ['127.0.0.1'] })
    expect({ code, isError }).toEqual({ code: 'network', isError: true })
  })
})

describe('public addresses', () => {
  it.each(['1.1.1.1', '8.8.8.8', '93.184.215.14', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8'])('include %s', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  it.each([
    '127.0.0.1',
    '::1',
    'fe80::1%eth0',
    'fc00::1',
    '::ffff:10.0.0.1',
    '2001::1',
    '2001:db8::1',
    'ff02::1',
    '',
    'localhost',
    '::127.0.0.1',
  ])('exclude %j', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })
})
