/** Detects the sandbox of the operating system, and translates limits for it: bubblewrap, `sandbox-exec`, and the shell for resource limits. */

import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'

export type FoundSandbox =
  | { readonly kind: 'bubblewrap' | 'seatbelt'; readonly program: string }
  | { readonly kind: 'none'; readonly reason: string; readonly hint: string }

/** Fixed paths, not PATH, because a project could bring its own program. */
const BUBBLEWRAP = ['/usr/bin/bwrap', '/bin/bwrap', '/usr/local/bin/bwrap', '/run/current-system/sw/bin/bwrap']
const SEATBELT = '/usr/bin/sandbox-exec'
const PATIENCE = 3000

let found: Promise<FoundSandbox> | undefined

export function findSandbox(): Promise<FoundSandbox> {
  found ??= trySandbox(process.platform, existsSync, run)
  return found
}

type Run = (program: string, words: readonly string[]) => Promise<string | undefined>

/** @param run starts a program; resolves to the problem, or `undefined`. */
export async function trySandbox(platform: string, exists: (path: string) => boolean, run: Run): Promise<FoundSandbox> {
  if (platform === 'darwin') {
    const problem = exists(SEATBELT)
      ? await run(SEATBELT, ['-p', '(version 1)(allow default)', '/usr/bin/true'])
      : 'it is not installed'
    return problem === undefined
      ? { kind: 'seatbelt', program: SEATBELT }
      : none(`sandbox-exec cannot be used: ${problem}`, 'Sandboxes may be forbidden inside another sandbox.')
  }
  if (platform !== 'linux') return none('there is no sandbox for this system', 'Commands are confined on Linux and macOS.')
  const program = BUBBLEWRAP.find(exists)
  if (program === undefined) return none('bubblewrap is not installed', 'Install the package "bubblewrap" of your system.')
  const walls = { ...NO_WALLS, root: '/usr', temporary: tmpdir() }
  const words = bubblewrapWords(walls, exists).map((word) => (word === '--bind' ? '--ro-bind' : word))
  const problem = await run(program, [...words, '/bin/sh', '-c', ':'])
  if (problem === undefined) return { kind: 'bubblewrap', program }
  return none(
    `bubblewrap cannot be used here: ${problem}`,
    'Unprivileged user namespaces may be switched off (sysctl kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns), or this is a container that forbids them.',
  )
}

function none(reason: string, hint: string): FoundSandbox {
  return { kind: 'none', reason, hint }
}

async function run(program: string, words: readonly string[]): Promise<string | undefined> {
  // Loaded on first use, because every module that reads the configuration imports this file.
  const { execFile } = await import('node:child_process')
  return new Promise((resolve) => {
    execFile(program, words, { timeout: PATIENCE, env: { PATH: '/usr/bin:/bin' } }, (error, _out, complaint) => {
      if (error === null) resolve(undefined)
      else resolve(complaint.trim().split('\n', 1)[0]?.slice(0, 300) || `it ended with ${String(error.code ?? error.signal)}`)
    })
  })
}

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
const NO_WALLS: Omit<Walls, 'root' | 'temporary'> = {
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
