/** The tool `write_file`: creates a text file, or replaces one that the model has read. */

import { defineTool, inputOf } from '../define-tool.ts'
import type { Tool } from '../../core/tool.ts'
import { carryOut, checkKnown, diffOf } from './edits.ts'
import type { Change, Written } from './edits.ts'
import { readTextFile, usualLineEnd, withoutReturns } from './text-file.ts'
import type { Workspace } from './workspace.ts'

interface Input {
  readonly path: string
  readonly content: string
}

export function writeFileTool(workspace: Workspace, written: Written): Tool<Input> {
  return defineTool<Input>({
    name: 'write_file',
    description:
      'Makes a text file, with the folders above it, or replaces one that you have read. To change a part of a file use edit_file.',
    inputSchema: inputOf(
      {
        path: { type: 'string', description: 'Path relative to the working folder.' },
        content: { type: 'string', description: 'The whole new content.' },
      },
      ['path', 'content'],
    ),
    isIdempotent: true,
    subjects: ({ path }) => [workspace.subjectToWrite(path)],
    resources: ({ path }) => ({ writes: [workspace.key(path)] }),
    title: ({ path }) => path,
    preview: async (input) => diffOf(await changeBy(input, workspace)),
    async call(input, { sessionId }) {
      const change = await changeBy(input, workspace)
      const { place, before } = change
      if (before !== undefined) {
        checkKnown(place, before, written.known, sessionId)
        if (withoutReturns(before.text) === withoutReturns(change.text)) return `${place.name} holds exactly this already.`
      }
      return carryOut(change, written, sessionId)
    },
  })
}

/** Plans the change; an existing file keeps its encoding and line ends. */
async function changeBy({ path, content }: Input, workspace: Workspace): Promise<Change> {
  const place = await workspace.placeToWrite(path)
  const before = await readTextFile(place)
  const text = before === undefined ? content : withoutReturns(content).replaceAll('\n', usualLineEnd(before.text))
  return { place, before, text }
}
