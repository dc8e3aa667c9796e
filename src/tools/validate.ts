/** Does the input of a call fit the schema of its tool? */

import type { ToolCallPart } from '../core/part.ts'
import { isStandardSchema } from '../core/schema.ts'
import type { SchemaIssue } from '../core/schema.ts'
import type { Tool } from '../core/tool.ts'

export type Validation = { readonly input: unknown } | { readonly problem: string }

/** The problem is written for the model, which may try again. */
export async function validated(call: ToolCallPart, { inputSchema }: Tool): Promise<Validation> {
  if (call.invalid !== undefined) return { problem: `The arguments are not valid JSON (${call.invalid}). Send the call again with a JSON object.` }
  if (!isStandardSchema(inputSchema)) {
    const isObject = typeof call.input === 'object' && call.input !== null && !Array.isArray(call.input)
    return isObject ? { input: call.input } : { problem: 'The arguments must be a JSON object.' }
  }
  const result = await inputSchema['~standard'].validate(call.input)
  if (result.issues === undefined) return { input: result.value }
  return { problem: `The arguments do not fit the schema of ${call.name}:\n${result.issues.map(line).join('\n')}` }
}

function line({ path, message }: SchemaIssue): string {
  const place = (path ?? []).map((key) => String(typeof key === 'object' ? key.key : key)).join('.')
  return place === '' ? `- ${message}` : `- ${place}: ${message}`
}
