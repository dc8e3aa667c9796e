/** Versions of prompts: counted when they are first used, tied to the turns that were made with them, summed up for those who compare them. */

import type { PromptRef, PromptStats, TurnOpen } from '../../core/recorder.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { promptsMadeWith } from '../rules.ts'
import { readText, textColumn } from './columns.ts'

/** @param key of the row of the turn. */
export function notePrompts(connection: Connection, key: number, turn: TurnOpen): void {
  for (const { name, hash, template } of promptsMadeWith(turn)) {
    const values = [name.toWellFormed(), hash, template?.toWellFormed() ?? null] as const
    const known = connection.get<{ has: number }>('SELECT template IS NOT NULL AS has FROM prompts WHERE bot = ? AND hash = ?', [
      values[0],
      hash,
    ])
    if (known === undefined) {
      connection.run(
        `INSERT INTO prompts (bot, hash, template, version, first_used_at)
         VALUES (?, ?, ?, 1 + coalesce((SELECT max(version) FROM prompts WHERE bot = ?), 0), ?)`,
        [...values, values[0], turn.startedAt],
      )
    } else if (known.has === 0 && template !== undefined) {
      connection.run('UPDATE prompts SET template = ? WHERE bot = ? AND hash = ?', [values[2], values[0], hash])
    }
    connection.run('INSERT OR IGNORE INTO turn_prompts (turn, name, hash) VALUES (?, ?, ?)', [key, values[0], hash])
  }
}

/** @param key of the row of the turn. */
export function promptsOf(connection: Connection, key: number): { readonly prompts?: readonly PromptRef[] } {
  const rows = connection.all<PromptRef>(
    `SELECT name, turn_prompts.hash AS hash, version FROM turn_prompts
     JOIN prompts ON prompts.bot = name AND prompts.hash = turn_prompts.hash WHERE turn = ? ORDER BY name, version`,
    [key],
  )
  return rows.length === 0 ? {} : { prompts: rows.map((row) => ({ ...row })) }
}

interface StoredStats extends Omit<PromptStats, 'template' | 'ratings'> {
  readonly template: Uint8Array | null
  readonly ratings: string
}

/** Takes time linear in the turns of the prompts that are read. */
export function readPromptStats(connection: Connection, name?: string): PromptStats[] {
  const rows = connection.all<StoredStats>(
    `SELECT prompts.bot AS name, prompts.hash AS hash, version, ${textColumn('template')}, first_used_at AS firstUsedAt,
       max(started_at) AS lastUsedAt, count(turns.id) AS turns,
       count(*) FILTER (WHERE state NOT IN ('done', 'open')) AS unfinished,
       coalesce(sum(input_tokens), 0) AS inputTokens, coalesce(sum(output_tokens), 0) AS outputTokens,
       count(*) FILTER (WHERE exactness = 'unknown') AS unknownUsage, coalesce(sum(cost_usd), 0) AS costUsd,
       count(turns.id) - count(cost_usd) AS unknownCost, json_group_array(rating) FILTER (WHERE rating IS NOT NULL) AS ratings
     FROM prompts
     LEFT JOIN turn_prompts ON turn_prompts.name = prompts.bot AND turn_prompts.hash = prompts.hash
     LEFT JOIN turns ON turns.id = turn
     WHERE ?1 IS NULL OR prompts.bot = ?1
     GROUP BY prompts.bot, prompts.hash ORDER BY prompts.bot, version`,
    [name ?? null],
  )
  return rows.map(({ template, ratings, ...row }) => ({
    ...row,
    template: template === null ? null : readText(template),
    ratings: countsOf(JSON.parse(ratings) as readonly number[]),
  }))
}

function countsOf(ratings: readonly number[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const rating of ratings) counts[rating] = (counts[rating] ?? 0) + 1
  return counts
}

/**
 * Removes versions that no turn was made with.
 *
 * @param all also the newest of a name. Otherwise it stays, without its template, so that the count of versions goes on.
 */
export function removeUnusedPrompts(connection: Connection, all: boolean): void {
  const unused = 'NOT EXISTS (SELECT 1 FROM turn_prompts WHERE name = bot AND turn_prompts.hash = prompts.hash)'
  const older = '(bot, version) NOT IN (SELECT bot, max(version) FROM prompts GROUP BY bot)'
  connection.run(`DELETE FROM prompts WHERE ${unused}${all ? '' : ` AND ${older}`}`)
  connection.run(`UPDATE prompts SET template = NULL WHERE ${unused} AND template IS NOT NULL`)
}
