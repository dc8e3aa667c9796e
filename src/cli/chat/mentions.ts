/** Files that a message of a chat names with `@`: they are handed over with it. */

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

/** At the beginning of a word; in quotes where the path has spaces. */
const MENTION = /(?<=^|[\s(])@(?:"([^"\n]+)"|([^\s"]+))/g
const MOST = 20

/** Paths of the files that a text names, as they are written there, each once. What is no file stays text. */
function mentioned(text: string, cwd: string): readonly string[] {
  const paths = [...text.matchAll(MENTION)].flatMap(([, quoted, word = '']) => {
    const candidates = quoted === undefined ? [word, word.replace(/[.,;:!?)\]]+$/, '')] : [quoted]
    return candidates.find((path) => path !== '' && isFile(locate(path, cwd))) ?? []
  })
  return [...new Set(paths)].slice(0, MOST)
}

/**
 * The message with the files that it names, and a note that says what is sent. A text may have been pasted: a file outside of the folder, or one
 * that may hold secrets, is sent when the user agrees.
 *
 * @param question sent in place of the text: a template with the text in it.
 * @param check throws for a file that the model cannot read.
 * @throws ConfigurationError for a file that no model takes.
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
    else await front.note(`${visibleLine(path)} is not sent.`)
  }
  if (handed.length === 0) return question
  check(handed)
  await front.note(`sent with it: ${handedLine(handed)}`)
  return withHandedOver(question, handed)
}

async function agreed(path: string, front: Front): Promise<boolean> {
  if (!front.canAsk) return false
  const choices = [
    { key: 'y', label: 'send it' },
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
