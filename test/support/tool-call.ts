/** Calls a tool like the tools station, without a model. */

import type { Span } from '../../src/core/span.ts'
import type { CommandReach, Tool, ToolContext } from '../../src/core/tool.ts'
import type { ImagePart, FilePart } from '../../src/core/part.ts'

export interface Called {
  readonly content: string
  readonly isError: boolean
  /** Of what was thrown. */
  readonly code?: string
  readonly attachments: readonly (ImagePart | FilePart)[]
  readonly progress: readonly string[]
}

export interface CallOptions {
  readonly sessionId?: string
  readonly signal?: AbortSignal
  readonly reach?: CommandReach
}

export type Call = (name: string, input: object, options?: CallOptions) => Promise<Called>

export function callerOf(tools: readonly Tool[]): Call {
  return async (name, input, { sessionId = 'ses', signal = new AbortController().signal, reach } = {}) => {
    const tool = tools.find((each) => each.name === name)
    if (tool === undefined) throw new Error(`There is no tool ${name}.`)
    const progress: string[] = []
    const span = undefined as unknown as Span
    const ctx: ToolContext = {
      signal,
      sessionId,
      turnId: 'turn',
      idempotencyKey: 'key',
      span,
      progress: (content) => void progress.push(content),
      ...(reach === undefined ? {} : { reach }),
    }
    try {
      const output: unknown = await tool.call(input as never, ctx)
      if (typeof output === 'string') return { content: output, isError: false, attachments: [], progress }
      return { isError: false, attachments: [], ...(output as Partial<Called>), content: (output as Called).content, progress }
    } catch (thrown) {
      if (!(thrown instanceof Error)) throw thrown
      const code = 'code' in thrown ? String(thrown.code) : thrown.name
      return { content: thrown.message, isError: true, code, attachments: [], progress }
    }
  }
}
