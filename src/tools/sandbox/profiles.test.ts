/** Sandbox limits as arguments or profile of each system. */

import { expect, it } from 'vitest'
import { bubblewrapWords, limited, seatbeltProfile, trySandbox } from './system-sandbox.ts'
import type { Walls } from './system-sandbox.ts'

const WALLS: Walls = {
  root: '/w',
  writable: ['/cache'],
  readOnly: ['/w/.git/hooks'],
  pinned: ['/w/a'],
  hiddenFiles: ['/w/a/.env', '/home/u/.npmrc'],
  hiddenFolders: ['/home/u/.ssh', '/w/a/private'],
  programs: ['/tmp/cria'],
  temporary: '/t',
  network: false,
}

it.each<[what: string, words: string, walls?: Partial<Walls>]>([
  ['the root is writable', '--bind /w /w'],
  ['further folders are writable', '--bind /cache /cache'],
  ['everything else is read-only', '--ro-bind / / --proc /proc --dev /dev'],
  ['the switches of the kernel are read-only', '--ro-bind /proc/sys /proc/sys'],
  ['temporary files are private', '--bind /t /tmp'],
  ['a file is hidden', '--ro-bind /dev/null /w/a/.env'],
  ['a folder is empty', '--tmpfs /home/u/.ssh --remount-ro /home/u/.ssh'],
  ['a folder precedes its content', '--bind /w/a /w/a --ro-bind /w/.git/hooks /w/.git/hooks'],
  ['outer paths are hidden before the root is bound', '--ro-bind /dev/null /home/u/.npmrc --bind /w /w'],
  ['there is no network', '--unshare-net'],
  ['processes are isolated', '--unshare-user --unshare-pid'],
  ['no privilege is left', '--cap-drop ALL'],
  ['it starts in the root', '--chdir /w --'],
  ['it starts in another folder', '--chdir /w/sub --', { cwd: '/w/sub' }],
])('bubblewrap: %s', (_what, words, walls = {}) => {
  expect(bubblewrapWords({ ...WALLS, ...walls }, () => true).join(' ')).toContain(words)
})

it('bubblewrap: paths in a hidden folder are not hidden again, and the network is shared when allowed', () => {
  const words = bubblewrapWords({ ...WALLS, hiddenFiles: ['/w/a/private/.env'], network: true }, () => false).join(' ')
  expect(words).not.toContain('/w/a/private/.env')
  expect(words).not.toMatch(/--unshare-net|\/proc\/sys|--tmpfs \/run/)
})

it.each<[what: string, line: string, walls?: Partial<Walls>]>([
  ['everything is readable', '(allow default)'],
  ['the root is writable', '(allow file-write* (subpath "/w"))'],
  ['files that decide what runs later are read-only', '(deny file-write* (subpath "/w/.git/hooks"))'],
  ['a file is hidden', '(deny file-read* file-write* (literal "/w/a/.env"))'],
  ['a folder is hidden', '(deny file-read* file-write* (subpath "/home/u/.ssh"))'],
  ['a folder cannot be moved', '(deny file-write-unlink (literal "/w/a"))'],
  ['there is no network', '(deny network*)'],
  ['only local connections are allowed', '(allow network-outbound (remote ip "localhost:*"))'],
  ['quotes are escaped', '(allow file-write* (subpath "/w\\"\\\\"))', { root: '/w"\\' }],
  ['other processes are out of reach', '(deny signal (target others))'],
])('seatbelt: %s', (_what, line, walls = {}) => {
  const lines = seatbeltProfile({ ...WALLS, ...walls }).split('\n')
  expect(lines).toContain(line)
  // Later rules win, so denials must follow permissions.
  expect(lines.indexOf('(deny file-write*)')).toBeLessThan(lines.findIndex((each) => each.startsWith('(allow file-write*')))
})

it('seatbelt: with the network allowed, the profile has no network rule', () => {
  expect(seatbeltProfile({ ...WALLS, network: true })).not.toContain('network')
})

it('limits are set before the program runs', () => {
  const words = limited({ fileSize: 1, memory: 2, processes: 3 }, ['ls', '-l'])
  expect(words.slice(0, 2)).toEqual(['/bin/sh', '-c'])
  expect(words[2]).toMatch(/ulimit -f 2048; ulimit -d 2048; ulimit -u 3 .*exec "\$@"$/)
  expect(words.slice(3)).toEqual(['sh', 'ls', '-l'])
})

it('a sandbox is detected by a single trial run, and never through PATH', async () => {
  const tried: string[] = []
  const works = async (program: string): Promise<undefined> => void tried.push(program)
  const fails = async (): Promise<string> => 'no permissions'
  expect(await trySandbox('linux', (path) => path === '/usr/bin/bwrap', works)).toEqual({
    kind: 'bubblewrap',
    program: '/usr/bin/bwrap',
  })
  expect(tried).toEqual(['/usr/bin/bwrap'])
  expect(await trySandbox('linux', () => false, works)).toMatchObject({ kind: 'none', reason: 'bubblewrap is not installed' })
  expect(await trySandbox('linux', () => true, fails)).toMatchObject({
    kind: 'none',
    reason: 'bubblewrap cannot be used here: no permissions',
  })
  expect(await trySandbox('darwin', () => true, works)).toEqual({ kind: 'seatbelt', program: '/usr/bin/sandbox-exec' })
  expect(await trySandbox('win32', () => true, works)).toMatchObject({ kind: 'none' })
})
