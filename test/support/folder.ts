/** Creates a temporary folder for each test of a file. */

import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'

/** Creates a folder before each test, passes its real path to `use`, and removes it afterwards. */
export function folderForEach(use: (folder: string) => void): void {
  let folder = ''
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'cria-test-')))
    use(folder)
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
}
