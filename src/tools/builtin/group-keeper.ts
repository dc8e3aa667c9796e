/**
 * Ends groups of processes when our own process ends without a chance to do so, by SIGKILL or a crash: a shell keeps a list of them, and waits
 * for the end of its input, which comes with the end of ours.
 */

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { Socket } from 'node:net'

const SCRIPT = `
alive=
while read -r verb group; do
  rest=
  for each in $alive; do [ "$each" = "$group" ] || rest="$rest $each"; done
  alive=$rest
  [ "$verb" = end ] || alive="$alive $group"
done
left=
for each in $alive; do kill -s TERM -- "-$each" && left="$left $each"; done
[ -z "$left" ] || sleep 1
for each in $left; do kill -s KILL -- "-$each"; done`

let keeper: ChildProcess | undefined
const kept = new Set<number>()

/** @param group id of a group of processes. */
export function keep(group: number): void {
  kept.add(group)
  keeper ??= start()
  keeper.stdin?.write(`start ${group}\n`)
}

/** The group has ended. Nothing of ours waits for nothing. */
export function release(group: number): void {
  if (!kept.delete(group)) return
  keeper?.stdin?.write(`end ${group}\n`)
  if (kept.size > 0) return
  keeper?.stdin?.end()
  keeper = undefined
}

/** It sees no signal of the terminal, and does not hold up the end of our process. Without it there is only less comfort. */
function start(): ChildProcess {
  const child = spawn('/bin/sh', ['-c', SCRIPT], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PATH: '/usr/bin:/bin' },
  })
  child.on('error', () => {})
  child.stdin.on('error', () => {})
  child.unref()
  if (child.stdin instanceof Socket) child.stdin.unref()
  return child
}
