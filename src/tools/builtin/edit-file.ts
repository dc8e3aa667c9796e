import { defineTool } from '../define-tool.ts'
import type { Tool } from '../../core/tool.ts'
import { carryOut, checkKnown, diffOf } from './change-file.ts'
import type { Change, Written } from './change-file.ts'
import { withoutReturns } from './line-ends.ts'
import { problem } from './open-file.ts'
import { replaceText } from './replace-text.ts'
import { readTextFile } from './text-file.ts'
import type { TextFile } from './text-file.ts'
import { quoted } from './workspace.ts'
import type { WorkspacePath, Workspace } from './workspace.ts'

interface Input {
  readonly path: string
  readonly old_string: string
  readonly new_string: string
  readonly replace_all?: boolean
}

export function editFileTool(workspace: Workspace, written: Written): Tool<Input> {
  return defineTool<Input>({
    name: 'edit_file',
    description:
      'Replaces an exact text in a file that you have read. "old_string" must occur once, white space and all; give some lines around it where it does not, or set "replace_all".',
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Path relative to the working folder.' },
        old_string: { type: 'string', description: 'The text to replace, exactly as it stands in the file.' },
        new_string: { type: 'string', description: 'What takes its place.' },
        replace_all: { type: 'boolean', description: 'Replace every occurrence; default false.' },
      },
      required: ['path', 'old_string', 'new_string'],
      additionalProperties: false,
    },
    subjects: ({ path }) => [workspace.subjectToWrite(path)],
    resources: ({ path }) => ({ writes: [workspace.key(path)] }),
    async preview(input) {
      const [place, before] = await fileOf(input, workspace)
      return diffOf(changeBy(input, place, before))
    },
    async call(input, { sessionId }) {
      const [place, before] = await fileOf(input, workspace)
      checkKnown(place, before, written.known, sessionId)
      return carryOut(changeBy(input, place, before), written, sessionId)
    },
  })
}

async function fileOf({ path }: Input, workspace: Workspace): Promise<[WorkspacePath, TextFile]> {
  const place = await workspace.placeToWrite(path)
  const before = await readTextFile(place)
  if (before === undefined) throw problem(`There is no file ${quoted(path)}: make it with write_file.`)
  return [place, before]
}

function changeBy({ old_string, new_string, replace_all }: Input, place: WorkspacePath, before: TextFile): Change {
  const replaced = replaceText(before.text, before.ends, {
    old: withoutReturns(old_string),
    new: withoutReturns(new_string),
    all: replace_all === true,
  })
  if ('problem' in replaced) throw problem(`${place.name}: ${replaced.problem} Nothing was written.`)
  return { place, before, ...replaced }
}
