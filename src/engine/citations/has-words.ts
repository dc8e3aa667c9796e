import { patternFor } from '../../util/pattern.ts'

const WORD = patternFor(String.raw`[\p{L}\p{N}]`, 'u')

export function hasWords(text: string): boolean {
  return WORD(text).test(text)
}
