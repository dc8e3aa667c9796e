/** Tells which process holds an open turn, and whether it still runs. */

import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

export interface Owner {
  readonly host: string
  /**
   * Process ids mean the same where this is the same: one boot of one machine, and on Linux one namespace of process ids, so that two
   * containers are two machines.
   */
  readonly machine: string
  readonly pid: number
  /** Tells the process from a later one with the same id; empty where the system does not say. */
  readonly started: string
}

export function thisOwner(): Owner {
  const host = hostname()
  const boot = ifReadable(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'))
  const namespace = ifReadable(() => readlinkSync('/proc/self/ns/pid')) ?? ''
  return {
    host,
    machine: boot === undefined ? host : `${boot.trim()} ${namespace}`,
    pid: process.pid,
    started: statusOf(process.pid)?.started ?? '',
  }
}

/**
 * Whether the process is known to live or to have ended. `unknown` on another machine, and where the system does not say when a process
 * started, so that another one may have its id by now: there the lease decides.
 */
export function livenessOf(owner: Owner, here: Owner): 'alive' | 'dead' | 'unknown' {
  if (owner.machine !== here.machine) return 'unknown'
  try {
    // Signal 0 is never delivered; it only asks whether it could be.
    process.kill(owner.pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return 'dead'
  }
  const status = statusOf(owner.pid)
  if (status === undefined || owner.started === '') return 'unknown'
  return status.ended || status.started !== owner.started ? 'dead' : 'alive'
}

/** https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html; `undefined` on other systems. */
function statusOf(pid: number): { readonly started: string; readonly ended: boolean } | undefined {
  const stat = ifReadable(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  // The second field is the name of the program, in parentheses, and may hold anything, parentheses and blanks too.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, started] = [fields?.[0], fields?.[19]]
  if (state === undefined || started === undefined) return undefined
  return { started, ended: state === 'Z' || state === 'X' }
}

function ifReadable(read: () => string): string | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
