/** Returns free space inside a file to the disk, step by step. */

import type { Connection } from './connection.ts'

/** Number of pages that a statement moves. */
const PAGES = 64

/**
 * Shrinks the file for about `ms` milliseconds; every statement is a separate transaction.
 *
 * @returns whether there is more space to free.
 */
export function vacuum(connection: Connection, ms: number): boolean {
  const deadline = performance.now() + ms
  let free = pragma(connection, 'freelist_count')
  while (free > 0) {
    connection.execute(`PRAGMA incremental_vacuum(${PAGES})`)
    const left = pragma(connection, 'freelist_count')
    // A file created without `auto_vacuum` keeps its pages and reuses them.
    if (left >= free) return false
    free = left
    if (performance.now() >= deadline) return free > 0
  }
  return false
}

/** Moves the write-ahead log into the file and empties it, as far as no reader needs it. @returns whether it is empty. */
export function truncateLog(connection: Connection): boolean {
  return connection.get<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)')?.busy === 0
}

/** Returns whether much of the file is free: a quarter of it, and some megabytes. */
export function isMuchFree(connection: Connection): boolean {
  const free = pragma(connection, 'freelist_count')
  return free > 1000 && free * 4 > pragma(connection, 'page_count')
}

/** Returns the number of used bytes of the file. */
export function usedBytes(connection: Connection): number {
  return (pragma(connection, 'page_count') - pragma(connection, 'freelist_count')) * pragma(connection, 'page_size')
}

function pragma(connection: Connection, name: 'page_count' | 'freelist_count' | 'page_size'): number {
  return connection.get<Record<string, number>>(`PRAGMA ${name}`)?.[name] ?? 0
}
