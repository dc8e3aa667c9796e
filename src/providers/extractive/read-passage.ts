/** Reads a passage into pieces, by the format that its source promises. */

import { isCodeName } from '../../util/code-extensions.ts'
import type { Passage, Piece } from './passage.ts'
import { readCode } from './read-code.ts'
import { readMarkdown } from './read-markdown.ts'
import { readRows } from './read-rows.ts'

const TABLE_NAME = /\.(?:csv|tsv|tab|psv)$/i
const DATA_NAME = /\.jsonl?$/i

/** Pieces in the order of the text. Whatever the text, nothing is thrown, and time is linear. */
export function readPassage(passage: Passage): Piece[] {
  if (TABLE_NAME.test(passage.source)) return readRows(passage)
  return isCodeName(passage.source) || DATA_NAME.test(passage.source) ? readCode(passage) : readMarkdown(passage)
}
