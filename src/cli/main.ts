/**
 * Entry point of the command line. `cria --help` loads only this file and the table of commands; everything else is loaded on use.
 */

import { readFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { overview, terminalLayout } from './help.ts'

/** Runs a command line, given without `node` and the script name, and resolves to the exit code. */
export async function main(words: readonly string[]): Promise<number> {
  const [first] = words
  if (words.length === 1 && (first === '--help' || first === '-h' || first === 'help')) return print(await help())
  if (words.length === 1 && (first === '--version' || first === '-v' || first === 'version')) {
    return print(`cria ${version()}\n`)
  }
  // Caches the compiled code of later imports, which take most of the start time when run from source.
  enableCompileCache()
  const { runCommandLine } = await import('./run.ts')
  return runCommandLine(words)
}

/** Reads the version from package.json, two folders above both `src/cli` and `dist/cli`. */
function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { readonly version: string }).version
}

async function help(): Promise<string> {
  const { isTTY, columns } = process.stdout
  if (!isTTY) return overview()
  return overview(await terminalLayout(columns > 0 ? columns : undefined))
}

/** Resolves to the exit code: 0 also when the reader closes early, 1 for other write errors such as a full disk. */
function print(text: string): Promise<number> {
  process.stdout.on('error', () => {})
  return new Promise((resolve) => {
    process.stdout.write(text, (error) => resolve(error == null || ('code' in error && error.code === 'EPIPE') ? 0 : 1))
  })
}

// No top-level `await`: the built command is CommonJS.
if (import.meta.main) {
  void main(process.argv.slice(2)).then((code) => {
    process.exitCode = code
  })
}
