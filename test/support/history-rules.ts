/**
 * Checks request bodies against the rules of providers for conversations, from their documentation and error messages. Each violation would be a
 * status of 400.
 *
 * OpenAI: "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'"; "No tool output found
 * for function call"; "Item of type 'reasoning' was provided without its required following item"; "Duplicate item found with id".
 * Anthropic: "`tool_use` ids were found without `tool_result` blocks immediately after"; "`tool_use` ids must be unique"; "text content blocks
 * must contain non-whitespace text"; "first message must use the user role"; "the final block in an assistant message cannot be `thinking`".
 * Mistral, and the chat templates of open models: "Unexpected role 'user' after role 'tool'"; "after the optional system message, conversation roles must
 * alternate"; "system message must be at the beginning".
 * Google: "function call turn comes immediately after a user turn or after a function response turn"; "the number of function response parts
 * is equal to the number of function call parts of the function call turn"; "required oneof field 'data' must have one initialized field".
 */

type Json = Readonly<Record<string, unknown>>

export const HISTORY_RULES: Readonly<Record<string, (body: unknown) => string[]>> = {
  openai: (body) => responses(record(body)),
  'openai-chat': (body) => chat(record(body), 40),
  'openai-compatible': (body) => [...chat(record(body), Infinity), ...templates(record(body))],
  anthropic: (body) => anthropic(record(body)),
  google: (body) => google(record(body)),
}

class Objections {
  readonly list: string[] = []
  unless(holds: boolean, objection: string): void {
    if (!holds) this.list.push(objection)
  }
}

function chat({ messages }: Json, longestId: number): string[] {
  const must = new Objections()
  let open = new Set<string>()
  let answering = false
  must.unless(list(messages).length > 0, 'messages is empty')
  list(messages).forEach((message, index) => {
    const at = `messages[${index}]`
    const { role, content } = message
    if (role === 'tool') {
      const id = text(message['tool_call_id'])
      must.unless(answering, `${at}: a tool message must follow tool_calls`)
      must.unless(open.delete(id), `${at}: unknown or repeated tool_call_id ${id}`)
      must.unless(says(content), `${at}: empty`)
      return
    }
    must.unless(open.size === 0, `${at}: tool calls without a response: ${[...open].join()}`)
    open = new Set()
    answering = false
    const calls = list(message['tool_calls'])
    if (role === 'assistant') {
      must.unless(message['tool_calls'] === undefined || calls.length > 0, `${at}: tool_calls is empty`)
      must.unless(says(content) || ((content === null || content === undefined) && calls.length > 0), `${at}: says nothing`)
      answering = calls.length > 0
    } else {
      must.unless(role === 'system' || role === 'developer' || role === 'user', `${at}: unknown role ${text(role)}`)
      must.unless(says(content), `${at}: empty`)
    }
    for (const call of calls) {
      const { name, arguments: given } = record(call['function'])
      const id = text(call['id'])
      must.unless(id !== '' && id.length <= longestId && !open.has(id), `${at}: the id ${id} is empty, too long or taken`)
      must.unless(/^[\w-]{1,64}$/.test(text(name)), `${at}: the name ${text(name)} is not allowed`)
      must.unless(isObject(parse(given)), `${at}: the arguments are no JSON object in a string`)
      open.add(id)
    }
  })
  must.unless(open.size === 0, `the end: tool calls without a response: ${[...open].join()}`)
  return must.list
}

/** Checks that, after the instructions, the user begins, and an answer follows each tool result and user message. */
function templates({ messages }: Json): string[] {
  const must = new Objections()
  const all = list(messages).map(({ role }) => text(role))
  const first = all.findIndex((role) => role !== 'system')
  const roles = all.slice(first)
  roles.forEach((role, index) => {
    const before = roles[index - 1]
    const allowed =
      role === 'tool' ||
      (role === 'user' && (before === undefined || before === 'assistant')) ||
      (role === 'assistant' && (before === 'user' || before === 'tool'))
    must.unless(allowed, `messages: unexpected role ${role} after ${before ?? 'the beginning'}`)
  })
  return must.list
}

function responses({ input }: Json): string[] {
  const must = new Objections()
  const outputs = new Map<string, number>()
  const ids = new Set<string>()
  must.unless(list(input).length > 0, 'input is empty')
  list(input).forEach((item, index) => {
    const at = `input[${index}]`
    const id = item['id']
    if (typeof id === 'string') {
      must.unless(!ids.has(id), `${at}: duplicate item ${id}`)
      ids.add(id)
    }
    const callId = text(item['call_id'])
    if (item['type'] === 'function_call') {
      must.unless(
        callId !== '' && callId.length <= 64 && !outputs.has(callId),
        `${at}: the call_id ${callId} is empty, too long or taken`,
      )
      must.unless(/^[\w-]{1,64}$/.test(text(item['name'])), `${at}: the name ${text(item['name'])} is not allowed`)
      must.unless(isObject(parse(item['arguments'])), `${at}: the arguments are no JSON object in a string`)
      outputs.set(callId, 0)
    } else if (item['type'] === 'function_call_output') {
      const count = outputs.get(callId)
      must.unless(count === 0, `${at}: no call, or a second output, for ${callId}`)
      must.unless(says(item['output']), `${at}: empty output`)
      outputs.set(callId, (count ?? 0) + 1)
    } else if (item['type'] === 'reasoning') {
      const next = record(list(input)[index + 1])
      const follows = next['type'] === 'reasoning' || next['type'] === 'function_call' || next['role'] === 'assistant'
      must.unless(follows, `${at}: reasoning without its following item`)
    } else {
      must.unless(['system', 'developer', 'user', 'assistant'].includes(text(item['role'])), `${at}: unknown item`)
      must.unless(says(item['content']), `${at}: empty`)
    }
  })
  for (const [id, count] of outputs) must.unless(count === 1, `no output for function call ${id}`)
  return must.list
}

function anthropic({ system, messages, max_tokens: maxTokens }: Json): string[] {
  const must = new Objections()
  const ids = new Set<string>()
  let open = new Set<string>()
  must.unless(Number.isInteger(maxTokens), 'max_tokens is required')
  must.unless(system === undefined || says(system), 'system: empty')
  must.unless(list(messages).length > 0, 'messages is empty')
  list(messages).forEach((message, index) => {
    const at = `messages.${index}`
    const { role } = message
    const blocks =
      typeof message['content'] === 'string' ? [{ type: 'text', text: message['content'] }] : list(message['content'])
    must.unless(role === (index % 2 === 0 ? 'user' : 'assistant'), `${at}: roles must begin with user and alternate`)
    must.unless(blocks.length > 0, `${at}: empty`)
    let others = false
    for (const block of blocks) {
      const type = block['type']
      if (type === 'text') must.unless(text(block['text']).trim() !== '', `${at}: an empty text`)
      if (type === 'thinking')
        must.unless(role === 'assistant' && text(block['signature']) !== '', `${at}: thinking without a signature`)
      if (type === 'tool_result') {
        const id = text(block['tool_use_id'])
        must.unless(role === 'user' && !others, `${at}: tool_result blocks must come first`)
        must.unless(open.delete(id), `${at}: unexpected or repeated tool_result for ${id}`)
        must.unless(says(block['content']), `${at}: an empty result`)
      } else others = true
    }
    must.unless(open.size === 0, `${at}: tool_use without a tool_result immediately after: ${[...open].join()}`)
    open = new Set()
    if (role !== 'assistant') return
    must.unless(index < list(messages).length - 1, `${at}: the conversation must end with a user message`)
    must.unless(!text(blocks.at(-1)?.['type']).endsWith('thinking'), `${at}: the final block cannot be thinking`)
    for (const block of blocks) {
      if (block['type'] !== 'tool_use') continue
      const id = text(block['id'])
      must.unless(/^[\w-]+$/.test(id) && !ids.has(id), `${at}: the id ${id} is not allowed or taken`)
      must.unless(/^[\w-]{1,128}$/.test(text(block['name'])), `${at}: the name ${text(block['name'])} is not allowed`)
      must.unless(isObject(block['input']), `${at}: the input is no object`)
      ids.add(id)
      open.add(id)
    }
  })
  return must.list
}

function google({ contents, systemInstruction }: Json): string[] {
  const must = new Objections()
  must.unless(systemInstruction === undefined || says(record(systemInstruction)['parts']), 'systemInstruction: empty')
  must.unless(list(contents).length > 0, 'contents is empty')
  must.unless(list(contents).at(-1)?.['role'] === 'user', 'contents must end with a user turn')
  const partsOf = (index: number): readonly Json[] => list(list(contents)[index]?.['parts'])
  const named = (index: number, kind: string): readonly Json[] =>
    partsOf(index).flatMap((part) => (part[kind] === undefined ? [] : [record(part[kind])]))
  list(contents).forEach(({ role }, index) => {
    const at = `contents[${index}]`
    const calls = named(index, 'functionCall')
    must.unless(role === 'user' || role === 'model', `${at}: unknown role`)
    must.unless(index > 0 || role === 'user', `${at}: the first turn must be the user's`)
    must.unless(partsOf(index).length > 0, `${at}: no parts`)
    for (const part of partsOf(index)) {
      const data = ['text', 'functionCall', 'functionResponse', 'inlineData', 'fileData'].filter(
        (name) => part[name] !== undefined,
      )
      must.unless(data.length === 1, `${at}: a part without data`)
      must.unless(
        part['text'] === undefined || text(part['text']).trim() !== '' || text(part['thoughtSignature']) !== '',
        `${at}: an empty text`,
      )
    }
    const previous = list(contents)[index - 1]
    if (calls.length > 0)
      must.unless(role === 'model' && previous?.['role'] === 'user', `${at}: a function call turn must follow a user turn`)
    for (const { name, args } of calls) {
      must.unless(/^[a-zA-Z_][\w.:-]{0,63}$/.test(text(name)), `${at}: the name ${text(name)} is not allowed`)
      must.unless(args === undefined || isObject(args), `${at}: args is no object`)
    }
    const keys = (items: readonly Json[]): string[] => items.map(({ id, name }) => `${text(id)} ${text(name)}`)
    const answers = named(index, 'functionResponse')
    const asked = named(index - 1, 'functionCall')
    must.unless(
      keys(answers).join('\n') === keys(asked).join('\n'),
      `${at}: function responses [${keys(answers).join()}] for the function calls [${keys(asked).join()}]`,
    )
    for (const { response } of answers) must.unless(isObject(response), `${at}: a response is no object`)
  })
  return must.list
}

function record(value: unknown): Json {
  return isObject(value) ? value : {}
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function list(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(record) : []
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Returns whether a text, or every text in a list of parts, is not blank. */
function says(content: unknown): boolean {
  if (typeof content === 'string') return content.trim() !== ''
  const parts = list(content)
  return parts.length > 0 && parts.every((part) => part['text'] === undefined || text(part['text']).trim() !== '')
}

function parse(value: unknown): unknown {
  try {
    return JSON.parse(text(value)) as unknown
  } catch {
    return undefined
  }
}
