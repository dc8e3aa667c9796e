/**
 * Reads the tool definitions of a server as untrusted data: enforces limits, cleans texts for the model, and checks input without the
 * server's regular expressions.
 */

import type { JsonSchema, StandardSchema } from '../../core/schema.ts'
import { canonicalJson, sha256 } from '../../util/hash.ts'
import { schemaProblems } from '../../util/json-schema.ts'
import { beginningOf } from '../../util/lines.ts'
import { targetOf } from '../define-tool.ts'

export interface Definition {
  /** Name of the tool on the server. */
  readonly name: string
  readonly description: string
  readonly schema: StandardSchema
  /** SHA-256 of name, description and schema as received, hexadecimal. */
  readonly fingerprint: string
}

export interface ReadDefinitions {
  readonly definitions: readonly Definition[]
  /** Omitted tools, with the reasons. */
  readonly problems: readonly string[]
}

const MAX_NAME = 256
const MAX_TOOL_DESCRIPTION = 4000
const MAX_PROBLEMS = 5

/** @param given members of `tools` of all pages. */
export function readDefinitions(given: readonly unknown[], wanted: readonly string[] | undefined): ReadDefinitions {
  const definitions = new Map<string, Definition>()
  const problems: string[] = []
  for (const tool of given) {
    const { name, description, inputSchema } = (typeof tool === 'object' && tool !== null ? tool : {}) as Record<string, unknown>
    if (typeof name !== 'string' || name === '' || name.length > MAX_NAME) {
      problems.push('a tool without a usable name')
      continue
    }
    if (wanted?.includes(name) === false) continue
    const schema = definitions.has(name) ? 'another tool has the same name' : readSchema(inputSchema)
    if (typeof schema === 'string') {
      problems.push(`the tool ${JSON.stringify(cleanText(name, 80))}, because ${schema}`)
      continue
    }
    const said = typeof description === 'string' ? description : ''
    definitions.set(name, {
      name,
      description: cleanText(said, MAX_TOOL_DESCRIPTION),
      schema,
      fingerprint: sha256(canonicalJson([name, said, inputSchema])),
    })
  }
  for (const name of wanted ?? []) {
    if (!given.some((tool) => (tool as { name?: unknown } | null)?.name === name)) {
      problems.push(`the tool ${JSON.stringify(name)}, because the server has no tool of that name`)
    }
  }
  return { definitions: [...definitions.values()], problems: shortList(problems) }
}

function shortList(problems: readonly string[]): readonly string[] {
  const more = problems.length - MAX_PROBLEMS
  return more > 0 ? [...problems.slice(0, MAX_PROBLEMS), `and ${more} more`] : problems
}

/** Remembers the definitions of server tools that were allowed. */
export interface McpPins {
  /** Returns the fingerprint with which a tool was last allowed. */
  allowed(server: string, tool: string): string | undefined
  /** Stores the fingerprint with which a tool was allowed. */
  allow(server: string, tool: string, fingerprint: string): void
}

/** Returns pins that last until the process ends. */
export function memoryPins(): McpPins {
  const pins = new Map<string, string>()
  return {
    allowed: (_server, tool) => pins.get(tool),
    allow: (_server, tool, fingerprint) => void pins.set(tool, fingerprint),
  }
}

const MAX_CHARS = 40_000
const MAX_DEPTH = 40
const MAX_NODES = 5000
/** Maximum number of schemas that are visited when every reference is followed. */
const MAX_EXPANDED = 100_000
/** Maximum characters of a description inside a schema. */
const MAX_DESCRIPTION = 1000

/** Keywords whose value holds schemas by name, and keywords whose value is data. */
const MAPS: ReadonlySet<string> = new Set(
  'properties $defs definitions patternProperties dependentSchemas dependencies'.split(' '),
)
const DATA: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples', 'required'])
/** Keywords that providers refuse at the top of a schema. They are removed for the model, but still checked here. */
const NOT_ON_TOP: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else', '$schema', '$id'])

/** @returns the schema, or the reason why it cannot be used. */
function readSchema(given: unknown): StandardSchema | string {
  if (given === undefined || given === null) return standard({ type: 'object', properties: {} })
  if (typeof given !== 'object' || Array.isArray(given)) return 'its schema is not an object'
  const problem = tooLarge(given)
  if (problem !== undefined) return problem
  const { size, loops } = expanded(given)
  if (size > MAX_EXPANDED) return 'the references in its schema multiply'
  const schema = given as JsonSchema
  if (schema['type'] !== undefined && schema['type'] !== 'object') return 'its schema does not describe an object'
  const shown = mapped(schema, shownNode) as JsonSchema
  if (JSON.stringify(shown).length > MAX_CHARS) return `its schema has more than ${MAX_CHARS.toLocaleString('en-US')} characters`
  // With several recursive references a check could take exponential time in the depth of a value. Only the server checks it then.
  return standard(loops > 1 ? {} : schema, { ...without(shown, NOT_ON_TOP), type: 'object' })
}

function standard(schema: JsonSchema, shown: JsonSchema = schema): StandardSchema {
  const checked = mapped(schema, checkedNode) as JsonSchema
  return {
    '~standard': {
      version: 1,
      vendor: 'mcp',
      jsonSchema: { input: () => shown },
      validate(value) {
        const problems = problemsOf(checked, value)
        return problems.length === 0 ? { value } : { issues: problems.map((message) => ({ message })) }
      },
    },
  }
}

/** Returns the mismatches of a value; none when the schema cannot be checked here, because the server checks as well. */
function problemsOf(schema: JsonSchema, value: unknown): string[] {
  try {
    return schemaProblems(schema, value)
  } catch {
    return []
  }
}

/** Returns the exceeded limit, or `undefined`. Not recursive, because the schema may be deeper than the stack. */
function tooLarge(schema: object): string | undefined {
  const left: { readonly value: unknown; readonly depth: number }[] = [{ value: schema, depth: 0 }]
  let nodes = 0
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value, depth } = next
    if (typeof value !== 'object' || value === null) continue
    if (depth > MAX_DEPTH) return `its schema is nested more than ${MAX_DEPTH} levels deep`
    const reference = (value as { $ref?: unknown }).$ref
    if (typeof reference === 'string' && targetOf(reference, schema) === undefined) {
      return `its schema refers to ${JSON.stringify(cleanText(reference, 100))}, which is not part of it`
    }
    const members: unknown[] = Object.values(value)
    nodes += 1 + members.length
    if (nodes > MAX_NODES) return `its schema has more than ${MAX_NODES.toLocaleString('en-US')} parts`
    for (const member of members) left.push({ value: member, depth: depth + 1 })
  }
  return undefined
}

/** Keywords below the top that change the target of references, so that their targets are not known here. */
const SCOPES: ReadonlySet<string> = new Set('$anchor $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor'.split(' '))

interface Expansion {
  /** Number of schemas when every reference is followed, except recursive references. */
  readonly size: number
  /** Number of recursive references among them; a reference that is not known counts as several. */
  readonly loops: number
}

function expanded(schema: object): Expansion {
  const [ofSchemas, ofNames] = [new Map<object, Expansion>(), new Map<object, Expansion>()]
  /** @param isNames true for an object whose keys are names of schemas, not keywords. */
  const expansionOf = (value: unknown, isNames: boolean): Expansion => {
    if (typeof value !== 'object' || value === null) return { size: 0, loops: 0 }
    const known = isNames ? ofNames : ofSchemas
    const before = known.get(value)
    if (before !== undefined) return before
    known.set(value, { size: 1, loops: 1 })
    let [size, loops] = [1, 0]
    for (const [key, member] of Object.entries(value)) {
      if (!isNames && (DATA.has(key) || key === '$defs' || key === 'definitions')) continue
      if (!isNames && SCOPES.has(key) && value !== schema) loops += 2
      const isReference = !isNames && key === '$ref' && typeof member === 'string'
      const inner = isReference ? expansionOf(targetOf(member, schema), false) : expansionOf(member, !isNames && MAPS.has(key))
      size += inner.size
      loops += inner.loops
    }
    known.set(value, { size, loops })
    return { size, loops }
  }
  return expansionOf(schema, false)
}

/** Applies `change` to every schema in a schema, but not to names of properties or data. */
function mapped(value: unknown, change: (node: Record<string, unknown>) => Record<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item) => mapped(item, change))
  if (typeof value !== 'object' || value === null) return value
  const node = change(value as Record<string, unknown>)
  return Object.fromEntries(
    Object.entries(node).map(([key, member]) => {
      if (DATA.has(key)) return [key, member]
      if (!MAPS.has(key) || typeof member !== 'object' || member === null) return [key, mapped(member, change)]
      return [key, Object.fromEntries(Object.entries(member).map(([name, schema]) => [name, mapped(schema, change)]))]
    }),
  )
}

function shownNode(node: Record<string, unknown>): Record<string, unknown> {
  const texts = ['title', 'description', '$comment'].flatMap((key) => {
    const text = node[key]
    return typeof text === 'string' ? [[key, cleanText(text, MAX_DESCRIPTION)] as const] : []
  })
  return { ...node, ...Object.fromEntries(texts) }
}

/** Removes regular expressions: a server could make the model send a value on which its expression runs for hours. */
function checkedNode(node: Record<string, unknown>): Record<string, unknown> {
  const hasPatterns = 'patternProperties' in node
  return without(
    node,
    new Set([
      'pattern',
      'patternProperties',
      'format',
      '$schema',
      '$id',
      ...(hasPatterns ? ['additionalProperties', 'unevaluatedProperties'] : []),
    ]),
  )
}

function without<T extends object>(value: T, keys: ReadonlySet<string>): T {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.has(key))) as T
}

/** Invisible characters that models read: controls, directions, tags, private use. Excludes line ends and tabs. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu

export function cleanText(text: string, limit: number): string {
  // Reads only as many characters as can remain.
  const clean = text
    .slice(0, limit * 2)
    .toWellFormed()
    .replaceAll(UNSEEN, '')
  return clean.length <= limit && text.length <= limit * 2
    ? clean
    : `${beginningOf(clean, limit)} [… cut: ${text.length.toLocaleString('en-US')} characters]`
}
