/** The tool `edit_file`: replaces an exact text in a file. */

import type { Tool } from '../../core/tool.ts'
import { defineTool, inputOf } from '../define-tool.ts'
import { carryOut, checkKnown, diffOf } from './edits.ts'
import type { Change, Written } from './edits.ts'
import { problem } from './open-file.ts'
import { readTextFile, usualLineEnd, withoutReturns } from './text-file.ts'
import type { TextFile } from './text-file.ts'
import { quoted } from './workspace.ts'
import type { Workspace } from './workspace.ts'

interface Input {
  readonly path: string
  readonly old_string: string
  readonly new_string: string
  readonly replace_all?: boolean
}

type EditedFile = Change & { readonly before: TextFile }

export function editFileTool(workspace: Workspace, written: Written): Tool<Input> {
  return defineTool<Input>({
    name: 'edit_file',
    description:
      'Replaces an exact text in a file that you have read. "old_string" must occur once, white space and all; give some lines around it where it does not, or set "replace_all".',
    inputSchema: inputOf(
      {
        path: { type: 'string', description: 'Path relative to the working folder.' },
        old_string: { type: 'string', description: 'The text to replace, exactly as it stands in the file.' },
        new_string: { type: 'string', description: 'What takes its place.' },
        replace_all: { type: 'boolean', description: 'Replace every occurrence; default false.' },
      },
      ['path', 'old_string', 'new_string'],
    ),
    subjects: ({ path }) => [workspace.subjectToWrite(path)],
    resources: ({ path }) => ({ writes: [workspace.key(path)] }),
    title: ({ path }) => path,
    async preview(input) {
      return diffOf(edited(input, await fileOf(input, workspace)))
    },
    async call(input, { sessionId }) {
      const file = await fileOf(input, workspace)
      checkKnown(file.place, file.before, written.known, sessionId)
      return carryOut(edited(input, file), written, sessionId)
    },
  })
}

async function fileOf({ path }: Input, workspace: Workspace): Promise<Omit<EditedFile, 'text'>> {
  const place = await workspace.placeToWrite(path)
  const before = await readTextFile(place)
  if (before === undefined) throw problem(`There is no file ${quoted(path)}: make it with write_file.`)
  return { place, before }
}

function edited({ old_string, new_string, replace_all = false }: Input, { place, before }: Omit<EditedFile, 'text'>): Change {
  const [old, instead] = [withoutReturns(old_string), withoutReturns(new_string)]
  const text = withoutReturns(before.text)
  const places = placesOf(text, old)
  const obstacle = obstacleTo({ text, old, instead, places, all: replace_all })
  if (obstacle !== undefined) throw problem(`${place.name}: ${obstacle} Nothing was written.`)
  return { place, before, text: replaceAt(places, { raw: before.text, text, old, instead }) }
}

interface Replacement {
  /** Has line feeds only, like `old` and `instead`. */
  readonly text: string
  readonly old: string
  readonly instead: string
}

const MAX_LENGTH = 20_000_000

/** Returns the reason why nothing can be replaced, or `undefined`. */
function obstacleTo({
  text,
  old,
  instead,
  places,
  all,
}: Replacement & { readonly places: readonly number[]; readonly all: boolean }): string | undefined {
  if (old === '') return 'old_string is empty: give the text that is to be replaced.'
  if (old === instead) return 'old_string and new_string are the same: there is nothing to change.'
  if (places.length === 0) return `old_string does not occur in the file.${nearMiss(text, old)}`
  if (places.length > 1 && !all) {
    const lines = places.slice(0, 10).map((place) => lineOf(text, place))
    const more = places.length > lines.length ? ', …' : ''
    return `old_string occurs ${places.length} times, in lines ${lines.join(', ')}${more}: give more of the text around it, or set replace_all.`
  }
  const length = text.length + places.length * (instead.length - old.length)
  return length > MAX_LENGTH ? `Replacing ${places.length} places would make the file too large.` : undefined
}

/** Returns the offsets of occurrences that do not overlap. */
function placesOf(text: string, part: string): number[] {
  const places: number[] = []
  if (part === '') return places
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) places.push(at)
  return places
}

/** @param raw the text with its own line ends, which are kept for lines that remain. */
function replaceAt(places: readonly number[], { raw, text, old, instead }: Replacement & { readonly raw: string }): string {
  const usual = usualLineEnd(raw)
  const pieces: string[] = []
  let at = 0
  let rawAt = 0
  for (const place of places) {
    const start = behind(text.slice(at, place), raw, rawAt)
    const end = behind(old, raw, start)
    const ends = raw.slice(start, end).match(/\r?\n/g)?.values()
    pieces.push(
      raw.slice(rawAt, start),
      instead.replaceAll('\n', () => ends?.next().value ?? usual),
    )
    at = place + old.length
    rawAt = end
  }
  return pieces.join('') + raw.slice(rawAt)
}

/** Returns the offset in `raw` after `part`, which has line feeds only and begins at offset `at`. */
function behind(part: string, raw: string, at: number): number {
  let lineStart = 0
  for (let feed = part.indexOf('\n'); feed !== -1; feed = part.indexOf('\n', lineStart)) {
    lineStart = feed + 1
    at = raw.indexOf('\n', at) + 1
  }
  return at + part.length - lineStart
}

function lineOf(text: string, place: number): number {
  return text.slice(0, place).split('\n').length
}

/** Returns a hint on the most frequent mistakes: other white space, or only the first line is right. */
function nearMiss(text: string, old: string): string {
  const squeezed = (some: string): string => some.replaceAll(/\s+/g, ' ').trim()
  const wanted = squeezed(old)
  if (wanted !== '' && squeezed(text).includes(wanted)) {
    return ' It occurs with other white space: copy it exactly from the file.'
  }
  const first = old.split('\n').find((line) => line.trim() !== '')
  const found = first === undefined ? -1 : text.indexOf(first.trim())
  return found === -1 ? '' : ` Its first line is in line ${lineOf(text, found)}: read the file there.`
}
