/** Programs that test and check a project: they load code by the names of files and packages. */

import { everything } from './risk.ts'
import type { Programs } from './risk.ts'

export const CHECKERS: readonly Programs[] = [
  {
    programs: 'pytest py.test',
    // Plug-ins, settings that name plug-ins, the class of the debugger, modules of settings, an interpreter (`--tx popen//python=…`).
    runs: '-p --config-file -c --override-ini -o --pdbcls --cov-config --ds --tx',
    // The folder is emptied first.
    writes: '--basetemp',
    // They decide which `conftest.py` is loaded, or are written.
    folder: '--rootdir --confcutdir --junitxml --junit-xml --log-file --html --report-log',
    // Options from a file.
    word: /^@/,
    harmless: /^--(?:co|cov)(?: |$)/,
  },
  // Settings name plug-ins; the interpreter is asked where its packages are; stubs are installed with it. Options from a file.
  { programs: 'mypy', runs: '--config-file --python-executable --install-types', word: /^@/ },
  // Code, plug-ins, and settings that name them.
  { programs: 'pylint', runs: '--init-hook --load-plugins --rcfile', writes: '--output' },
  { programs: 'flake8', runs: '--config --append-config --enable-extensions', writes: '--output-file' },
  // Its words are a program.
  { programs: 'coverage', runs: '--rcfile', from: /^run$/ },
  { programs: 'sphinx-build', runs: '-c -D' },
  { programs: 'rubocop', runs: '--require -r --config -c --plugin --format -f', writes: '--out -o' },
  { programs: 'rspec', runs: '--require -r --options -O -I --format -f', writes: '--out -o' },
  { programs: 'phpunit', runs: '--bootstrap --configuration -c --extension --loader --printer --include-path -d' },
  { programs: 'phpstan psalm', runs: '--configuration -c --config --autoload-file -a --plugin' },
  // Linters that are libraries may be named in settings; `custom` builds another program.
  { programs: 'golangci-lint', runs: '--config -c', from: /^custom$/ },
  {
    programs: 'jest',
    // All of them name modules. The names may be written with capitals or with dashes.
    runs:
      '--config -c --env --testEnvironment --test-environment --globalSetup --global-setup --globalTeardown --global-teardown --setupFiles ' +
      '--setup-files --setupFilesAfterEnv --setup-files-after-env --filter --resolver --preset --reporters --runner --testRunner --test-runner ' +
      '--testSequencer --test-sequencer --testResultsProcessor --test-results-processor --transform --watchPlugins --watch-plugins ' +
      '--snapshotSerializers --snapshot-serializers --moduleNameMapper --module-name-mapper --haste --dependencyExtractor ' +
      '--dependency-extractor --prettierPath --prettier-path --coverageReporters --coverage-reporters --modulePaths --module-paths ' +
      '--moduleDirectories --module-directories',
    writes: '--outputFile --output-file',
    folder: '--rootDir --root-dir --roots --projects --coverageDirectory --coverage-directory',
    harmless:
      /^--(?:env|test-?environment) (?:node|jsdom)$|^--reporters (?:default|summary|github-actions)$|^--coverage-?reporters (?:text|text-summary|lcov|json|html|clover|cobertura)$|^--coverage(?: |$)/i,
  },
  {
    programs: 'vitest',
    runs:
      '--config -c --environment --pool --reporter --runner --globalSetup --global-setup --execArgv --exec-argv --diff --workspace --setupFiles --setup-files ' +
      '--snapshotEnvironment --snapshot-environment',
    writes: '--outputFile --output-file --outputJson --output-json',
    folder: '--root -r --dir',
    harmless:
      /^--run(?: |$)|^--reporter (?:default|basic|verbose|dot|json|junit|tap|tap-flat|tree|html|hanging-process|github-actions)$|^--environment (?:node|jsdom|happy-dom|edge-runtime)$|^--pool (?:threads|forks|vmThreads|vmForks)$/,
    // Members of other options that name modules, programs and places: `--typecheck.checker`, `--coverage.customProviderModule`.
    word: /^--[\w.-]+\.(?:checker|custom-?provider-?module|provider|reporter|reports-?directory|sequencer|exec-?argv)\b|^--output-?file\./i,
  },
  {
    programs: 'mocha',
    // Modules before the tests, for what is printed, and for the words of the tests; options for node.
    runs:
      '--config --package --require -r --import --loader --experimental-loader --reporter -R --ui -u --node-option -n --file --opts --compilers ' +
      // It hands options of node on to it: code, and files that name code.
      '--eval --env-file --env-file-if-exists --openssl-config --experimental-config-file --experimental-default-config-file --snapshot-blob --build-snapshot',
    harmless:
      /^(?:--reporter|-R) (?:spec|dot|min|nyan|list|progress|json|tap|landing|xunit|markdown|doc|html)$|^(?:--ui|-u) (?:bdd|tdd|qunit|exports)$/,
    // It may name a file.
    writes: '--reporter-option -O',
  },
  { programs: 'vite', runs: '--config -c' },
  // Loaders too are named by options: `--module-rules-loader`.
  {
    programs: 'webpack',
    runs: '--config -c --extends -e --require -r --plugin --module --resolve-loader',
    writes: '--output-path -o',
    // Any settings are checked by running them; generators are fetched.
    from: /^(?:configtest|t|init|create|new|loader|plugin)$/,
  },
  {
    programs: 'rollup',
    runs: '--config -c --configPlugin --plugin -p',
    writes: '--file -o --dir -d',
    // A command for each event: `--watch.onStart`.
    word: /^--watch\.on/i,
    // The project's own settings.
    harmless: /^-c(?: -|$)/,
  },
  { programs: 'babel', runs: '--plugins --presets --config-file', writes: '--out-file -o --out-dir -d' },
  {
    programs: 'stylelint',
    runs: '--config -c --config-basedir --custom-syntax --custom-formatter --formatter -f',
    writes: '--output-file -o',
  },
  { programs: 'tsup', runs: '--config --onSuccess --on-success' },
  { programs: 'playwright', runs: '--config -c --reporter', from: /^(?:codegen|open|install|install-deps)$/ },
  { programs: 'cypress', runs: '--config-file -C --config -c --browser -b --reporter -r', folder: '--project -P' },
  // Their words are a program.
  { programs: 'nyc c8', risk: everything },
  { programs: 'lerna', runs: '--npm-client', from: /^exec$/ },
  { programs: 'nx', from: /^(?:exec|run-commands|generate|g|add|migrate|import)$/ },
  { programs: 'turbo', folder: '--cwd', from: /^(?:gen|generate)$/ },
  // `-c` only checks.
  { programs: 'prettier', runs: '--config --plugin --parser' },
  {
    programs: 'eslint',
    // Rules, the parser and the form of what is printed are modules; the first settings are written by a package that is fetched.
    // So is what shows the settings, and a server.
    runs: '--config -c --rulesdir --resolve-plugins-relative-to --format -f --parser --plugin --init --inspect-config --mcp',
    writes: '--output-file -o',
    folder: '--cache-location --cache-file',
    harmless:
      /^--cache(?: |$)|^(?:--format|-f) (?:stylish|json|json-with-metadata|html|unix|compact|junit|checkstyle|tap|visualstudio|codeframe)$/,
  },
  // Settings name the commands; `exec` takes one; interpreters are asked what they are; a package is installed.
  {
    programs: 'tox',
    runs: '--conf -c --override -x --discover --installpkg',
    writes: '--result-json',
    folder: '--root',
    from: /^(?:exec|e)$/,
  },
  { programs: 'nox', runs: '--noxfile -f' },
  // Settings name the hooks; `try-repo` runs those of any repository.
  { programs: 'pre-commit', runs: '--config -c', from: /^try-repo$/ },
]
