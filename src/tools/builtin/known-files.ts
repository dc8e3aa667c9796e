/** Remembers what the model has read: only a file that was read, and has not changed since, may be changed. */

import { Recent } from '../../util/recent.ts'

const MAX_SESSIONS = 200
const MAX_FILES = 5000

export class KnownFiles {
  readonly #sessions = new Recent<Recent<string>>(MAX_SESSIONS)

  /** @param hash of the bytes that were seen. */
  saw(sessionId: string, path: string, hash: string): void {
    const files = this.#sessions.get(sessionId) ?? new Recent<string>(MAX_FILES)
    this.#sessions.set(sessionId, files)
    files.set(path, hash)
  }

  hashOf(sessionId: string, path: string): string | undefined {
    return this.#sessions.get(sessionId)?.get(path)
  }
}
