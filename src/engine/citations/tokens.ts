/**
 * Text as the words that are compared: what typesetting changes is gone, what changes the meaning is kept.
 *
 * Case, white space, punctuation, emphasis, hyphens at line ends, ligatures and widths do not count. Numbers keep their points and signs,
 * and the signs of code and arithmetic are words. Scripts without spaces are compared character by character.
 */

import { numbersIn } from '../../util/number-runs.ts'

export interface Token {
  readonly start: number
  readonly end: number
}

const SINGLE = String.raw`\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}`
const LETTER = String.raw`[[\p{L}\p{M}]--[${SINGLE}]]`
const JOINT = String.raw`[\u00AD\u200B-\u200D\u2060]`
const TOKEN = [
  String.raw`[[\p{L}]&&[${SINGLE}]]\p{M}*`,
  // A word goes on after a soft hyphen, and after a hyphen at the end of a line.
  String.raw`${LETTER}+(?:(?:${JOINT}{1,2}|[\-\u2010\u00AD][ \t]?\r?\n[ \t]{0,20}(?=\p{Ll}))${LETTER}+)*`,
  String.raw`\p{Nd}+(?:[.,:]\p{Nd}+)*`,
  String.raw`[\p{No}\p{Nl}]`,
  // A sign before a number, not a dash between two.
  String.raw`(?<![\p{L}\p{N}]|\p{Nd}\s)[\-\u2212\u2013](?=\p{Nd})`,
  String.raw`(?<!=)={1,3}(?!=)`,
  String.raw`(?<!^[ \t>]{0,8})[<>]`,
  String.raw`(?<!^[ \t]{0,8})\+`,
  String.raw`[%\u2030\p{Sc}\u00B0\u00A7]`,
  String.raw`!(?=[\p{L}=\(])`,
].join('|')

// Patterns over all scripts take long to build: not before there is a text to read.
let tokenPattern: RegExp | undefined
let singlePattern: RegExp | undefined

export function* tokensOf(text: string): Generator<Token, void, undefined> {
  const pattern = (tokenPattern ??= new RegExp(TOKEN, 'gmv'))
  for (const { index, 0: word } of text.matchAll(pattern)) {
    const end = index + word.length
    if (word.includes(',')) for (const [from, to] of numbersIn(text, index, end)) yield { start: from, end: to }
    else yield { start: index, end }
  }
}

const DROPPED = /[\u00AD\u200B-\u200D\u2060]|[-\u2010][ \t]?\r?\n[ \t]*/g
const DASH = /^[-\u2212\u2013]$/

/** The form in which two tokens are compared. */
export function foldToken(word: string): string {
  if (DASH.test(word)) return '-'
  // A small raised 2 is no 2.
  if (/^[\p{No}\p{Nl}]$/u.test(word)) return word
  return word.replace(DROPPED, '').normalize('NFKC').toLowerCase().replaceAll('ß', 'ss')
}

export function isNumber(word: string): boolean {
  return /^[\p{Nd}\p{No}\p{Nl}]/u.test(word)
}

/** Of a script that is written without spaces. */
export function isSingle(word: string): boolean {
  return (singlePattern ??= new RegExp(`^[${SINGLE}]`, 'v')).test(word)
}
