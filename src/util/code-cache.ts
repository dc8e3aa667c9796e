/**
 * Runs a large script from V8's compiled code of an earlier run. Node's own compile cache holds what was compiled when a file was loaded, which
 * leaves out nearly every function; compiling those again is a sixth of a short command's time.
 */

import { hash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { Script } from 'node:vm'

/** Made again after this time, so that it comes to hold what later runs needed. */
const KEPT_MS = 24 * 60 * 60 * 1000
/** What others could have written is not run. */
const WRITABLE_BY_OTHERS = 0o022
/** Length of a checksum, in bytes. */
const SUM_BYTES = 32

/** What a CommonJS module is given. */
export interface ScriptScope {
  readonly module: { readonly exports: object }
  readonly require: (id: string) => unknown
}

/**
 * Runs a CommonJS file in its place, with stack traces as ever; it may not use `import()`. Works without a cache where Node's compile cache is
 * not enabled or cannot be written.
 *
 * @param path absolute; the name changes with the content, of which only the length is compared.
 * @param variant lower-case letters; keeps apart what different uses of the file need.
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
  // A thread needs other functions than the command.
  if (cachePath !== undefined && !isFresh && process.getBuiltinModule('node:worker_threads').isMainThread) {
    process.once('exit', (code) => {
      // A run that failed has not come far.
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
    // The next run compiles, as this one did.
    remove(unfinished)
  }
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // A folder that has become another one since then.
  }
}

/**
 * V8 looks at no more than the header of what it is given: bytes that were lost, as after a power failure, would crash this run and all that
 * follow, or never let them end.
 */
function sealed(data: Buffer): Buffer {
  return Buffer.concat([data, sumOf(data)])
}

/** `undefined` for what is not as it was written. */
function unsealed(file: Buffer): Buffer | undefined {
  // The sum stands at the end, so that the data begins where V8 need not copy it.
  const data = file.subarray(0, Math.max(0, file.length - SUM_BYTES))
  return sumOf(data).equals(file.subarray(data.length)) ? data : undefined
}

function sumOf(data: Buffer): Buffer {
  return hash('sha256', data, 'buffer')
}
