/**
 * Runs benchmarks: `npm run bench` lists them, `npm run bench -- NAME …` runs bench/NAME.ts with the rest as its arguments.
 */

import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './files.ts'

const names = globSync('*.ts', { cwd: join(ROOT, 'bench') })
  .filter((file) => !file.endsWith('.test.ts'))
  .map((file) => file.slice(0, -'.ts'.length))
  .toSorted()
const [name, ...args] = process.argv.slice(2)

if (name !== undefined && names.includes(name)) {
  process.exitCode = spawnSync('node', [join(ROOT, 'bench', `${name}.ts`), ...args], { cwd: ROOT, stdio: 'inherit' }).status ?? 1
} else {
  console.log(
    names.length === 0
      ? 'There are no benchmarks in bench/ yet.'
      : `npm run bench -- NAME, where NAME is one of: ${names.join(', ')}`,
  )
  if (name !== undefined) process.exitCode = 2
}
