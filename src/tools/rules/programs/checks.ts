/** Programs that test and check a project: they load code by the names of files and packages. */

import type { Programs } from './risk.ts'

export const CHECKERS: readonly Programs[] = [
  {
    programs: 'pytest py.test',
    // Plug-ins, settings that name plug-ins, and the class of the debugger.
    runs: '-p --config-file -c --override-ini -o --pdbcls',
    // The folder is emptied first.
    writes: '--basetemp',
    // They decide which `conftest.py` is loaded.
    elsewhere: '--rootdir --confcutdir',
  },
  // Settings name plug-ins; the interpreter is asked where its packages are; stubs are installed with it.
  { programs: 'mypy', runs: '--config-file --python-executable --install-types' },
  {
    programs: 'jest',
    // All of them name modules. The names may be written with capitals or with dashes.
    runs:
      '--config -c --env --testEnvironment --test-environment --globalSetup --global-setup --globalTeardown --global-teardown --setupFiles ' +
      '--setup-files --setupFilesAfterEnv --setup-files-after-env --filter --resolver --preset --reporters --runner --testRunner --test-runner ' +
      '--testSequencer --test-sequencer --testResultsProcessor --test-results-processor --transform --watchPlugins --watch-plugins ' +
      '--snapshotSerializers --snapshot-serializers --moduleNameMapper --module-name-mapper',
    elsewhere: '--rootDir --root-dir --roots --projects',
  },
  {
    programs: 'vitest',
    runs: '--config -c --environment --pool --reporter --runner --globalSetup --global-setup --execArgv --exec-argv --diff',
    writes: '--outputFile --output-file',
    elsewhere: '--root -r --dir',
    // Members of other options that name modules, programs and places: `--typecheck.checker`, `--coverage.customProviderModule`.
    word: /^--[\w.-]+\.(?:checker|custom-?provider-?module|provider|reporter|reports-?directory|sequencer|exec-?argv)\b|^--output-?file\./i,
  },
  {
    programs: 'mocha',
    // Modules before the tests, for what is printed, and for the words of the tests; options for node.
    runs: '--config --package --require -r --import --loader --experimental-loader --reporter -R --ui -u --node-option -n',
    // It may name a file.
    writes: '--reporter-option -O',
  },
  { programs: 'vite', runs: '--config -c' },
  // Loaders too are named by options: `--module-rules-loader`.
  {
    programs: 'webpack',
    runs: '--config -c --extends -e --require -r --plugin --module --resolve-loader',
    writes: '--output-path -o',
  },
  { programs: 'rollup', runs: '--config -c --configPlugin --plugin -p', writes: '--file -o --dir -d' },
  // `-c` only checks.
  { programs: 'prettier', runs: '--config --plugin --parser' },
  {
    programs: 'eslint',
    // Rules, the parser and the form of what is printed are modules; the first settings are written by a package that is fetched.
    runs: '--config -c --rulesdir --resolve-plugins-relative-to --format -f --parser --plugin --init',
    writes: '--output-file -o',
  },
  // Settings name the commands; `exec` takes one.
  { programs: 'tox', runs: '--conf -c --override -x', writes: '--result-json', from: /^(?:exec|e)$/ },
  { programs: 'nox', runs: '--noxfile -f' },
  // Settings name the hooks; `try-repo` runs those of any repository.
  { programs: 'pre-commit', runs: '--config -c', from: /^try-repo$/ },
]
