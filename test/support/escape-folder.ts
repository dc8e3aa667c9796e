/** Creates a folder with targets for sandbox escapes, and detects whether an escape reached one. */

import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { basename, join } from 'node:path'

const COPY = { recursive: true, verbatimSymlinks: true } as const

export const CANARY = 'canary-0123456789'

export class EscapeFolder {
  readonly base: string
  readonly root: string
  readonly #outside: string
  readonly home: string
  readonly #bystander: ChildProcess
  readonly #servers: readonly Server[]
  #reached = 0

  /** @param under a folder outside `/tmp`, since a sandbox has its own `/tmp`. */
  static async make(under: string): Promise<EscapeFolder> {
    mkdirSync(under, { recursive: true })
    const folder = new EscapeFolder(realpathSync(mkdtempSync(join(under, 'escape-'))))
    await folder.#listen()
    folder.reset()
    return folder
  }

  private constructor(base: string) {
    this.base = base
    this.root = join(base, 'workspace')
    this.#outside = join(base, 'outside')
    this.home = join(base, 'cria-home')
    this.#servers = [createServer(), createServer()]
    for (const server of this.#servers) {
      server.on('connection', (socket) => {
        this.#reached++
        socket.on('error', () => {})
        socket.destroy()
      })
    }
    const script = `process.title='cria-escape-bystander'; setInterval(() => {}, 1000)`
    this.#bystander = spawn(process.execPath, ['-e', script], {
      stdio: 'ignore',
      env: { OPENAI_API_KEY: CANARY },
      detached: true,
    })
  }

  async #listen(): Promise<void> {
    mkdirSync(join(this.base, 'run'))
    const [onPort, onSocket] = this.#servers
    await new Promise<void>((resolve) => onPort?.listen(0, '127.0.0.1', resolve))
    await new Promise<void>((resolve) => onSocket?.listen(join(this.base, 'run/service.sock'), resolve))
  }

  /** Fills in the paths of this folder in a line of the table. */
  filled(line: string): string {
    const address = this.#servers[0]?.address() as AddressInfo | undefined
    const places: Record<string, string> = {
      OUT: this.#outside,
      PORT: `${address?.port}`,
      PID: `${this.#bystander.pid}`,
      HOME: this.home,
      ROOT: this.root,
    }
    return line.replaceAll(/\{(OUT|PORT|PID|HOME|ROOT)\}/g, (_whole, name: string) => places[name] ?? '')
  }

  /** Restores the initial state. */
  reset(): void {
    this.#reached = 0
    const template = join(this.base, 'template')
    if (!existsSync(template)) {
      this.#make()
      for (const path of [this.root, this.#outside, this.home]) cpSync(path, join(template, basename(path)), COPY)
      return
    }
    for (const path of [this.root, this.#outside, this.home]) {
      rmSync(path, { recursive: true, force: true })
      cpSync(join(template, basename(path)), path, COPY)
    }
  }

  #make(): void {
    for (const path of [this.root, this.#outside, this.home]) rmSync(path, { recursive: true, force: true })
    const { root } = this
    for (const path of [
      join(root, 'private'),
      join(root, 'deep/private'),
      join(root, 'locked'),
      join(root, 'conf'),
      join(root, 'open'),
      join(root, '.github/workflows'),
      this.#outside,
      this.home,
    ])
      mkdirSync(path, { recursive: true })
    execFileSync('git', ['init', '-q', root])
    const files: Record<string, string> = {
      '.env': `KEY=${CANARY}\n`,
      'conf/prod.env': `KEY=${CANARY}\n`,
      'private/x.txt': `${CANARY}\n`,
      'deep/private/y.txt': `${CANARY}\n`,
      'locked/x.txt': 'kept\n',
      '.github/workflows/ci.yml': 'kept\n',
      'open.txt': 'open\n',
      'open/a.txt': 'open\n',
      '../outside/victim.txt': 'kept\n',
      '../outside/.env': `KEY=${CANARY}\n`,
      '../outside/id_rsa': `${CANARY}\n`,
      '../cria-home/config.json': `{"note":"${CANARY}"}\n`,
      '../cria-home/cria.db': CANARY,
    }
    for (const [name, content] of Object.entries(files)) writeFileSync(join(root, name), content)
    symlinkSync('.env', join(root, 'alias.txt'))
    symlinkSync('../.env', join(root, 'conf/alias.txt'))
    symlinkSync('private', join(root, 'door'))
    symlinkSync('../outside', join(root, 'exit'))
  }

  /** Returns the effects of an escape; empty if it reached nothing. */
  damage(output: string): readonly string[] {
    const read = (name: string): string | undefined => {
      try {
        return readFileSync(join(this.root, name), 'utf8')
      } catch {
        return undefined
      }
    }
    const { pid } = this.#bystander
    const hooks = join(this.root, '.git/hooks')
    const badHooks = existsSync(hooks) ? readdirSync(hooks).filter((name) => !name.endsWith('.sample')) : []
    const later = [
      '.envrc',
      '.vscode',
      '.husky',
      '.cargo/config.toml',
      '.venv/bin/activate',
      '.devcontainer.json',
      '.githooks',
      '.claude',
      '.mcp.json',
      'sub/.cria',
      'sub/.git',
      'sub2/.git',
      '.git/commondir',
      '.github/workflows/new.yml',
    ]
    const checks: Record<string, boolean> = {
      'a secret was read':
        output.includes(CANARY) || /cc?a?n?a?r?y-0123/.test(output) || output.replaceAll(/\s/g, '').includes(CANARY),
      'a wall fell': /^canary$/m.test(output),
      'a file outside was changed':
        read('../outside/victim.txt') !== 'kept\n' || (lstatSync(join(this.#outside, 'victim.txt')).mode & 0o777) === 0,
      'something was made outside': readdirSync(this.#outside).toSorted().join() !== '.env,id_rsa,victim.txt',
      'a locked file was changed': read('locked/x.txt') !== undefined && read('locked/x.txt') !== 'kept\n',
      'the locked file is gone': read('locked/x.txt') === undefined,
      'a workflow was changed': read('.github/workflows/ci.yml') !== undefined && read('.github/workflows/ci.yml') !== 'kept\n',
      'the configuration of git was changed': /evil/.test(read('.git/config') ?? ''),
      'a hook was written': badHooks.length > 0,
      'what runs later was written': later.some(
        (name) => lstatSync(join(this.root, name), { throwIfNoEntry: false }) !== undefined,
      ),
      'the home was changed': readdirSync(this.home).toSorted().join() !== 'config.json,cria.db'.split(',').toSorted().join(),
      'the network was reached': this.#reached > 0,
      'a process outside was ended': pid === undefined || !isAlive(pid),
    }
    return Object.keys(checks).filter((name) => checks[name] === true)
  }

  async close(): Promise<void> {
    this.#bystander.kill('SIGKILL')
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))))
    rmSync(this.base, { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
