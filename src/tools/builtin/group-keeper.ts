/** Ends process groups when our own process dies and cannot end them itself. */

import type { ChildProcess } from 'node:child_process'

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
/** Running groups, by the id of their first process. */
export const groups: Set<number> = new Set()

/** Starts the first process of a group. The keeper is started before it, so that it learns of the group without delay. */
export function kept(begin: () => ChildProcess): ChildProcess {
  keeper ??= start()
  try {
    const child = begin()
    if (child.pid !== undefined) {
      groups.add(child.pid)
      keeper.stdin?.write(`start ${child.pid}\n`)
    }
    return child
  } finally {
    endWhenIdle()
  }
}

/** Notifies the keeper that a group has ended. */
export function release(group: number): void {
  groups.delete(group)
  keeper?.stdin?.write(`end ${group}\n`)
  endWhenIdle()
}

function endWhenIdle(): void {
  if (groups.size > 0) return
  keeper?.stdin?.end()
  keeper = undefined
}

/** Starts the keeper: detached from the terminal and its signals, and not delaying the end of our process. Failure is ignored. */
function start(): ChildProcess {
  const { spawn } = process.getBuiltinModule('node:child_process')
  const { Socket } = process.getBuiltinModule('node:net')
  const child: ChildProcess = spawn('/bin/sh', ['-c', SCRIPT], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PATH: '/usr/bin:/bin' },
  })
  child.on('error', () => {})
  child.stdin?.on('error', () => {})
  child.unref()
  if (child.stdin instanceof Socket) child.stdin.unref()
  return child
}
