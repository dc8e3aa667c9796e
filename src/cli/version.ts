import { readFileSync } from 'node:fs'

/** The version of the package: `src/cli` and `dist/cli` lie equally deep below its manifest. */
export function version(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    readonly version: string
  }
  return manifest.version
}
