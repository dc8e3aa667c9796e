/** Attaches the files that a chat message names with `@`. */

import { statSync } from 'node:fs'
import { handOver, withHandedOver } from '../../app/hand-over.ts'
import type { HandedOver } from '../../app/hand-over.ts'
import type { MessageInput } from '../../core/message.ts'
import type { FilledPrompt } from '../../core/prompt.ts'
import { isInside } from '../../util/files.ts'
import { realPathOfSync } from '../../util/real-path.ts'
import { isSecretName } from '../../util/secret-files.ts'
import { visibleLine } from '../../util/terminal.ts'
import type { Io } from '../io.ts'
import { handedLine } from '../prompt.ts'
import { locate } from './composer.ts'
import type { Front } from './front.ts'

/** Matches `@PATH` at the beginning of a word, and `@"PATH"` for a path with spaces. */
const MENTION = /(?<=^|[\s(])@(?:"([^"\n]+)"|([^\s"]+))/g
const MOST = 20

/** Returns the distinct paths of existing files that a text names, as written. Other mentions remain text. */
function mentioned(text: string, cwd: string): readonly string[] {
  const paths = [...text.matchAll(MENTION)].flatMap(([, quoted, word = '']) => {
    const candidates = quoted === undefined ? [word, word.replace(/[.,;:!?)\]]+$/, '')] : [quoted]
    return candidates.find((path) => path !== '' && isFile(locate(path, cwd))) ?? []
  })
  return [...new Set(paths)].slice(0, MOST)
}

/**
 * Adds the files that a message names, and prints a note that lists them. Because the message may have been pasted, files outside the working
 * folder and files that may hold secrets are attached only if the user agrees.
 *
 * @param question sent instead of the text: a template that was filled with it.
 * @param check throws for a file that the model cannot read.
 * @throws ConfigurationError for a file that no model can read.
 */
export async function withMentioned(
  text: string,
  question: string | FilledPrompt,
  { front, io, check }: { readonly front: Front; readonly io: Io; readonly check: (handed: readonly HandedOver[]) => void },
): Promise<MessageInput> {
  const handed: HandedOver[] = []
  for (const path of mentioned(text, io.cwd)) {
    const place = realPathOfSync(locate(path, io.cwd))
    const isOurs = isInside(place, realPathOfSync(io.cwd)) && !isSecretName(place)
    if (isOurs || (await agreed(path, front))) handed.push({ ...(await handOver(place, io)), name: path })
    else await front.note(`${visibleLine(path)} is not attached.`)
  }
  if (handed.length === 0) return question
  check(handed)
  await front.note(`attached: ${handedLine(handed)}`)
  return withHandedOver(question, handed)
}

async function agreed(path: string, front: Front): Promise<boolean> {
  if (!front.canAsk) return false
  const choices = [
    { key: 'y', label: 'send the file' },
    { key: 'n', label: 'leave it out' },
  ]
  return (await front.choose(`Send ${visibleLine(path)} to the model?`, choices, { initial: 1 })) === 0
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}
