/** Gives every test file an empty home and removes the keys of the developer, so that tests can neither read nor use them. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const CALLERS_OWN =
  /^(CRIA_(?!(?:SHARED|CRASH_ROUNDS)$)|OPENAI_|ANTHROPIC_|GOOGLE_GENERATIVE_AI_|OLLAMA_|OTEL_|NODE_OPTIONS$|FORCE_COLOR$|NO_COLOR$)/

for (const name of Object.keys(process.env)) {
  if (CALLERS_OWN.test(name)) delete process.env[name]
}

const home = mkdtempSync(join(tmpdir(), 'cria-test-'))
process.env['CRIA_HOME'] = home
// Port 9 (discard) refuses at once: no test talks to an Ollama that happens to run here.
process.env['OLLAMA_HOST'] = 'http://127.0.0.1:9'
process.env['TZ'] = 'UTC'

afterAll(() => {
  rmSync(home, { recursive: true, force: true, maxRetries: 3 })
})
