/** Programs that build: what the project's own files say is theirs to run, other files and other tools are not. */

import type { Programs } from './risk.ts'

export const BUILD_TOOLS: readonly Programs[] = [
  {
    programs: 'make gmake bmake',
    runs: '--eval -E --file -f --makefile',
    elsewhere: '--directory -C --include-dir -I',
    // A variable may be a command: `CC=…`, `SHELL:=…`.
    word: /^[A-Za-z_.]\w*\s*[:+?!]{0,3}=/,
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
    // `-P` runs a script, `-E` a command, `-C` reads a script; variables of these names hold commands or scripts.
    word: /^-[PEC]|^(?:-D)?\w*(?:LAUNCHER|COMPILER|LINKER|PROGRAM|EMULATOR|RULE|TOOLCHAIN|INCLUDE|COMMAND)/i,
  },
  // `-D` (as `-S`) is a dashboard, made by a script.
  { programs: 'ctest', runs: '--script -S --script-new-process -D --build-and-test --test-command' },
  { programs: 'ninja', runs: '-f', elsewhere: '-C' },
  {
    programs: 'cargo',
    runs: '--config',
    elsewhere: '--manifest-path',
    // Another folder; what is not stable.
    word: /^-[CZ]/,
    // What follows goes to the compiler, or to an interpreter.
    from: /^(?:rustc|rustdoc|miri)$/,
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
    // programs (`-X…`, `-Wl`), options from a file.
    word: /^(?:--?(?:wrapper|fplugin|fpass-plugin|fuse-ld|ld-path|config|B|specs|X|Wl)|@)/,
  },
  // A plug-in, and options from a file, which may name one.
  { programs: 'ar nm strip objdump ranlib as', runs: '--plugin', word: /^@/ },
  // Options of the virtual machine or from a file; processors and plug-ins are code.
  { programs: 'javac', word: /^(?:-J|@|--?processor|-Xplugin)/ },
  {
    programs: 'gradle',
    // Scripts of the build.
    runs: '--init-script -I --build-file -b --settings-file -c --include-build',
    // The user's folder has scripts for all builds.
    elsewhere: '--project-dir -p --gradle-user-home -g',
  },
  {
    programs: 'mvn',
    // Settings name where plug-ins come from; toolchains are programs.
    runs: '--settings -s --global-settings --toolchains --global-toolchains',
    writes: '--log-file',
    elsewhere: '--file -f',
    // The plug-in `exec` runs any program, and any plug-in may be named in full (`group:artifact:version:goal`). Short options of more than one
    // letter are no clusters here: `-gt` and `-t` are toolchains, `-nt` is not.
    word: /^exec:|^[^-:][^:]*:[^:]+:|^-(?:l|g?t)$/,
  },
  {
    programs: 'rake',
    runs: '--execute -e --execute-print -p --execute-continue -E --require -r --libdir -I --rakefile -f --rakelibdir -R',
  },
  { programs: 'rails', from: /^(?:runner|r|console|c|dbconsole|db)$/ },
]
