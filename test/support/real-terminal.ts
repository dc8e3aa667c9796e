import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Names the program `script` of util-linux, which runs a command in a pseudo-terminal and forwards input and output. */
export const hasTerminal: boolean =
  process.platform === 'linux' &&
  existsSync('/usr/bin/script') &&
  spawnSync('/usr/bin/script', ['--version'], { encoding: 'utf8' }).stdout.includes('util-linux')

if (!hasTerminal) console.warn('There is no script(1) of util-linux here: nothing is tested in a real terminal.')
