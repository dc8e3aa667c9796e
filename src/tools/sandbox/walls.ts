/** Describes the limits of a sandbox, and translates them for bubblewrap, `sandbox-exec` and the shell that sets resource limits. */

export interface Walls {
  /** Real path of the workspace, which is writable. */
  readonly root: string
  /** Further real paths that are writable. */
  readonly writable: readonly string[]
  /** Real paths inside writable paths that are read-only. */
  readonly readOnly: readonly string[]
  /** Real paths of folders that cannot be moved, because paths in them are hidden or read-only. */
  readonly pinned: readonly string[]
  /** Real paths of files that appear empty; `hiddenFolders` likewise. */
  readonly hiddenFiles: readonly string[]
  readonly hiddenFolders: readonly string[]
  /** Folders of programs that are readable although they are in `/tmp`. */
  readonly programs: readonly string[]
  /** A private folder that appears as `/tmp` in the sandbox. */
  readonly temporary: string
  readonly network: boolean
  /** Working directory of the command; default `root`. */
  readonly cwd?: string
}

/** Only the root is writable, and no path is hidden. */
export const NO_WALLS: Omit<Walls, 'root' | 'temporary'> = {
  writable: [],
  readOnly: [],
  pinned: [],
  hiddenFiles: [],
  hiddenFolders: [],
  programs: [],
  network: false,
}

/** Resource limits of each process of a command. */
export interface CommandLimits {
  /** Maximum processes and threads of the user; does not apply to root. Default 4096. */
  readonly processes?: number
  /** Maximum writable memory of a process in megabytes; default 16,384. */
  readonly memory?: number
  /** Maximum size of a written file in megabytes; default 10,240. */
  readonly fileSize?: number
}

/** Returns a command that sets the limits and then runs the program. If a limit cannot be set, a lower limit already applies. */
export function limited(
  { processes = 4096, memory = 16_384, fileSize = 10_240 }: CommandLimits,
  words: readonly string[],
): readonly string[] {
  const limits = `ulimit -c 0; ulimit -f ${fileSize * 2048}; ulimit -d ${memory * 1024}; ulimit -u ${processes} || ulimit -p ${processes}`
  return ['/bin/sh', '-c', `{ ${limits}; } 2>/dev/null; exec "$@"`, 'sh', ...words]
}

/** Holds sockets of services that act for the user. */
const SERVICES = '/run'
/** Parts of `/run` that commands need: host name resolution, and the programs of NixOS. */
const OF_SERVICES = [
  '/run/systemd/resolve',
  '/run/resolvconf',
  '/run/NetworkManager/resolv.conf',
  '/run/current-system',
  '/run/wrappers',
]

/** Kernel switches below `/proc`. Their owner, which is root also in a sandbox, may write them without privileges. */
const SWITCHES = 'sys sysrq-trigger irq bus fs acpi scsi driver tty mtrr dynamic_debug latency_stats timer_list'
  .split(' ')
  .map((name) => `/proc/${name}`)

/**
 * Returns the arguments of bubblewrap (https://github.com/containers/bubblewrap).
 *
 * @param exists returns whether a path exists, so that missing parts of the system are left out.
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
    // Folders come before their content.
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
 * Returns the profile for `sandbox-exec` (macOS). Later rules override earlier rules. Written from public descriptions of the language
 * and never run, for lack of a macOS machine.
 *
 * `temporary` is the real path of the temporary folder, because `/tmp` cannot be replaced here.
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
    // Moving a folder unlinks it.
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
    // Denies other processes, and services that would act for the command.
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
