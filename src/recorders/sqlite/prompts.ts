/** Stores versions of prompts: numbered at their first use, linked to the turns that used them. */

import type { PromptRef, TurnOpen } from '../../core/recorder.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { promptsMadeWith } from '../rules.ts'

/** @param key of the row of the turn. */
export function notePrompts(connection: Connection, key: number, turn: TurnOpen): void {
  for (const { name, hash, template } of promptsMadeWith(turn)) {
    const bot = name.toWellFormed()
    const text = template?.toWellFormed() ?? null
    const find = 'SELECT template IS NOT NULL AS hasText FROM prompts WHERE bot = ? AND hash = ?'
    const known = connection.get<{ hasText: number }>(find, [bot, hash])
    if (known === undefined) {
      connection.run(
        `INSERT INTO prompts (bot, hash, template, version, first_used_at)
         VALUES (?, ?, ?, 1 + coalesce((SELECT max(version) FROM prompts WHERE bot = ?), 0), ?)`,
        [bot, hash, text, bot, turn.startedAt],
      )
    } else if (known.hasText === 0 && text !== null) {
      connection.run('UPDATE prompts SET template = ? WHERE bot = ? AND hash = ?', [text, bot, hash])
    }
    connection.run('INSERT OR IGNORE INTO turn_prompts (turn, name, hash) VALUES (?, ?, ?)', [key, bot, hash])
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

/**
 * Removes versions that no turn used.
 *
 * @param all also removes the newest version of a name. Otherwise that stays, without its template, so that numbering continues.
 */
export function removeUnusedPrompts(connection: Connection, all: boolean): void {
  const unused = 'NOT EXISTS (SELECT 1 FROM turn_prompts WHERE name = bot AND turn_prompts.hash = prompts.hash)'
  const older = '(bot, version) NOT IN (SELECT bot, max(version) FROM prompts GROUP BY bot)'
  connection.run(`DELETE FROM prompts WHERE ${unused}${all ? '' : ` AND ${older}`}`)
  connection.run(`UPDATE prompts SET template = NULL WHERE ${unused} AND template IS NOT NULL`)
}
