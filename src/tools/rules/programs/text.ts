/** Programs that read, sort, compare and convert text and pictures. */

import { everything, script } from './risk.ts'
import type { Programs, Risk } from './risk.ts'

const HARMLESS_SED_OPTIONS = /^(?:-[nEru]+|--quiet|--silent|--regexp-extended|--unbuffered)$/
const LINES = String.raw`(?:\d+|\$)(?:,(?:\d+|\$|\+\d+))?[pdq]`
/** Up to the next slash, which nothing escapes. */
const PIECE = String.raw`(?:[^/\\\n]|\\[^/\n])*/`
const HARMLESS_SED_SCRIPT = new RegExp(
  String.raw`^(?:${LINES}(?:;${LINES})*|/${PIECE}(?:,/${PIECE})?[pdq]|s/${PIECE}${PIECE}[gpIi\d]*)$`,
)

/** Printing and replacing lines is harmless; anything else in a script of sed may write files (`w`) and run commands (`e`). */
const sed: Risk = (words) => {
  const first = words.findIndex((word) => !word.startsWith('-'))
  return [...words.entries()].flatMap(([index, word]) => {
    if (word.startsWith('-')) return HARMLESS_SED_OPTIONS.test(word) ? [] : [index, index + 1]
    return index === first && !HARMLESS_SED_SCRIPT.test(word) ? [index] : []
  })
}

/** No redirection, no command, no function that is named elsewhere, no list of files that it makes itself: what these are called nobody could see. */
const HARMLESS_AWK = /^(?![^]*(?:system|getline|ENVIRON|PROCINFO|ARGV|SYMTAB))(?:[^|<>@`]|[<>]=)*$/

/** An interpreter; what only picks columns and lines is harmless. */
export const awk: Risk = (words) => {
  const at = words[0] === '-F' ? 2 : /^-F./.test(words[0] ?? '') ? 1 : 0
  const code = words[at] ?? '-'
  // Some look for options behind the files, too.
  if (words.slice(at + 1).some((word) => /^-./.test(word))) return everything(words)
  return !code.startsWith('-') && HARMLESS_AWK.test(code) ? [] : script(words)
}

/** The second file is written. */
const uniq: Risk = (words) =>
  [...words.entries()]
    .filter(([, word]) => word === '-' || !word.startsWith('-'))
    .map(([index]) => index)
    .slice(1)

export const TEXT_TOOLS: readonly Programs[] = [
  { programs: 'sed', risk: sed },
  // Their programs can run commands and write files: `awk` has `system()`.
  { programs: 'awk gawk mawk nawk', risk: awk },
  { programs: 'uniq', risk: uniq },
  // A command for each file, one that tells the name of the host, and programs that unpack.
  { programs: 'rg', runs: '--pre --hostname-bin --search-zip -z' },
  { programs: 'ag ack bat batcat delta', runs: '--pager' },
  // Temporary files go through the first.
  { programs: 'sort', runs: '--compress-program', writes: '--output -o' },
  // Changes the file, or makes files of the names that it finds. What reads other files and the environment is not for a star.
  {
    programs: 'yq',
    runs: '--from-file --security-enable-system-operator',
    writes: '--inplace --in-place -i --split-exp -s',
    word: /\bload|\bsystem\b/,
  },
  // Each piece goes through the command.
  { programs: 'split', runs: '--filter' },
  { programs: 'shuf iconv', writes: '--output -o' },
  { programs: 'diff3', runs: '--diff-program' },
  // With a file to write it asks, and one answer starts an editor.
  { programs: 'sdiff', runs: '--diff-program', writes: '--output -o' },
  // The file of options may define parsers, which run.
  { programs: 'ctags', runs: '--options --optlib-dir --langdef' },
  {
    programs: 'pandoc',
    // A format may be a reader or writer in Lua; `--defaults` and the data folder hold any option and filter.
    runs: '--filter -F --lua-filter -L --pdf-engine --from -f --read -r --to -t --write -w --defaults -d --data-dir',
    writes: '--output -o',
    // An interpreter of Lua.
    from: /^lua$/,
  },
  // Its shell has `write` and `save`; `-o` writes. One dash or two.
  { programs: 'xmllint', word: /^--?(?:shell|output|o)(?:=|$)/ },
  // The name of a file may name a program that makes the picture (`msl:`, `ephemeral:`), or a file with names (`@`).
  { programs: 'convert magick mogrify identify composite montage', word: /^@|^[a-z]{2,}:/i },
  // Bash works out what stands between brackets in the name of a variable: `test -v 'x[$(…)]'`. `printf` and `wait` write the variable, too.
  { programs: 'test', runs: '-v -R' },
  { programs: 'printf', runs: '-v' },
  { programs: 'wait', runs: '-p' },
]
