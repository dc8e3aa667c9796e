/** Package managers: what they install by name runs, and most of them run programs besides. */

import { everything, options } from './risk.ts'
import type { Programs, Risk } from './risk.ts'

const packageOptions = options({
  // A shell, options for node, a command (`npm exec -c`), a module, an editor; files of settings may name any of these.
  runs:
    '--script-shell --shell --node-options --call -c --init-module --git --editor --viewer --browser --userconfig --globalconfig ' +
    '--config --use-yarnrc --pnpmfile --global-pnpmfile --node-gyp --python --diff',
  // Where packages come from.
  elsewhere: '--registry',
  folder: '--prefix --cwd --dir -C',
  // `--config.script-shell=…`
  word: /^--config\./,
  // They run a program, fetched or not, or change settings.
  from: /^(?:exec|x|explore|dlx|node|config|c|set|edit|create|init)$/,
  // With npm's own short forms and slips of the pen. Scripts of a repository that is packed run, too.
  installs:
    /^(?:i|in|ins|inst|insta|instal|install|isnt|isnta|isntal|isntall|add|link|ln|install-test|it|update|up|upgrade|udpate|pack|publish)$/,
})

/**
 * Scripts of the project, and what is the package manager's own. Anything else may be the name of a program (`pnpm sh`), or short for a
 * command that runs one (`npm exe`).
 */
const PACKAGE_COMMANDS: ReadonlySet<string> = new Set(
  (
    'test t tst run run-script rum urn start stop restart ci clean-install ic install-clean i in ins inst insta instal install isnt isnta ' +
    'isntal isntall add link ln install-test it update up upgrade udpate ls list la ll outdated view info show v audit pack publish version ' +
    'why explain root prefix bin ping search find whoami dedupe ddp prune rebuild rb uninstall unlink remove rm r un fund doctor query sbom cache ' +
    'diff pkg store licenses help build lint format typecheck type-check check dev preview coverage bench clean e2e'
  ).split(' '),
)

const packages: Risk = (words) => {
  const name = words.findIndex((word) => !word.startsWith('-'))
  const found = packageOptions(words)
  return PACKAGE_COMMANDS.has(words[name] ?? 'help') ? found : [...found, ...everything(words).slice(name)]
}

/** The command is for one package of several, which is named first. */
const forOne =
  (...options: readonly string[]): Risk =>
  (words) =>
    options.includes(words[0] ?? '') ? packages(words.slice(2)).map((index) => index + 2) : packages(words)

export const PACKAGE_MANAGERS: readonly Programs[] = [
  { programs: 'npm', risk: packages },
  { programs: 'pnpm', risk: forOne('--filter', '-F') },
  { programs: 'yarn', risk: forOne('workspace') },
  // They run programs within an environment or project, start its interpreter, or manage tools that are programs.
  {
    programs:
      'uv poetry pipenv conda mamba micromamba pdm hatch rye nix mise asdf pixi rustup cabal opam dune rebar bazel buck zig dart ' +
      'flutter lein',
    from: /^(?:run|exec|tool|x|shell|develop|eval|repl)$/,
    elsewhere: '--index-url --default-index --index --extra-index-url --find-links',
    installs: /^(?:add|install)$/,
  },
  // A library or a source file as the first word is run, `fsi` is an interpreter.
  { programs: 'dotnet', word: /\.(?:dll|exe|csx?|fsx)$/i, from: /^(?:run|exec|tool|fsi|shell)$/, installs: /^(?:add|install)$/ },
  // `exec` has short names.
  { programs: 'bundle', from: /^(?:e|ex|exe|exec|console|run|tool|x|shell)$/, installs: /^(?:add|i|install)$/ },
  // They add packages under other names, which may be cut short.
  {
    programs: 'composer',
    elsewhere: '--working-dir -d',
    from: /^(?:exec?|run|shell|eval)$/,
    installs: /^(?:r|req\w*|create-project|add|install)$/,
  },
  // `cmd` runs any command.
  { programs: 'mix', from: /^(?:run|cmd|eval|shell)$/, installs: /^(?:add|install|archive\.install|escript\.install)$/ },
  // The compiler of the project and its interpreter too.
  {
    programs: 'stack',
    from: /^(?:run|exec|eval|repl|ghci|ghc|runghc|runhaskell|script)$/,
    installs: /^(?:add|install)$/,
  },
  // `r` compiles and runs a file, as `--run` does, `e` runs a script, `--eval` a text; an option names the compiler behind it.
  { programs: 'nim', word: /^--?(?:r|run|eval)(?:[:=]|$)|^--?\w+\.(?:exe|linkerexe)/i, from: /^(?:r|e|run)$/ },
  // Commands may be cut short (`ins`), `exec` runs a program of any package.
  { programs: 'gem', runs: '--editor -e --config-file', from: /^exe?c?$/, installs: /^(?:i|ins\w*)$/ },
  // What a requirements file (`-r`), a constraint (`-c`) or a folder (`-e`) names is installed too; `--python` is run.
  {
    programs: 'pip',
    runs: '--python -r -e -c',
    from: /^config$/,
    installs: /^(?:install|download|wheel)$/,
  },
  // Settings name commands that run before and after (`-o Dpkg::Pre-Invoke=…`).
  {
    programs: 'apt apt-get aptitude apk dnf yum zypper brew snap',
    runs: '--option -o --config-file -c',
    from: /^edit-sources$/,
    installs: /^(?:install|add)$/,
  },
  // Scripts of the package run when it is unpacked and configured.
  { programs: 'dpkg', runs: '--install -i --unpack --configure --pre-invoke --post-invoke' },
]
