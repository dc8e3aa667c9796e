/** Runs commands of one folder inside walls of the operating system, where it has such. */

import { cpSync, existsSync, mkdtempSync, readdirSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { ConfigurationError, CriaError } from '../../core/error.ts'
import type { CommandReach, Confinement, SandboxKind } from '../../core/tool.ts'
import { isInside } from '../../util/files.ts'
import { realOrSame } from '../../util/real-path.ts'
import { matchesPath } from '../../util/glob.ts'
import { decidesWhatRuns, isSecretPath } from '../permissions/guarded-paths.ts'
import { findSandbox } from './find-sandbox.ts'
import type { FoundSandbox } from './find-sandbox.ts'
import { FolderScan, identityOf } from './folder-scan.ts'
import type { Find, ScanOptions } from './folder-scan.ts'
import { dataElsewhere, decisiveParts, holdsCredential, isPlainRepository } from './git-folders.ts'
import { bubblewrapWords, limited, seatbeltProfile } from './walls.ts'
import type { CommandLimits, Walls } from './walls.ts'

export const SANDBOX_MODES = ['auto', 'required', 'off'] as const
export type SandboxMode = (typeof SANDBOX_MODES)[number]

export interface SandboxOptions {
  /** `auto` (default): where the system can. `required`: commands are refused where it cannot. `off`: never. */
  readonly mode?: SandboxMode
  /** `all`: every command may use the network; default `none`: those that a rule `network(…)` covers. */
  readonly network?: 'none' | 'all'
  readonly limits?: CommandLimits
  /** Further folders that commands write to: caches of package managers, say. */
  readonly writable?: readonly string[]
  /** Names of further variables that commands get. */
  readonly environment?: readonly string[]
  /** Further files and folders that are not there. */
  readonly hidden?: readonly string[]
}

/** @throws ConfigurationError for what is no setting of a sandbox. */
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
  /** To be called when the command has ended. @returns what it made and may not, and where that is now. */
  leave(): Promise<readonly Removed[]>
}

export interface Removed {
  /** Relative to the root. */
  readonly name: string
  readonly movedTo: string
}

const NO_REACH: CommandReach = { hidden: [], readOnly: [], shown: [], writable: [], network: false }
/** The user's own and the system's; those in home folders are found by name. */
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
  /** Places beside the workspace where secrets of the user lie, and which of their folders are looked into. */
  readonly #around: readonly { readonly scan: FolderScan; readonly enter: ScanOptions['enter'] }[]
  #temporary: string | undefined
  #programs: readonly string[] | undefined

  /** @param root real path. @param find for tests. */
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

  /** Folders `.git` of the workspace. */
  async repositories(): Promise<readonly string[]> {
    return (await this.#look()).flatMap(({ kind, real }) => (kind === 'git' ? [real] : []))
  }

  /** @throws CriaError `tool_failure` where a sandbox is required and there is none. */
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
    // Packages are many: they are looked through only where a rule may mean a file among them.
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

  /** Secrets beside the workspace, and services of the machine where the network is closed. */
  async #closedAround({ shown, network }: CommandReach): Promise<readonly Find[]> {
    const looks = this.#around.map(({ scan, enter }) => scan.look({ hidden: [], readOnly: [], enter }))
    return (await Promise.all(looks)).flat().filter((find) => {
      if (isInside(find.path, this.#root)) return false
      return (isClosedSecret(find) && !isOpened(find.real, shown, isSecretPath)) || (find.isSocket && !network)
    })
  }

  /** What decides what runs later, and was not there before, is taken away: a wall can only stand where something is. */
  #removeNew(before: ReadonlyMap<string, string>, finds: readonly Find[], { writable }: CommandReach): readonly Removed[] {
    const removed: Removed[] = []
    for (const [path, identity] of identities(finds)) {
      const old = before.get(path)
      // What stood at the top could not be replaced from inside.
      if (old === identity || (old !== undefined && dirname(path) === this.#root)) continue
      if (isOpened(path, writable, decidesWhatRuns) || isHarmlessData(path, before)) continue
      const movedTo = movedAway(path)
      if (movedTo !== undefined) removed.push({ name: this.#nameOf(path), movedTo })
    }
    return removed
  }
}

/** What the rules hide beside the workspace. A pattern that may mean any file of the system is held up only inside the workspace. */
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

/** What is guarded by its place, with what tells it from another one. */
function identities(finds: readonly Find[]): Map<string, string> {
  const guarded = finds.filter(({ isDecisive, isReadOnly }) => isDecisive || isReadOnly)
  const paths = guarded.flatMap(({ path, kind }) => (kind === 'git' ? [path, ...decisiveParts(path)] : [path]))
  return new Map(paths.flatMap((path) => [[path, identityOf(path) ?? ''] as const]))
}

/** Settings that hold a token only now and then, and are part of many projects, are secret when they do. */
function isClosedSecret({ isSecret, real }: Find): boolean {
  return isSecret && !(/^\.(?:npmrc|yarnrc|yarnrc\.yml|wgetrc)$/.test(basename(real)) && !holdsCredential(real))
}

/** The data of a new repository as git makes it, and its parts; work trees of a known one. */
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

/** Whether a rule opens a path: it names it, or stars only stand below what is guarded itself. */
function isOpened(path: string, patterns: readonly string[], isGuarded: (path: string) => boolean): boolean {
  return patterns.some((pattern) => matchesPath(pattern, path) && (!pattern.includes('*') || isGuarded(fixedPart(pattern))))
}

/** `~/` is the home folder, anything relative starts at the root. */
function absolute(path: string, root: string): string {
  return realOrSame(path.startsWith('~/') ? join(homedir(), path.slice(2)) : resolve(root, path))
}

/** The folders before the first part that is a pattern. */
function fixedPart(pattern: string): string {
  const parts = pattern.split('/')
  const first = parts.findIndex((part) => part.includes('*'))
  return first === -1 ? pattern : parts.slice(0, first).join('/') || '/'
}

function pinAbove(path: string, root: string, pinned: Set<string>): void {
  for (let folder = dirname(path); folder !== root && isInside(folder, root); folder = dirname(folder)) pinned.add(folder)
}

/** Settings lie in folders with a dot, not deep; caches and packages are many. */
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
    // What cannot be looked at may be one.
    return true
  }
}

/** `undefined` where it could not be moved. */
function movedAway(path: string): string | undefined {
  const target = join(mkdtempSync(join(tmpdir(), 'cria-removed-')), basename(path))
  try {
    renameSync(path, target)
    return target
  } catch {
    // The folder for temporary files lies on another disk.
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

/** Ends with the process. */
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

/** Where cria itself is installed, if that is a temporary folder: a command may run it, or a server that came with it. */
function ownPrograms(): readonly string[] {
  // A bundle of CommonJS knows no folder of its own.
  let folder = (import.meta.dirname as string | undefined) ?? process.cwd()
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder)
  const own = realOrSame(folder)
  return ['/tmp', '/var/tmp', realOrSame(tmpdir())].some((temporary) => isInside(own, temporary)) ? [own] : []
}
