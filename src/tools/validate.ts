/** Checks the input of a call against the schema of its tool. */

import type { Json } from '../core/json.ts'
import type { ToolCallPart } from '../core/part.ts'
import { isStandardSchema, issueLine } from '../core/schema.ts'
import type { Tool } from '../core/tool.ts'
import { schemaProblems } from '../util/json-schema.ts'
import { messageOf, shortened } from './output.ts'

export type Validation = { readonly input: unknown } | { readonly problem: string }

const MAX_PROBLEMS = 20
const MAX_PROBLEM_CHARS = 4000

/** The problem is written for the model, which may try again. The input is a copy: a tool that changes it changes no history. */
export async function validated(call: Pick<ToolCallPart, 'name' | 'input' | 'invalid'>, tool: Tool): Promise<Validation> {
  if (call.invalid !== undefined)
    return { problem: `The arguments are not valid JSON (${call.invalid}). Send the call again with a JSON object.` }
  if (typeof call.input !== 'object' || call.input === null || Array.isArray(call.input))
    return { problem: 'The arguments must be a JSON object. Send the call again with one.' }
  try {
    return await fitting(tool, structuredClone(call.input))
  } catch (thrown) {
    return { problem: `The arguments cannot be checked: ${messageOf(thrown)}` }
  }
}

async function fitting({ name, inputSchema }: Tool, input: Json): Promise<Validation> {
  if (!isStandardSchema(inputSchema)) {
    const problems = schemaProblems(inputSchema, input)
    return problems.length === 0 ? { input } : misfit(name, problems)
  }
  const result = await inputSchema['~standard'].validate(input)
  return result.issues === undefined ? { input: result.value } : misfit(name, result.issues.map(issueLine))
}

function misfit(name: string, problems: readonly string[]): Validation {
  const more = problems.length > MAX_PROBLEMS ? [`and ${problems.length - MAX_PROBLEMS} more`] : []
  const lines = [...problems.slice(0, MAX_PROBLEMS), ...more].map((problem) => `- ${problem}`)
  return { problem: shortened(`The arguments do not fit the schema of ${name}:\n${lines.join('\n')}`, MAX_PROBLEM_CHARS) }
}
