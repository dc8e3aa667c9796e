import { defineConfig, type ViteUserConfigFnObject } from 'vitest/config'

// These need a server that `npm ci` does not bring, so each kind has a script of its own: `vitest run --mode postgres`.
const NEEDS_SERVER: Record<string, string> = {
  postgres: '{src,test}/**/*.postgres.test.ts',
  browser: '{src,test}/**/*.browser.test.ts',
}

const configuration: ViteUserConfigFnObject = defineConfig(({ mode }) => {
  const special = NEEDS_SERVER[mode]
  return {
    test: {
      include: special === undefined ? ['{src,test,scripts}/**/*.test.ts'] : [special],
      exclude: ['**/node_modules/**', '**/dist/**', ...(special === undefined ? Object.values(NEEDS_SERVER) : [])],
      setupFiles: ['./test/setup.ts'],
      reporters: ['default', './scripts/tally.ts'],
      pool: 'forks',
      // Test files share a process: our modules keep nothing at import time that one file could leave for the next.
      isolate: false,
      testTimeout: 20_000,
      hookTimeout: 20_000,
      // What comes true ends the wait; a process that a test starts may take its time on a machine that is busy.
      expect: { poll: { timeout: 10_000 } },
      unstubEnvs: true,
      unstubGlobals: true,
      restoreMocks: true,
    },
  }
})

export default configuration
