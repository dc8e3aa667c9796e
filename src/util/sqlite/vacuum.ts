/** Gives room that is free inside a file back to the disk, step by step. */

import type { Connection } from './connection.ts'

/** Pages that one statement moves. */
const PAGES = 64

/**
 * Makes the file smaller for about `ms` milliseconds; every statement is a transaction of its own.
 *
 * @returns whether there is more to give back.
 */
export function vacuum(connection: Connection, ms: number): boolean {
  const deadline = performance.now() + ms
  let free = pragma(connection, 'freelist_count')
  while (free > 0) {
    connection.execute(`PRAGMA incremental_vacuum(${PAGES})`)
    const left = pragma(connection, 'freelist_count')
    // A file that was made without `auto_vacuum` keeps its pages, and uses them again.
    if (left >= free) return false
    free = left
    if (performance.now() >= deadline) return free > 0
  }
  return false
}

/** Moves the log into the file and empties it, as far as no reader needs it. @returns whether it is empty. */
export function truncateLog(connection: Connection): boolean {
  return connection.get<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)')?.busy === 0
}

/** More of the file is free than is soon used again: a quarter of it, and some megabytes. */
export function isMuchFree(connection: Connection): boolean {
  const free = pragma(connection, 'freelist_count')
  return free > 1000 && free * 4 > pragma(connection, 'page_count')
}

/** Bytes of the file that hold something. */
export function usedBytes(connection: Connection): number {
  return (pragma(connection, 'page_count') - pragma(connection, 'freelist_count')) * pragma(connection, 'page_size')
}

function pragma(connection: Connection, name: 'page_count' | 'freelist_count' | 'page_size'): number {
  return connection.get<Record<string, number>>(`PRAGMA ${name}`)?.[name] ?? 0
}
