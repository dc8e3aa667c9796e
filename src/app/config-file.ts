/** Reads the text of a configuration file, the user's or a project's. */

import { readFileSync, statSync } from 'node:fs'
import { ConfigurationError } from '../core/error.ts'
import { reason } from './paths.ts'

/** More is no configuration. */
const MAX_BYTES = 1 << 20

/**
 * Looks at the entry first: reading a pipe would wait for ever, and a device may have no end.
 *
 * @throws ConfigurationError when it cannot be read, is no regular file, or is larger than 1 MB.
 */
export function readConfigFile(file: string): string {
  try {
    const status = statSync(file)
    if (status.isDirectory()) throw new ConfigurationError(`${file} cannot be read: it is a folder.`)
    if (!status.isFile()) throw new ConfigurationError(`${file} is no regular file.`)
    if (status.size > MAX_BYTES)
      throw new ConfigurationError(`${file} is larger than 1 MB (${status.size} bytes), which is no configuration.`)
    return readFileSync(file, 'utf8')
  } catch (cause) {
    if (cause instanceof ConfigurationError) throw cause
    throw new ConfigurationError(`${file} cannot be read: ${reason(cause)}.`, { cause })
  }
}
