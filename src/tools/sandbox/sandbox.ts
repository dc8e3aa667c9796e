/** Runs commands of a folder in a sandbox of the operating system, if available. */

import { cpSync, existsSync, mkdtempSync, readdirSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { ConfigurationError, CriaError } from '../../core/error.ts'
import type { CommandReach, Confinement, SandboxKind } from '../../core/tool.ts'
import { isInside } from '../../util/files.ts'
import { realOrSame } from '../../util/real-path.ts'
import { matchesPath } from '../../util/glob.ts'
import { decidesWhatRuns, isSecretPath } from '../permissions/guarded-paths.ts'
import { dataElsewhere, decisiveParts, FolderScan, holdsCredential, identityOf, isPlainRepository } from './folder-scan.ts'
import type { Find, ScanOptions } from './folder-scan.ts'
import { bubblewrapWords, findSandbox, limited, seatbeltProfile } from './system-sandbox.ts'
import type { CommandLimits, FoundSandbox, Walls } from './system-sandbox.ts'

export const SANDBOX_MODES = ['auto', 'required', 'off'] as const
export type SandboxMode = (typeof SANDBOX_MODES)[number]

export interface SandboxOptions {
  /** `auto` (default): confines commands if the system can. `required`: otherwise refuses them. `off`: does not confine them. */
  readonly mode?: SandboxMode
  /** `all`: every command may use the network; default `none`: only commands that a rule `network(…)` covers. */
  readonly network?: 'none' | 'all'
  readonly limits?: CommandLimits
  /** Further folders that commands may write, such as caches of package managers. */
  readonly writable?: readonly string[]
  /** Names of further variables that commands receive. */
  readonly environment?: readonly string[]
  /** Further files and folders that commands cannot see. */
  readonly hidden?: readonly string[]
}

/** @throws ConfigurationError for invalid sandbox settings. */
export function sandboxOptions(given: SandboxMode | SandboxOptions | undefined): SandboxOptions {
  const options = typeof given === 'string' ? { mode: given } : (given ?? {})
  const { mode = 'auto', network = 'none' } = options
  if (typeof options !== 'object' || !SANDBOX_MODES.includes(mode))
    throw new ConfigurationError(`\`sandbox\` must be one of ${SANDBOX_MODES.join(', ')}, but is ${JSON.stringify(mode)}.`)
  if (network !== 'none' && network !== 'all')
    throw new ConfigurationError(`\`sandbox.network\` must be "none" or "all", but is ${JSON.stringify(network)}.`)
  return options
}

export interface Entered {
  readonly kind: SandboxKind
  readonly program: string
  readonly words: readonly string[]
  /** Must be called when the command has ended. @returns files that it was not allowed to create, and where they were moved. */
  leave(): Promise<readonly Removed[]>
}

export interface Removed {
  /** Path relative to the root. */
  readonly name: string
  readonly movedTo: string
}

const NO_REACH: CommandReach = { hidden: [], readOnly: [], shown: [], writable: [], network: false }
/** Secrets of the user and the system. Those in home folders are also found by name. */
const SYSTEM_SECRETS = (
  '/etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d /etc/ssl/private /etc/krb5.keytab /etc/kubernetes ' +
  '/var/run/secrets /var/lib/docker /var/lib/containerd /etc/docker'
).split(' ')
const HOST_KEYS = '/etc/ssh'
const NEVER_SEARCHED: ReadonlySet<string> = new Set(['node_modules', 'bower_components', '__pycache__'])

export class Sandbox {
  readonly #root: string
  readonly #options: SandboxOptions
  readonly #find: () => Promise<FoundSandbox>
  readonly #workspace: FolderScan
  /** Folders outside the workspace that hold secrets of the user, and a filter of the subfolders to scan. */
  readonly #around: readonly { readonly scan: FolderScan; readonly enter: ScanOptions['enter'] }[]
  #temporary: string | undefined
  #programs: readonly string[] | undefined

  /** @param root real path of the workspace. @param find replaces the detection in tests. */
  constructor(root: string, options: SandboxOptions = {}, find: () => Promise<FoundSandbox> = findSandbox) {
    this.#root = root
    this.#options = options
    this.#find = find
    this.#workspace = new FolderScan(root)
    const home = realOrSame(homedir())
    const above = dirname(root)
    const isOwn = above !== '/' && above !== home && above !== realOrSame(tmpdir())
    this.#around = [
      { scan: new FolderScan(home), enter: isSearchedAtHome },
      ...(isOwn ? [{ scan: new FolderScan(above), enter: (_name: string, depth: number) => depth === 1 }] : []),
    ]
  }

  async found(): Promise<FoundSandbox> {
    if (this.#options.mode === 'off') return { kind: 'none', reason: 'it is switched off', hint: 'Set `sandbox` to "auto".' }
    return this.#find()
  }

  async confinement(): Promise<Confinement> {
    if ((await this.found()).kind !== 'none') return { confined: true }
    const secret = (await this.#look()).find(isClosedSecret)
    return { confined: false, ...(secret === undefined ? {} : { exposed: this.#nameOf(secret.path) }) }
  }

  /** Returns the `.git` folders of the workspace. */
  async repositories(): Promise<readonly string[]> {
    return (await this.#look()).flatMap(({ kind, real }) => (kind === 'git' ? [real] : []))
  }

  /** @throws CriaError `tool_failure` when a sandbox is required but not available. */
  async enter(words: readonly string[], reach: CommandReach = NO_REACH, cwd: string = this.#root): Promise<Entered> {
    const found = await this.found()
    const [program = '', ...rest] = words
    if (found.kind === 'none') {
      if (this.#options.mode !== 'required') return { kind: 'none', program, words: rest, leave: async () => [] }
      throw new CriaError('tool_failure', `The command was not run: a sandbox is required, and ${found.reason}.`, {
        hint: found.hint,
      })
    }
    const finds = await this.#look(reach)
    const before = identities(finds)
    const walls = await this.#walls(finds, { ...reach, network: this.#options.network === 'all' || reach.network })
    const inner = limited(this.#options.limits ?? {}, words)
    const outer = found.kind === 'bubblewrap' ? bubblewrapWords({ ...walls, cwd }, existsSync) : ['-p', seatbeltProfile(walls)]
    return {
      kind: found.kind,
      program: found.program,
      words: [...outer, ...inner],
      leave: async () => this.#removeNew(before, await this.#look(reach), reach),
    }
  }

  #nameOf(path: string): string {
    return path.slice(this.#root.length + 1)
  }

  #look({ hidden, readOnly }: Pick<CommandReach, 'hidden' | 'readOnly'> = NO_REACH): Promise<readonly Find[]> {
    // Installed packages are scanned only if a rule may match a file in them, because they are many.
    const isAnywhere = [...hidden, ...readOnly].some((pattern) => /\*.*\/|node_modules/.test(pattern.replace(/\/\*\*$/, '')))
    return this.#workspace.look({ hidden, readOnly, enter: (name) => isAnywhere || !NEVER_SEARCHED.has(name) })
  }

  async #walls(finds: readonly Find[], reach: CommandReach): Promise<Walls> {
    const root = this.#root
    const { shown, writable, network } = reach
    const hidden = new Set<string>()
    const readOnly = new Set<string>()
    const pinned = new Set<string>()
    const hide = (path: string): void => {
      if (!isInside(root, path) && existsSync(path)) hidden.add(path)
    }
    const guardData = (data: string): void => {
      for (const part of decisiveParts(data)) {
        if (!isOpened(part, writable, decidesWhatRuns)) readOnly.add(part)
        if (basename(part) === 'config' && holdsCredential(part)) hide(part)
      }
    }
    for (const find of finds) {
      const { path, real, kind, isSocket, isDecisive, isHidden, isReadOnly } = find
      if (isHidden || isReadOnly) pinAbove(path, root, pinned)
      if (
        isHidden ||
        (isClosedSecret(find) && !isOpened(real, [...shown, ...writable], isSecretPath)) ||
        (isSocket && !network)
      ) {
        hide(real)
        continue
      }
      if (kind === 'git') {
        pinned.add(real)
        guardData(real)
      }
      const isKept = isReadOnly || (isDecisive && kind !== 'git' && !isOpened(real, writable, decidesWhatRuns))
      if (isKept && isInside(real, root) && existsSync(real)) readOnly.add(real)
    }
    const data = dataElsewhere(root)
    if (data !== undefined) guardData(data)
    for (const path of [...SYSTEM_SECRETS, ...(this.#options.hidden ?? [])]) hide(realOrSame(path))
    for (const name of namesIn(HOST_KEYS)) if (name.endsWith('_key')) hide(join(HOST_KEYS, name))
    for (const { real } of await this.#closedAround(reach)) hide(real)
    for (const path of await outside(root, reach.hidden)) hide(realOrSame(path))
    const ownWritable = (this.#options.writable ?? []).map((path) => absolute(path, root)).filter((path) => existsSync(path))
    return {
      root,
      writable: [...ownWritable, ...(data === undefined ? [] : [data])],
      readOnly: [...readOnly],
      pinned: [...pinned],
      hiddenFiles: [...hidden].filter((path) => !isFolder(path)),
      hiddenFolders: [...hidden].filter(isFolder),
      programs: (this.#programs ??= ownPrograms()),
      temporary: (this.#temporary ??= temporaryFolder()),
      network,
    }
  }

  /** Finds secrets outside the workspace, and sockets of services when the network is closed. */
  async #closedAround({ shown, network }: CommandReach): Promise<readonly Find[]> {
    const looks = this.#around.map(({ scan, enter }) => scan.look({ hidden: [], readOnly: [], enter }))
    return (await Promise.all(looks)).flat().filter((find) => {
      if (isInside(find.path, this.#root)) return false
      return (isClosedSecret(find) && !isOpened(find.real, shown, isSecretPath)) || (find.isSocket && !network)
    })
  }

  /** Moves away new files that decide what runs later: a sandbox can protect only paths that exist when the command starts. */
  #removeNew(before: ReadonlyMap<string, string>, finds: readonly Find[], { writable }: CommandReach): readonly Removed[] {
    const removed: Removed[] = []
    for (const [path, identity] of identities(finds)) {
      const old = before.get(path)
      // A command cannot have replaced an existing entry of the root.
      if (old === identity || (old !== undefined && dirname(path) === this.#root)) continue
      if (isOpened(path, writable, decidesWhatRuns) || isHarmlessData(path, before)) continue
      const movedTo = movedAway(path)
      if (movedTo !== undefined) removed.push({ name: this.#nameOf(path), movedTo })
    }
    return removed
  }
}

/** Returns paths outside the workspace that the rules hide. A pattern for any file of the system is enforced only in the workspace. */
async function outside(root: string, patterns: readonly string[]): Promise<readonly string[]> {
  const found: string[] = []
  for (const pattern of patterns) {
    const fixed = fixedPart(pattern)
    if (isInside(fixed, root) || isInside(root, fixed) || !existsSync(fixed)) continue
    const isWhole = pattern === fixed || pattern === `${fixed}/**`
    const finds = isWhole ? [] : await new FolderScan(fixed).look({ hidden: [pattern], readOnly: [], enter: () => true })
    found.push(...(isWhole ? [fixed] : finds.flatMap(({ path, isHidden }) => (isHidden ? [path] : []))))
  }
  return found
}

/** Returns the identities of guarded files by their path. */
function identities(finds: readonly Find[]): Map<string, string> {
  const guarded = finds.filter(({ isDecisive, isReadOnly }) => isDecisive || isReadOnly)
  const paths = guarded.flatMap(({ path, kind }) => (kind === 'git' ? [path, ...decisiveParts(path)] : [path]))
  return new Map(paths.flatMap((path) => [[path, identityOf(path) ?? ''] as const]))
}

/** Returns whether a file is to be hidden. Settings that many projects have are hidden only if they hold a token. */
function isClosedSecret({ isSecret, real }: Find): boolean {
  return isSecret && !(/^\.(?:npmrc|yarnrc|yarnrc\.yml|wgetrc)$/.test(basename(real)) && !holdsCredential(real))
}

/** Accepts the data of a new repository as git creates it, its parts, and work trees of a known repository. */
function isHarmlessData(path: string, before: ReadonlyMap<string, string>): boolean {
  const at = path.lastIndexOf('/.git')
  if (at === -1 || !/^\/\.git(?:\/|$)/.test(path.slice(at))) return false
  const data = path.slice(0, at + '/.git'.length)
  if (before.has(data) && data !== path)
    return basename(path) === 'hooks' && namesIn(path).every((name) => name.endsWith('.sample'))
  if (isFolder(data)) return isPlainRepository(data)
  const common = dataElsewhere(dirname(data))
  return common !== undefined && before.has(common)
}

/** Returns whether a rule opens a path: it names the path, or has stars only below a path that is guarded itself. */
function isOpened(path: string, patterns: readonly string[], isGuarded: (path: string) => boolean): boolean {
  return patterns.some((pattern) => matchesPath(pattern, path) && (!pattern.includes('*') || isGuarded(fixedPart(pattern))))
}

/** Makes a path absolute: `~/` is the home folder, relative paths start at the root. */
function absolute(path: string, root: string): string {
  return realOrSame(path.startsWith('~/') ? join(homedir(), path.slice(2)) : resolve(root, path))
}

/** Returns the folders before the first part with a wildcard. */
function fixedPart(pattern: string): string {
  const parts = pattern.split('/')
  const first = parts.findIndex((part) => part.includes('*'))
  return first === -1 ? pattern : parts.slice(0, first).join('/') || '/'
}

function pinAbove(path: string, root: string, pinned: Set<string>): void {
  for (let folder = dirname(path); folder !== root && isInside(folder, root); folder = dirname(folder)) pinned.add(folder)
}

/** Limits the scan of a home folder to upper levels of dot folders, where settings are, without caches and packages. */
function isSearchedAtHome(name: string, depth: number): boolean {
  if (/^(?:\.cache|\.npm|\.cargo|\.rustup|\.nvm|\.pyenv|\.rbenv|\.vscode-server|\.Trash|node_modules|extensions)$/.test(name))
    return name === '.cargo' && depth === 1
  return depth === 1 ? name.startsWith('.') : depth === 2
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  } catch {
    // An unreadable entry may be one.
    return true
  }
}

/** Returns the new path; `undefined` when the file could not be moved. */
function movedAway(path: string): string | undefined {
  const target = join(mkdtempSync(join(tmpdir(), 'cria-removed-')), basename(path))
  try {
    renameSync(path, target)
    return target
  } catch {
    // The folder for temporary files is on another disk.
  }
  try {
    cpSync(path, target, { recursive: true, verbatimSymlinks: true })
    rmSync(path, { recursive: true, force: true })
    return target
  } catch {
    return undefined
  }
}

const temporaries = new Set<string>()

/** Creates a folder that is removed when the process ends. */
function temporaryFolder(): string {
  if (temporaries.size === 0) {
    process.on('exit', () => {
      for (const path of temporaries) rmSync(path, { recursive: true, force: true })
    })
  }
  const path = realpathSync.native(mkdtempSync(join(tmpdir(), 'cria-sandbox-')))
  temporaries.add(path)
  return path
}

/** Returns the folder of cria itself if it is temporary, so that commands may run cria or a server installed with it. */
function ownPrograms(): readonly string[] {
  // A CommonJS bundle has no `import.meta.dirname`.
  let folder = (import.meta.dirname as string | undefined) ?? process.cwd()
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder)
  const own = realOrSame(folder)
  return ['/tmp', '/var/tmp', realOrSame(tmpdir())].some((temporary) => isInside(own, temporary)) ? [own] : []
}
