/** Programs that test and check a project: they load code by the names of files and packages. */

import type { Programs } from './risk.ts'

export const CHECKERS: readonly Programs[] = [
  // `-p` is a plug-in, `-c` and `-o` are settings, which name plug-ins; the folders decide which `conftest.py` is loaded.
  { programs: 'pytest py.test mypy', runs: '-p --config-file -c --override-ini -o', elsewhere: '--rootdir --confcutdir' },
  {
    programs: 'jest mocha vitest vite webpack rollup prettier',
    runs:
      '--config -c --require -r --import --plugin --rulesdir --resolve-plugins-relative-to --format --parser --reporter --reporters ' +
      '--globalSetup --setupFiles --setupFilesAfterEnv --env --environment --testEnvironment --runner --testRunner --resolver --preset ' +
      '--watchPlugins --transform --pool',
    // `-r` of vitest is its root.
    elsewhere: '--rootDir --root --projects',
  },
  {
    programs: 'eslint',
    // Rules, the parser and the form of what is printed are modules.
    runs: '--config -c --rulesdir -r --resolve-plugins-relative-to --format -f --parser --plugin',
    writes: '--output-file -o',
  },
  // Settings name the commands.
  { programs: 'tox', runs: '--conf -c --override -x', writes: '--result-json' },
  { programs: 'nox', runs: '--noxfile -f' },
  // Settings name the hooks; `try-repo` runs those of any repository.
  { programs: 'pre-commit', runs: '--config -c', from: /^try-repo$/ },
]
