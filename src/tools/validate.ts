/** Does the input of a call fit the schema of its tool? */

import type { ToolCallPart } from '../core/part.ts'
import { isStandardSchema } from '../core/schema.ts'
import type { SchemaIssue } from '../core/schema.ts'
import type { Tool } from '../core/tool.ts'
import { schemaProblems } from '../util/json-schema.ts'

export type Validation = { readonly input: unknown } | { readonly problem: string }

/** The problem is written for the model, which may try again. */
export async function validated(call: ToolCallPart, { inputSchema }: Tool): Promise<Validation> {
  if (call.invalid !== undefined)
    return { problem: `The arguments are not valid JSON (${call.invalid}). Send the call again with a JSON object.` }
  if (typeof call.input !== 'object' || call.input === null || Array.isArray(call.input))
    return { problem: 'The arguments must be a JSON object.' }
  if (!isStandardSchema(inputSchema)) {
    const problems = schemaProblems(inputSchema, call.input)
    return problems.length === 0 ? { input: call.input } : misfit(call, problems)
  }
  const result = await inputSchema['~standard'].validate(call.input)
  return result.issues === undefined ? { input: result.value } : misfit(call, result.issues.map(line))
}

function misfit({ name }: ToolCallPart, problems: readonly string[]): Validation {
  return { problem: `The arguments do not fit the schema of ${name}:\n${problems.map((problem) => `- ${problem}`).join('\n')}` }
}

function line({ path, message }: SchemaIssue): string {
  const place = (path ?? []).map((key) => String(typeof key === 'object' ? key.key : key)).join('.')
  return place === '' ? message : `${place}: ${message}`
}
