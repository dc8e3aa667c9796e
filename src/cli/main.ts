/**
 * The command line. `cria --help` needs no more than this file and the table of commands; everything else is loaded when it is called.
 */

import { overview } from './help.ts'

/** Runs a command line (without `node` and the name of the script) and resolves to the exit code. */
export async function main(words: readonly string[]): Promise<number> {
  const [first] = words
  if (words.length === 1 && (first === '--help' || first === '-h' || first === 'help')) return print(overview())
  if (words.length === 1 && (first === '--version' || first === '-v' || first === 'version')) {
    const { version } = await import('./version.ts')
    return print(`cria ${version()}\n`)
  }
  const { runCommandLine } = await import('./run.ts')
  return runCommandLine(words)
}

async function print(text: string): Promise<number> {
  process.stdout.on('error', () => {})
  await new Promise<void>((resolve) => {
    process.stdout.write(text, () => resolve())
  })
  return 0
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2))
