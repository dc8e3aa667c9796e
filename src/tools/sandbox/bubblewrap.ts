/** The command line of bubblewrap for given walls. https://github.com/containers/bubblewrap */

import type { Walls } from './walls.ts'

/** Sockets of services that act for the user lie here, and what a command leaves for another one in `/tmp`. */
const SERVICES = '/run'
/** Of these a command needs something: the names of hosts, and the programs of NixOS. */
const OF_SERVICES = [
  '/run/systemd/resolve',
  '/run/resolvconf',
  '/run/NetworkManager/resolv.conf',
  '/run/current-system',
  '/run/wrappers',
]

/** Switches of the kernel. Their owner may turn them without any privilege, and root owns them in a sandbox too. */
const SWITCHES = [
  'sys',
  'sysrq-trigger',
  'irq',
  'bus',
  'fs',
  'acpi',
  'scsi',
  'driver',
  'tty',
  'mtrr',
  'dynamic_debug',
  'latency_stats',
  'timer_list',
].map((name) => `/proc/${name}`)

/** @param exists whether a path is there, so that a part of the system that is missing is not asked for. */
export function bubblewrapWords(walls: Walls, exists: (path: string) => boolean): readonly string[] {
  const { root, writable, readOnly, pinned, hiddenFiles, hiddenFolders, programs, temporary, network, cwd = root } = walls
  const inside = (path: string): boolean => [root, ...writable].some((folder) => path === folder || path.startsWith(`${folder}/`))
  const over = [
    ...pinned.map((path) => ({ path, words: ['--bind', path, path] })),
    ...readOnly.map((path) => ({ path, words: ['--ro-bind', path, path] })),
    ...hiddenFolders.map((path) => ({ path, words: ['--tmpfs', path, '--remount-ro', path] })),
    ...hiddenFiles.map((path) => ({ path, words: ['--ro-bind', '/dev/null', path] })),
  ]
    .filter(({ path }) => !hiddenFolders.some((folder) => path.startsWith(`${folder}/`)))
    // A folder comes before what lies in it.
    .toSorted((one, other) => one.path.split('/').length - other.path.split('/').length)
  const isolated = '--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --cap-drop ALL'.split(' ')
  const system = '--die-with-parent --ro-bind / / --proc /proc --dev /dev'.split(' ')
  return [
    ...isolated,
    ...(network ? [] : ['--unshare-net']),
    ...system,
    ...SWITCHES.filter(exists).flatMap((path) => ['--ro-bind', path, path]),
    ...(exists(SERVICES) ? ['--tmpfs', SERVICES, ...OF_SERVICES.flatMap((path) => ['--ro-bind-try', path, path])] : []),
    '--bind',
    temporary,
    '/tmp',
    ...(exists('/var/tmp') ? ['--bind', temporary, '/var/tmp'] : []),
    ...programs.flatMap((path) => ['--ro-bind', path, path]),
    ...over.filter(({ path }) => !inside(path)).flatMap(({ words }) => words),
    ...[root, ...writable].flatMap((path) => ['--bind', path, path]),
    ...over.filter(({ path }) => inside(path)).flatMap(({ words }) => words),
    '--chdir',
    cwd,
    '--',
  ]
}
