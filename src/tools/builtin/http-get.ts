/** Sends a GET request to a public address, within limits of size and time; returns redirects. */

import { lookup as systemLookup } from 'node:dns'
import type { LookupAddress } from 'node:dns'
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv4 } from 'node:net'
import type { LookupFunction } from 'node:net'
import type { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { CriaError } from '../../core/error.ts'
import { megabytes, problem } from './open-file.ts'

export interface GetOptions {
  readonly signal: AbortSignal
  readonly maxBytes: number
  /** Hosts that are allowed although they are not public: `wiki.internal`, `127.0.0.1:8080`. */
  readonly allowedHosts: readonly string[]
  /** Default: the resolver of the system. */
  readonly lookup?: Lookup
}

export type Lookup = (host: string, done: (error: Error | null, found: readonly LookupAddress[]) => void) => void

export interface Got {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Buffer
}

export interface Followed extends Got {
  /** The URL that answered. */
  readonly url: URL
  /** Target of a redirect that was not followed, as the server wrote it; otherwise absent. */
  readonly leadsTo?: string
}

const MAX_REDIRECTS = 5

/**
 * Gets a URL and follows redirects.
 *
 * @param get sends one request, with `httpGet`.
 * @param allowed returns the URL to continue with; `undefined`: the redirect is returned.
 * @throws CriaError `network` beyond five redirects; errors of `get` and `allowed`.
 */
export async function followRedirects(
  start: URL,
  get: (url: URL) => Promise<Got>,
  allowed: (location: string, from: URL) => URL | undefined,
): Promise<Followed> {
  let url = start
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const got = await get(url)
    const { location } = got.headers
    if (got.status < 300 || got.status >= 400 || location === undefined) return { ...got, url }
    const next = allowed(location, url)
    if (next === undefined) return { ...got, url, leadsTo: location }
    url = next
  }
  throw new CriaError('network', `${start.href} redirects more than ${MAX_REDIRECTS} times.`)
}

/** @throws CriaError `permission_denied` for an address that is not public, `network` when there is no answer, `tool_failure` beyond the limit. */
export async function httpGet(url: URL, options: GetOptions): Promise<Got> {
  const isAllowed = options.allowedHosts.some((host) => sameHost(host, url))
  const host = url.hostname.replace(/^\[|\]$/g, '')
  // The URL parser has normalised decimal, octal and short forms of addresses.
  if (!isAllowed && isIP(host) !== 0 && !isPublicAddress(host)) throw notPublic(host)
  const response = await request(url, isAllowed, options)
  try {
    const body = isRedirect(response) ? Buffer.alloc(0) : await readBody(response, options.maxBytes)
    const headers = Object.fromEntries(
      Object.entries(response.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
    )
    return { status: response.statusCode ?? 0, headers, body }
  } finally {
    response.destroy()
  }
}

function sameHost(allowed: string, { hostname, host, port, protocol }: URL): boolean {
  const name = hostname.replace(/\.$/, '')
  const full = port === '' ? `${name}:${protocol === 'https:' ? 443 : 80}` : host
  return [name, host, full].includes(allowed.toLowerCase())
}

function isRedirect({ statusCode = 0, headers }: IncomingMessage): boolean {
  return statusCode >= 300 && statusCode < 400 && headers.location !== undefined
}

async function request(url: URL, isAllowed: boolean, { signal, lookup = resolveAll }: GetOptions): Promise<IncomingMessage> {
  const { get } = url.protocol === 'https:' ? await import('node:https') : await import('node:http')
  return new Promise((resolve, reject) => {
    const asked = get(
      url,
      {
        signal,
        // A pool would reuse connections that were opened by others, and the global agent may use a proxy.
        agent: false,
        lookup: checked(lookup, isAllowed),
        headers: { accept: 'text/html, text/*;q=0.9, */*;q=0.5', 'accept-encoding': 'gzip, br, deflate', 'user-agent': 'cria' },
      },
      resolve,
    )
    // Checks the actual address of the peer before anything is sent.
    asked.once('socket', (socket) => {
      socket.once('connect', () => {
        const { remoteAddress = '' } = socket
        if (!isAllowed && !isPublicAddress(remoteAddress)) asked.destroy(notPublic(remoteAddress))
      })
    })
    asked.once('error', (cause) => {
      if (signal.aborted) reject(signal.reason)
      else if (cause instanceof CriaError) reject(cause)
      else reject(new CriaError('network', `${url.host} cannot be reached: ${cause.message}.`, { cause }))
    })
  })
}

/** Returns a lookup that yields only allowed addresses, so that no others are tried. */
function checked(lookup: Lookup, isAllowed: boolean): LookupFunction {
  return (host, options, done) => {
    lookup(host, (error, found) => {
      const usable = isAllowed ? found : found.filter(({ address }) => isPublicAddress(address))
      const [first] = usable
      if (error !== null) done(error, [])
      else if (first === undefined) done(found.length === 0 ? new Error('the name has no address') : notPublic(host), [])
      else if (options.all === true) done(null, [...usable])
      else done(null, first.address, first.family)
    })
  }
}

function resolveAll(host: string, done: Parameters<Lookup>[1]): void {
  systemLookup(host, { all: true }, (error, found) => done(error, found ?? []))
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let length = 0
  const collect = async (source: AsyncIterable<Buffer>): Promise<void> => {
    for await (const piece of source) {
      length += piece.length
      if (length > maxBytes) throw problem(`The answer is larger than ${megabytes(maxBytes)}.`)
      pieces.push(piece)
    }
  }
  try {
    const decoder = decoderFor(response.headers['content-encoding'])
    if (decoder === undefined) await collect(response)
    else await pipeline(response, decoder, collect)
  } catch (cause) {
    if (cause instanceof CriaError || (cause instanceof Error && cause.name === 'AbortError')) throw cause
    throw new CriaError('network', `The answer broke off: ${cause instanceof Error ? cause.message : String(cause)}.`, { cause })
  }
  return Buffer.concat(pieces, length)
}

function decoderFor(encoding: string | undefined): Transform | undefined {
  switch (encoding?.toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip()
    case 'br':
      return createBrotliDecompress()
    case 'deflate':
      return createInflate()
    default:
      return undefined
  }
}

function notPublic(host: string): CriaError {
  return new CriaError(
    'permission_denied',
    `${host} is not fetched: it leads to an address of this machine or of a private network.`,
  )
}

/** https://www.iana.org/assignments/iana-ipv4-special-registry */
const SPECIAL_V4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 ' +
  '192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4'
/**
 * Ranges inside 2000::/3 that are not public: https://www.iana.org/assignments/iana-ipv6-special-registry. Includes ranges that
 * embed an IPv4 address (2001::/32, 2002::/16), because it may be private.
 */
const SPECIAL_V6 = '2001::/23 2001:db8::/32 2002::/16 3fff::/20'

let special: BlockList | undefined

function specialAddresses(): BlockList {
  const list = new BlockList()
  for (const [family, nets] of [
    ['ipv4', SPECIAL_V4],
    ['ipv6', SPECIAL_V6],
  ] as const) {
    for (const [net = '', prefix] of nets.split(' ').map((each) => each.split('/'))) list.addSubnet(net, Number(prefix), family)
  }
  return list
}

/** Returns false for unknown forms. @param address as a socket reports it. */
export function isPublicAddress(address: string): boolean {
  const plain = address.replace(/%.*$/, '')
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1]
  if (mapped !== undefined) return isPublicAddress(mapped)
  if (isIP(plain) === 0) return false
  special ??= specialAddresses()
  if (isIPv4(plain)) return !special.check(plain, 'ipv4')
  // In 2000::/3 the first part has four digits.
  return /^[23][\da-f]{3}:/i.test(plain) && !special.check(plain, 'ipv6')
}

/** Returns true for the same origin, or for an upgrade of the same host from http to https. */
export function isSameSite(next: URL, before: URL): boolean {
  const isUpgrade = before.protocol === 'http:' && next.protocol === 'https:' && before.port === '' && next.port === ''
  return next.origin === before.origin || (isUpgrade && next.hostname === before.hostname)
}
