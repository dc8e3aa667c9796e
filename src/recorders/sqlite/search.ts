/** Literal full-text search: whatever is typed is looked for as words, and nothing in it is an operator. */

import { patternFor } from '../../util/pattern.ts'
import { ConfigurationError } from '../../core/error.ts'
import type { TurnFilter } from '../../core/recorder.ts'

/** What is searched of a text, in characters; longer ones are found by their beginning. */
const MAX_INDEXED = 1_000_000
/** Distinct words of a query; more narrow nothing down. */
const MAX_WORDS = 64

/** Scripts that put no blanks between words; the tokenizer would take whole sentences of them as one word. */
const UNSPACED = patternFor(
  String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]`,
  'gu',
)

/** The text as it is indexed: in scripts without blanks every character is a word. */
export function searchableText(text: string): string {
  return spaced(text.slice(0, MAX_INDEXED))
}

/**
 * An FTS5 query for texts that hold all the words of `query` (https://www.sqlite.org/fts5.html#full_text_query_syntax), `undefined` when
 * it holds none. What stands together without a blank, as `multi-agent`, has to stand together in the text.
 */
export function matchExpression(query: string): string | undefined {
  const words = [...wordsOf(query)].map((word) => `"${spaced(word)}"`)
  return words.length === 0 ? undefined : words.join(' ')
}

/** A query for the keys of turns that hold all the words, in question and answer or in one tool call; `undefined` without any word. */
export function foundBy(query: string): { readonly turns: string; readonly values: readonly string[] } | undefined {
  const expression = matchExpression(query)
  if (expression === undefined) return undefined
  const words = [...wordsOf(query)]
  const inCall = words.map(() => String.raw`name || ' ' || input LIKE ? ESCAPE '\'`).join(' AND ')
  return {
    turns: `(SELECT rowid FROM turn_search WHERE turn_search MATCH ? UNION SELECT turn FROM tool_calls WHERE ${inCall})`,
    values: [expression, ...words.map((word) => `%${word.replaceAll(/[%_\\]/g, String.raw`\$&`)}%`)],
  }
}

function wordsOf(query: string): Set<string> {
  const words = new Set<string>()
  for (const word of query.toWellFormed().split(/[\s\0"]+/u)) {
    if (/[\p{L}\p{N}\p{Co}]/u.test(word)) words.add(word)
    if (words.size === MAX_WORDS) break
  }
  return words
}

function spaced(text: string): string {
  return text.replace(UNSPACED(text), ' $& ')
}

export interface Conditions {
  /** To be joined by AND; each has one parameter. */
  readonly conditions: readonly string[]
  readonly values: readonly string[]
}

/** @throws ConfigurationError for tags that are not a list: no tag would be taken for all turns. */
export function conditionsOf({ userId, tags = [] }: TurnFilter): Conditions {
  if (!Array.isArray(tags)) throw new ConfigurationError('`tags` must be a list of texts.')
  return {
    conditions: [
      ...(userId === undefined ? [] : ['session_id IN (SELECT session_id FROM sessions WHERE user_id = ?)']),
      ...tags.map(() => 'turns.id IN (SELECT turn FROM turn_tags WHERE tag = ?)'),
    ],
    values: [...(userId === undefined ? [] : [userId]), ...(tags as readonly string[])],
  }
}
