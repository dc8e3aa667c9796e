/** Replaces a file atomically: readers see the old content or the new, also after a crash. */

import { randomBytes } from 'node:crypto'
import { link, mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CriaError } from '../../core/error.ts'
import { codeOf, problem } from './open-file.ts'
import { inFolderOf } from './open-file.ts'
import type { TextFile } from './text-file.ts'
import type { WorkspacePath } from './workspace.ts'

/**
 * Replaces a file and keeps its mode, and its owner where that is allowed.
 *
 * @throws CriaError `tool_failure` that says why it cannot be written.
 */
export function replaceFile(
  place: WorkspacePath,
  bytes: Uint8Array,
  { mode, owner }: Pick<TextFile, 'mode' | 'owner'>,
): Promise<void> {
  return put(place, bytes, async (temporary, target, handle) => {
    await handle.chown(owner.uid, owner.gid).catch(() => {})
    // After the owner: a change of owner takes some bits of the mode away.
    await handle.chmod(mode)
    await rename(temporary, target)
  })
}

/** Makes a file where none is, and the folders above it. @throws CriaError `tool_failure`, also when something is there by now. */
export async function createFile(place: WorkspacePath, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(place.real), { recursive: true }).catch((cause: unknown) => {
    throw problem(`The folder of ${JSON.stringify(place.name)} cannot be made (${codeOf(cause)}).`, cause)
  })
  await put(place, bytes, async (temporary, target) => {
    // Unlike a rename this fails when somebody else was faster.
    await link(temporary, target)
  })
}

type Finish = (temporary: string, target: string, handle: Awaited<ReturnType<typeof open>>) => Promise<void>

async function put(place: WorkspacePath, bytes: Uint8Array, finish: Finish): Promise<void> {
  try {
    await inFolderOf(place, (folder) => putInto(folder, basename(place.real), bytes, finish))
  } catch (cause) {
    if (cause instanceof CriaError) throw cause
    throw problem(`${JSON.stringify(place.name)} cannot be written (${codeOf(cause)}).`, cause)
  }
}

async function putInto(folder: string, name: string, bytes: Uint8Array, finish: Finish): Promise<void> {
  const temporary = join(folder, `.cria-${randomBytes(6).toString('hex')}.tmp`)
  try {
    const handle = await open(temporary, 'wx')
    try {
      await handle.writeFile(bytes)
      await handle.sync()
      await finish(temporary, join(folder, name), handle)
    } finally {
      await handle.close()
    }
  } finally {
    await rm(temporary, { force: true })
  }
}
