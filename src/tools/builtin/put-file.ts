/** Puts a file in its place as a whole: whoever reads it sees the old content or the new, also after a crash in between. */

import { randomBytes } from 'node:crypto'
import { link, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { codeOf, problem } from './open-file.ts'
import type { TextFile } from './text-file.ts'
import type { Place } from './workspace.ts'

/**
 * Replaces a file and keeps its mode, and its owner where that is allowed.
 *
 * @throws CriaError `tool_failure` that says why it cannot be written.
 */
export function replaceFile(place: Place, bytes: Uint8Array, { mode, owner }: Pick<TextFile, 'mode' | 'owner'>): Promise<void> {
  return put(place, bytes, async (temporary, handle) => {
    await handle.chown(owner.uid, owner.gid).catch(() => {})
    // After the owner: a change of owner takes some bits of the mode away.
    await handle.chmod(mode)
    await rename(temporary, place.real)
  })
}

/** Makes a file where none is, and the folders above it. @throws CriaError `tool_failure`, also when something is there by now. */
export async function createFile(place: Place, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(place.real), { recursive: true }).catch((cause: unknown) => {
    throw problem(`The folder of ${JSON.stringify(place.name)} cannot be made (${codeOf(cause)}).`, cause)
  })
  await put(place, bytes, async (temporary) => {
    // Unlike a rename this fails when somebody else was faster.
    await link(temporary, place.real)
  })
}

async function put(
  { real, name }: Place,
  bytes: Uint8Array,
  finish: (temporary: string, handle: Awaited<ReturnType<typeof open>>) => Promise<void>,
): Promise<void> {
  const temporary = join(dirname(real), `.cria-${randomBytes(6).toString('hex')}.tmp`)
  try {
    const handle = await open(temporary, 'wx')
    try {
      await handle.writeFile(bytes)
      await handle.sync()
      await finish(temporary, handle)
    } finally {
      await handle.close()
    }
  } catch (cause) {
    throw problem(`${JSON.stringify(name)} cannot be written (${codeOf(cause)}).`, cause)
  } finally {
    await rm(temporary, { force: true })
  }
}
