import { readFileSync } from 'node:fs'

/** The version of the package this file belongs to, wherever it was built to. */
export function version(): string {
  for (const place of ['../../package.json', '../package.json', './package.json']) {
    try {
      const manifest = JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8')) as { name?: unknown; version?: unknown }
      if (manifest.name === 'cria' && typeof manifest.version === 'string') return manifest.version
    } catch {
      // Not here; the next place is tried.
    }
  }
  return 'unknown'
}
