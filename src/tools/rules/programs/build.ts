/** Programs that build: what the project's own files say is theirs to run, other files and other tools are not. */

import type { Programs } from './risk.ts'

export const BUILD_TOOLS: readonly Programs[] = [
  {
    programs: 'make gmake bmake',
    runs: '--eval -E --file -f --makefile',
    folder: '--directory -C',
    elsewhere: '--include-dir -I',
    // A variable may be a command: `CC=…`, `SHELL:=…`.
    word: /^[A-Za-z_.]\w*\s*[:+?!]{0,3}=(?!(?:\d+|y|n|yes|no|on|off)$)/i,
  },
  {
    programs: 'just',
    // A command, a program that chooses, the shell of all recipes, a variable, and files that set variables.
    runs: '--command -c --chooser --shell --set --justfile -f --edit -e --dotenv-path -E --dotenv-filename',
    elsewhere: '--working-directory -d --global-justfile -g',
    word: /^[A-Za-z_][\w-]*=/,
  },
  {
    programs: 'cmake',
    runs: '--toolchain',
    folder: '--build --install --prefix',
    // `-P` runs a script, `-E` a command, `-C` reads a script. Many variables hold commands, scripts, or where these are; a switch or a number does
    // not, nor the kind of a build.
    word: /^-[PEC]|^-D(?!\w+(?::\w+)?=(?:on|off|yes|no|true|false|\d+|debug|release|relwithdebinfo|minsizerel)$)/i,
    // What follows are words for the program that builds.
    from: /^--$/,
  },
  // `-D` (as `-S`) is a dashboard, made by a script.
  { programs: 'ctest', runs: '--script -S --script-new-process -D --build-and-test --test-command' },
  { programs: 'ninja', runs: '-f', folder: '-C' },
  {
    programs: 'cargo',
    runs: '--config',
    folder: '--manifest-path --target-dir --out-dir --artifact-dir',
    // Another folder; what is not stable; a file that describes a target, and names its linker.
    word: /^-[CZ]|\.json$/,
    // Not `rustc`, `rustdoc` and `miri`: what follows goes to the compiler, or to an interpreter. Nor `watch` and others that take commands.
    commands:
      'build b check c test t bench clippy fmt doc d run r clean tree metadata fetch update verify-project pkgid version search info vendor ' +
      'package publish generate-lockfile locate-project report fix new init remove rm uninstall install add help nextest audit deny outdated ' +
      'machete udeps llvm-cov expand semver-checks',
    installs: /^(?:install|add)$/,
  },
  // `-C linker=…` is run, a library of macros too; options from a file.
  { programs: 'rustc', runs: '--codegen -C -Z --extern -L', word: /^@/ },
  {
    programs: 'go',
    // They name programs, flags for programs, or files that stand in for those of the project. One dash or two.
    word: /^--?(?:exec|toolexec|vettool|overlay|modfile|ldflags|gcflags|gccgoflags|asmflags|compiler|C)\b/,
    // `go env -w` changes settings for good.
    from: /^(?:run|generate|tool|env)$/,
    installs: /^(?:install|get)$/,
  },
  {
    programs: 'gcc g++ cc c++ clang clang++ gfortran',
    // A command before each step, plug-ins, another linker, a file of options, folders and files that say which programs to run (`-B`, `-specs`), words for these
    // programs (`-X…`, `-Wl`, `-mllvm`, `-cc1`), options from a file.
    word: /^(?:--?(?:wrapper|fplugin|fpass-plugin|iplugindir|load|fuse-ld|ld-path|config|B|specs|X|Wl|mllvm|cc1|ccc|gcc-toolchain)|@)/,
  },
  // A plug-in, and options from a file, which may name one.
  { programs: 'ar nm strip objdump ranlib as', runs: '--plugin', word: /^@/ },
  // Options of the virtual machine or from a file; processors and plug-ins are code.
  { programs: 'javac', word: /^(?:-J|@|--?processor|-Xplugin)/ },
  {
    programs: 'gradle gradlew',
    // Scripts of the build; properties of the system, among them options of the virtual machine; where the wrapper gets Gradle from.
    runs: '--init-script -I --build-file -b --settings-file -c --include-build --system-prop -D --gradle-distribution-url',
    // The user's folder has scripts for all builds.
    elsewhere: '--gradle-user-home -g',
    folder: '--project-dir -p',
    // Properties of the build are its own.
    harmless: /^-P[\w.]+(?:=|$)/,
  },
  {
    programs: 'mvn mvnw',
    // Settings name where plug-ins come from; toolchains are programs; properties are for any plug-in, which may run them (`-Djvm=…`).
    runs: '--settings -s --global-settings --install-settings --project-settings --toolchains --global-toolchains --define -D',
    writes: '--log-file',
    folder: '--file -f',
    // The plug-in `exec` runs any program, and any plug-in may be named in full (`group:artifact:version:goal`). Short options of more than one
    // letter are no clusters here: `-gt` and `-t` are toolchains, `-nt` is not.
    word: /^exec:|^[^-:][^:]*:[^:]+:|^-(?:l|g?t)$/,
    // A switch, or a number; which tests; what fails the build, snapshots, profiles.
    harmless: /^-D(?:[\w.-]+(?:=(?:true|false|\d+))?(?: |$)|(?:it\.)?test=)|^-(?:version|nsu|fae|ff|fn|rf|P[\w,!.-]+)(?: |$)/,
  },
  {
    programs: 'rake',
    runs: '--execute -e --execute-print -p --execute-continue -E --require -r --libdir -I --rakefile -f --rakelibdir -R',
  },
  { programs: 'rails', from: /^(?:runner|r|console|c|dbconsole|db)$/ },
]
