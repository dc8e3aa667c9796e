/** What a command in a sandbox can reach, and how that is said to bubblewrap, to `sandbox-exec` and to the shell that sets limits. */

export interface Walls {
  /** Real path of the folder that the command works in; written. */
  readonly root: string
  /** Real paths beside it that are written. */
  readonly writable: readonly string[]
  /** Real paths inside what is written that are only read. */
  readonly readOnly: readonly string[]
  /** Real paths of folders that cannot be moved: something in them is hidden or read-only by its place. */
  readonly pinned: readonly string[]
  /** Real paths of files that read as empty, and of folders that are empty. */
  readonly hiddenFiles: readonly string[]
  readonly hiddenFolders: readonly string[]
  /** Folders of programs that are to be read although they lie in `/tmp`. */
  readonly programs: readonly string[]
  /** A private folder outside, which is `/tmp` inside. */
  readonly temporary: string
  readonly network: boolean
  /** Where the command starts; default `root`. */
  readonly cwd?: string
}

/** Nothing but the root can be written, and nothing is hidden. */
export const NO_WALLS: Omit<Walls, 'root' | 'temporary'> = {
  writable: [],
  readOnly: [],
  pinned: [],
  hiddenFiles: [],
  hiddenFolders: [],
  programs: [],
  network: false,
}

/** Bounds of each process of a command. */
export interface CommandLimits {
  /** Processes and threads of the user; not counted for root. Default 4096. */
  readonly processes?: number
  /** Megabytes of memory that a process may write; default 16,384. */
  readonly memory?: number
  /** Megabytes of a file that is written; default 10,240. */
  readonly fileSize?: number
}

/** Sets the limits, then becomes the program behind them. Where a limit cannot be set, a lower one is in force already. */
export function limited(
  { processes = 4096, memory = 16_384, fileSize = 10_240 }: CommandLimits,
  words: readonly string[],
): readonly string[] {
  const limits = `ulimit -c 0; ulimit -f ${fileSize * 2048}; ulimit -d ${memory * 1024}; ulimit -u ${processes} || ulimit -p ${processes}`
  return ['/bin/sh', '-c', `{ ${limits}; } 2>/dev/null; exec "$@"`, 'sh', ...words]
}

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
const SWITCHES = 'sys sysrq-trigger irq bus fs acpi scsi driver tty mtrr dynamic_debug latency_stats timer_list'
  .split(' ')
  .map((name) => `/proc/${name}`)

/**
 * The words for bubblewrap (https://github.com/containers/bubblewrap).
 *
 * @param exists whether a path is there, so that a part of the system that is missing is not asked for.
 */
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

/**
 * The profile for `sandbox-exec` (macOS). A later rule wins over an earlier one. Written from the public descriptions of the language; it was
 * never run, because no such machine was at hand.
 *
 * `temporary` is the real path of the folder that stands for `/tmp`, which cannot be another one here.
 */
export function seatbeltProfile(walls: Walls): string {
  const { root, writable, readOnly, pinned, hiddenFiles, hiddenFolders, temporary, network } = walls
  const written = [root, ...writable, temporary, '/dev/null', '/dev/zero', '/dev/tty', '/dev/stdout', '/dev/stderr', '/dev/fd']
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    ...written.map((path) => `(allow file-write* (subpath ${quoted(path)}))`),
    ...readOnly.map((path) => `(deny file-write* (subpath ${quoted(path)}))`),
    // Moving a folder is to unlink it.
    ...pinned.map((path) => `(deny file-write-unlink (literal ${quoted(path)}))`),
    ...hiddenFiles.map((path) => `(deny file-read* file-write* (literal ${quoted(path)}))`),
    ...hiddenFolders.map((path) => `(deny file-read* file-write* (subpath ${quoted(path)}))`),
    ...(network
      ? []
      : [
          '(deny network*)',
          '(allow network-bind network-inbound (local ip "localhost:*"))',
          '(allow network-outbound (remote ip "localhost:*"))',
        ]),
    // Other processes, and services that would act for the command.
    '(deny process-info* (target others))',
    '(deny signal (target others))',
    '(allow signal (target same-sandbox))',
    '(deny appleevent-send)',
    '(deny mach-lookup (global-name "com.apple.coreservices.launchservicesd") (global-name "com.apple.securityd") (global-name "com.apple.SecurityServer") (global-name "com.apple.pasteboard.1"))',
    '(deny job-creation)',
  ].join('\n')
}

function quoted(path: string): string {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}
