/**
 * Finds programs that have left the process group of their command, as daemons do. What they start inherits its environment, so a variable of the
 * command's own finds them. Only where `/proc` tells of environments; a program that clears its own is not found.
 */

import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'

const VARIABLE = 'CRIA_COMMAND'
const GRACE = 800
const STEP = 20
/** What is born while the others end is found in the next round. */
const MAX_ROUNDS = 10

export class Stragglers {
  readonly #mark = `${VARIABLE}=${randomUUID()}`

  constructor() {
    if (marks.size === 0 && !process.listeners('exit').includes(endAll)) process.on('exit', endAll)
    marks.add(this.#mark)
  }

  /** The environment that the command has to be started with. */
  marked(env: Readonly<Record<string, string>>): Record<string, string> {
    return { ...env, [VARIABLE]: this.#mark.slice(VARIABLE.length + 1) }
  }

  /** Ends those that are left: SIGTERM, and SIGKILL after the grace. To be called when the command has ended. */
  async end(): Promise<void> {
    if (!marks.has(this.#mark)) return
    let left = signal(this.#mark, 'SIGTERM')
    for (let waited = 0; left > 0 && waited < GRACE; waited += STEP) {
      await pause()
      left = signal(this.#mark, 0)
    }
    for (let round = 0; left > 0 && round < MAX_ROUNDS; round++) {
      left = signal(this.#mark, 'SIGKILL')
      if (left > 0) await pause()
    }
    marks.delete(this.#mark)
  }
}

/** Of commands that have not ended: an end of our own process must not leave theirs behind. */
const marks = new Set<string>()

function endAll(): void {
  for (const mark of marks) for (let round = 0; round < MAX_ROUNDS && signal(mark, 'SIGKILL') > 0; round++);
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, STEP)
  })
}

/** How many processes carry the mark and could be told. */
function signal(mark: string, name: NodeJS.Signals | 0): number {
  let count = 0
  for (const pid of processes()) {
    try {
      if (!environmentOf(pid).includes(`\0${mark}\0`)) continue
      process.kill(pid, name)
      count++
    } catch {
      // It has ended, or is somebody else's.
    }
  }
  return count
}

function processes(): number[] {
  if (process.platform !== 'linux') return []
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
  } catch {
    return []
  }
}

/** Empty for what has ended and was not reaped yet. */
function environmentOf(pid: number): string {
  return `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}\0`
}
