/**
 * The command line. `cria --help` needs no more than this file and the table of commands; everything else is loaded when it is called.
 */

import { readFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { overview } from './help.ts'

/** Runs a command line (without `node` and the name of the script) and resolves to the exit code. */
export async function main(words: readonly string[]): Promise<number> {
  const [first] = words
  if (words.length === 1 && (first === '--help' || first === '-h' || first === 'help')) return print(await help())
  if (words.length === 1 && (first === '--version' || first === '-v' || first === 'version')) {
    return print(`cria ${version()}\n`)
  }
  // What is loaded from here on is compiled once; from source that is the greater part of the time.
  enableCompileCache()
  const { runCommandLine } = await import('./run.ts')
  return runCommandLine(words)
}

/** The version of the package: `src/cli` and `dist/cli` lie equally deep below its manifest. */
function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { readonly version: string }).version
}

async function help(): Promise<string> {
  const { isTTY, columns } = process.stdout
  if (!isTTY) return overview()
  const { helpLayout } = await import('./terminal/help-layout.ts')
  return overview(helpLayout(columns > 0 ? columns : undefined))
}

/** A reader that has seen enough is no failure; a full disk is. */
function print(text: string): Promise<number> {
  process.stdout.on('error', () => {})
  return new Promise((resolve) => {
    process.stdout.write(text, (error) => resolve(error == null || ('code' in error && error.code === 'EPIPE') ? 0 : 1))
  })
}

// No `await` here: the built command is CommonJS, which has none outside functions.
if (import.meta.main) {
  void main(process.argv.slice(2)).then((code) => {
    process.exitCode = code
  })
}
