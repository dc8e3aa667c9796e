/**
 * Runs a large script from V8 code that an earlier run compiled. Node's own compile cache holds only code compiled while a file loads,
 * which omits nearly every function; compiling those again takes a sixth of a short command's time.
 */

import { hash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { Script } from 'node:vm'

/** The cache is rewritten after this time, to include functions that later runs have compiled. */
const KEPT_MS = 24 * 60 * 60 * 1000
/** Mode bits of a cache that other users could have written, and that is therefore ignored. */
const WRITABLE_BY_OTHERS = 0o022
/** Length of a checksum, in bytes. */
const SUM_BYTES = 32

/** The variables of a CommonJS module. */
export interface ScriptScope {
  readonly module: { readonly exports: object }
  readonly require: (id: string) => unknown
}

/**
 * Runs a CommonJS file under its own path, with normal stack traces; the file must not use `import()`. Runs it without a cache when
 * Node's compile cache is not enabled or not writable.
 *
 * @param path absolute; must change with the content, because only the length of the content is compared.
 * @param variant lower-case letters; separates the caches of different uses of the file.
 */
export function runCached(path: string, variant: string, { module, require }: ScriptScope): void {
  const folder = getCompileCacheDir()
  const use = /^[a-z]{1,20}$/.test(variant) ? variant : 'other'
  const cachePath = folder === undefined ? undefined : join(folder, `${basename(path)}.${use}`)
  const cached = cachePath === undefined ? undefined : readOwn(cachePath)
  const head = '(function (exports, require, module, __filename, __dirname) {'
  const script = new Script(`${head}${readFileSync(path, 'utf8')}\n})`, {
    filename: path,
    columnOffset: -head.length,
    ...(cached === undefined ? {} : { cachedData: cached.data }),
  })
  const isFresh = cached?.isOld === false && script.cachedDataRejected === false
  // Threads do not write the cache: they compile other functions than the command.
  if (cachePath !== undefined && !isFresh && process.getBuiltinModule('node:worker_threads').isMainThread) {
    process.once('exit', (code) => {
      // A failed run has compiled only a few functions.
      if (code === 0) write(cachePath, script)
    })
  }
  const run = script.runInThisContext() as (...scope: readonly unknown[]) => void
  run.call(module.exports, module.exports, require, module, path, dirname(path))
}

function readOwn(path: string): { readonly data: Buffer; readonly isOld: boolean } | undefined {
  try {
    const file = openSync(path, 'r')
    try {
      const { uid, mode, mtimeMs } = fstatSync(file)
      const isOwn = process.getuid === undefined || (uid === process.getuid() && (mode & WRITABLE_BY_OTHERS) === 0)
      const data = isOwn ? unsealed(readFileSync(file)) : undefined
      return data === undefined ? undefined : { data, isOld: Date.now() - mtimeMs > KEPT_MS }
    } finally {
      closeSync(file)
    }
  } catch {
    return undefined
  }
}

function write(path: string, script: Script): void {
  const unfinished = `${path}.${process.pid}`
  try {
    writeFileSync(unfinished, sealed(script.createCachedData()), { mode: 0o600, flag: 'wx' })
    renameSync(unfinished, path)
  } catch {
    // Without a cache the next run compiles again.
    remove(unfinished)
  }
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // The folder has been replaced meanwhile.
  }
}

/**
 * Appends a checksum. V8 checks only the header of its data: lost bytes, as after a power failure, would crash or hang this run and all
 * later ones.
 */
function sealed(data: Buffer): Buffer {
  return Buffer.concat([data, sumOf(data)])
}

/** Returns the data; `undefined` when the checksum does not match. */
function unsealed(file: Buffer): Buffer | undefined {
  // The checksum is at the end, so that the data is aligned and V8 need not copy it.
  const data = file.subarray(0, Math.max(0, file.length - SUM_BYTES))
  return sumOf(data).equals(file.subarray(data.length)) ? data : undefined
}

function sumOf(data: Buffer): Buffer {
  return hash('sha256', data, 'buffer')
}
