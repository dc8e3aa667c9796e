/**
 * Runs a large script from what V8 had compiled at the end of an earlier run. Node's own compile cache holds what was compiled when a file
 * was loaded, which leaves out nearly every function; compiling those again is a sixth of a short command's time.
 */

import { closeSync, fstatSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { Script } from 'node:vm'

/** Made again after this time, so that it comes to hold what later runs needed. */
const KEPT_MS = 24 * 60 * 60 * 1000
/** What others could have written is not run. */
const WRITABLE_BY_OTHERS = 0o022

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
      return isOwn ? { data: readFileSync(file), isOld: Date.now() - mtimeMs > KEPT_MS } : undefined
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
    writeFileSync(unfinished, script.createCachedData(), { mode: 0o600, flag: 'wx' })
    renameSync(unfinished, path)
  } catch {
    // The next run compiles, as this one did.
    rmSync(unfinished, { force: true })
  }
}
