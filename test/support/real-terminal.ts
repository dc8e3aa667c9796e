import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** util-linux's `script` runs a command in a terminal of its own and passes on what is typed and written. */
export const hasTerminal: boolean =
  process.platform === 'linux' &&
  existsSync('/usr/bin/script') &&
  spawnSync('/usr/bin/script', ['--version'], { encoding: 'utf8' }).stdout.includes('util-linux')

if (!hasTerminal) console.warn('There is no script(1) of util-linux here: nothing is tested in a real terminal.')
