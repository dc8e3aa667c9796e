/** Resolves a path through all links. */

// Not from `node:fs/promises`, so that the bundled command loads it on first use.
import { lstatSync, promises, readlinkSync, realpathSync } from 'node:fs'
import { isAbsolute, join, parse, resolve, sep } from 'node:path'

const MAX_LINKS = 40

/**
 * Follows every link of an absolute path, part by part as the system does: `..` after a link is relative to the link's target. Parts
 * that do not exist stay unchanged, also in the target of a link.
 *
 * @throws Error when links go in a circle, or a folder cannot be read.
 */
export async function realPathOf(path: string): Promise<string> {
  const walk = follow(path)
  let step = walk.next()
  while (step.done !== true) step = walk.next(await linkTarget(step.value))
  return step.value
}

/** Synchronous form of `realPathOf`. */
export function realPathOfSync(path: string): string {
  const walk = follow(path)
  let step = walk.next()
  while (step.done !== true) step = walk.next(linkTargetSync(step.value))
  return step.value
}

/** Yields each path on the way, receives its target when it is a link, and returns the final path. */
function* follow(path: string): Generator<string, string, string | undefined> {
  const { root } = parse(path)
  let current = root
  let links = 0
  const left = partsOf(path.slice(root.length))
  for (let part = left.shift(); part !== undefined; part = left.shift()) {
    const next = resolve(current, part)
    const target = part === '..' ? undefined : yield next
    if (target === undefined) {
      current = next
      continue
    }
    if (++links > MAX_LINKS) throw new Error(`too many links in ${path}`)
    if (isAbsolute(target)) current = parse(target).root
    left.unshift(...partsOf(isAbsolute(target) ? target.slice(current.length) : target))
  }
  return current
}

function partsOf(path: string): string[] {
  return path.split(sep).filter((part) => part !== '' && part !== '.')
}

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return (await promises.lstat(path)).isSymbolicLink() ? await promises.readlink(path) : undefined
  } catch (error) {
    return ifMissing(error)
  }
}

function linkTargetSync(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined
  } catch (error) {
    return ifMissing(error)
  }
}

function ifMissing(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error
}

/** Follows the links of a pattern up to its first part with a star. */
export async function realPatternOf(pattern: string): Promise<string> {
  const parts = pattern.split('/')
  const star = parts.findIndex((part) => part.includes('*'))
  const fixed = star === -1 ? parts : parts.slice(0, star)
  const real = await realPathOf(resolve(fixed.join('/') || '/'))
  return star === -1 ? real : join(real, ...parts.slice(star))
}

/** Returns the real path; the path unchanged when it cannot be followed. */
export function realOrSame(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}
