/**
 * Does an interpreter take what it runs from its input: `| sh`, `| bash -s x`, `| python3 -`? It does when no script and no code is named, and
 * when the name of the script is one of its input. Where an option may or may not take the next word, the answer that asks is given.
 */

import { posix } from 'node:path'

interface Interpreter {
  /** They give code, or the name of a script, in the rest of the word or in the next one. */
  readonly code: RegExp
  /** They take the next word. */
  readonly values: RegExp
  /** They may take the next word; default none. */
  readonly perhaps?: RegExp
  /** The input is read, whatever else is named; default never. */
  readonly input?: RegExp
}

const TELLS = /^--?(?:version|help|test)\b/
const NAMES_INPUT = /^(?:-|\/dev\/(?:stdin|fd\/0)|\/proc\/(?:self|thread-self|\d+)\/fd\/0)$/

const INTERPRETERS: readonly (readonly [programs: string, Interpreter])[] = [
  [
    'sh bash zsh dash ksh mksh fish csh tcsh ash rbash yash posh sash osh oil rc es',
    {
      code: /^-[a-zA-Z]*c|^--command\b/,
      values: /^(?:[-+][a-zA-Z]*[oO]|--(?:rcfile|init-file|init-command|emulate))$/,
      input: /^-[a-zA-Z]*s/,
    },
  ],
  ['pwsh', { code: /^-(?:c|command|f|file|e|ec|encodedcommand)$/i, values: /^$/, perhaps: /^-/ }],
  [
    'python pypy',
    {
      code: /^-[bdEIOPqRsSuvxB]*[cmVh]/,
      values: /^(?:-[bdEIOPqRsSuvxB]*[WX]|--check-hash-based-pycs)$/,
      input: /^-[bdEIOPqRsSuvxB]*i/,
    },
  ],
  [
    'node nodejs tsx',
    {
      code: /^-(?:[epcvh]|pe)$|^--(?:eval|print|check)\b/,
      values: /^(?:-[rC]|--(?:require|import|loader|experimental-loader|conditions|title|stack-size|max-old-space-size))$/,
      perhaps: /^--[\w-]+$/,
      input: /^(?:-i|--interactive)$/,
    },
  ],
  ['perl', { code: /^-(?![CDFIMimx])\w*?[eEVvh]/, values: /^-I$/ }],
  ['ruby', { code: /^-[aclnpsSwWd\d]*[evh]/, values: /^-[aclnpsSwWd\d]*[CEIrx]$/, perhaps: /^--[\w-]+$/ }],
  [
    'java',
    { code: /^-(?:jar|m|-module)$/, values: /^-(?:cp|classpath|-class-path|p|-module-path|-source)$/, perhaps: /^--[\w-]+$/ },
  ],
  ['php', { code: /^-[rRBEFfivmhl]/, values: /^-[dczSt]$/, perhaps: /^--[\w-]+$/ }],
]

/** Of those that are not in the table nothing is known but what is common. */
const OTHERS: Interpreter = { code: /^-[a-z]*[cehpv]/i, values: /^$/, perhaps: /^--?[\w-]+$/ }

/** @param program in small letters, without its folder and its number. */
export function takesInput(program: string, given: readonly string[]): boolean {
  const known = INTERPRETERS.find(([programs]) => programs.split(' ').includes(program))?.[1]
  const { code, values, perhaps, input } = known ?? OTHERS
  const words = given[0] === 'run' ? given.slice(1) : given
  let mayBeNamed = false
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    const next = words[at + 1]
    if (namesInput(word) || input?.test(word) === true) return true
    if (word === '--') return next === undefined ? !mayBeNamed : namesInput(next)
    if (TELLS.test(word)) return false
    // What is not there is put there from the input: `xargs sh -c`.
    if (code.test(word)) {
      return next === undefined ? known !== undefined && /^-\w*[ce]$/.test(word) : next === '{}' || namesInput(next)
    }
    if (values.test(word)) {
      if (next !== undefined && namesInput(next)) return true
      at++
    } else if (!/^[-+]/.test(word)) {
      if (mayBeNamed || perhaps?.test(words[at - 1] ?? '') !== true) return false
      mayBeNamed = true
    }
  }
  return !mayBeNamed
}

/** Programs of awk are named, never left out. */
export function awkTakesInput(words: readonly string[]): boolean {
  return words.some((word, index) => {
    const [, attached] = /^(?:-[bcCgknNMOPrsSt]*[fEi]|--(?:fil|ex|inc)\w*=?)([^]*)$/.exec(word) ?? []
    return attached !== undefined && namesInput(attached || (words[index + 1] ?? '-'))
  })
}

export function namesInput(word: string): boolean {
  return NAMES_INPUT.test(posix.normalize(word.replace(/^--[\w-]+=/, '')))
}
