/** Tells public addresses from those of this machine, its network or its host. */

import { BlockList, isIP, isIPv4 } from 'node:net'

/** https://www.iana.org/assignments/iana-ipv4-special-registry */
const SPECIAL_V4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 ' +
  '192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4'
/**
 * Inside 2000::/3, which is all that is public: https://www.iana.org/assignments/iana-ipv6-special-registry. Those that carry an IPv4
 * address (2001::/32, 2002::/16) are among them, so that none is hidden in there.
 */
const SPECIAL_V6 = '2001::/23 2001:db8::/32 2002::/16 3fff::/20'

let lists: { readonly special: BlockList; readonly global: BlockList } | undefined

function madeLists(): NonNullable<typeof lists> {
  const special = new BlockList()
  const global = new BlockList()
  for (const each of SPECIAL_V4.split(' ')) special.addSubnet(...subnet(each), 'ipv4')
  for (const each of SPECIAL_V6.split(' ')) special.addSubnet(...subnet(each), 'ipv6')
  global.addSubnet('2000::', 3, 'ipv6')
  return { special, global }
}

function subnet(text: string): [net: string, prefix: number] {
  const [net = '', prefix] = text.split('/')
  return [net, Number(prefix)]
}

/** @param address as a socket tells it; anything else is not public. */
export function isPublicAddress(address: string): boolean {
  const plain = address.replace(/%.*$/, '')
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1]
  if (mapped !== undefined) return isPublicAddress(mapped)
  if (isIP(plain) === 0) return false
  const { special, global } = (lists ??= madeLists())
  if (isIPv4(plain)) return !special.check(plain, 'ipv4')
  return global.check(plain, 'ipv6') && !special.check(plain, 'ipv6')
}
