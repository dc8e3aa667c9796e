/** Records a model's answers in a file and replays them, so that tests call the model only once. */

import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ConfigurationError, CriaError } from '../core/error.ts'
import { textOf } from '../core/message.ts'
import type { LanguageModel, ModelCall, ModelFacts, ModelPart, ModelRequest } from '../core/model.ts'
import { canonicalJson, sha256 } from '../util/hash.ts'
import { describe, isRecord } from '../util/check.ts'
import { makeFolder, writeFileAtomically } from '../util/files.ts'

/** Content of the file. */
interface Recording {
  readonly version: 1
  readonly model: Pick<LanguageModel, 'ref' | 'facts'>
  readonly answers: readonly RecordedAnswer[]
}

interface RecordedAnswer {
  /** Hash of the request, SHA-256. */
  readonly request: string
  /** Beginning of the last message, for readers of the file. */
  readonly question: string
  /** Beginning of each part of the request, to find the differences of an unrecorded request. Absent in older files. */
  readonly outline?: Outline
  readonly parts: readonly ModelPart[]
}

/** By name of the part: `temperature`, `messages[0] (system)`, `tools.search`. */
type Outline = Readonly<Record<string, string>>

/** Length of the stored beginning of the last message, in UTF-16 units. */
const SHOWN = 200

/**
 * Makes a model that replays recorded answers from a file, which belongs beside the tests.
 *
 *     const model = cassette('test/answers.json', process.env.OPENAI_API_KEY ? createModel('openai/gpt-5-mini') : undefined)
 *
 * Equal requests get their recorded answers in order. After the last answer, the model is called again and its answer recorded; without a model
 * the last answer is repeated. Only complete answers are recorded. The file contains questions and answers, no keys. Delete it to record anew.
 *
 * @param path the file; created when the first answer is recorded.
 * @param model answers requests that are not in the file. Without it such a request fails, so that tests never use the network; the error lists the
 *   differences from the nearest recorded request.
 * @throws ConfigurationError when the file is not a recording, or both file and model are missing.
 */
export function cassette(path: string, model?: LanguageModel): LanguageModel {
  if (model !== undefined && typeof model?.stream !== 'function')
    throw new ConfigurationError(`cassette() records a model, such as createModel() makes, but got ${describe(model)}.`)
  const file = resolve(path)
  const recorded = read(file)
  const { ref, facts } = model ?? recorded?.model ?? nothingToPlay(file)
  const played = new Map<string, number>()
  return { ref, facts, identity: sha256(`cassette ${file}`), stream }

  async function* stream(request: ModelRequest, call: ModelCall): AsyncGenerator<ModelPart> {
    const key = keyOf(request)
    const turn = played.get(key) ?? 0
    played.set(key, turn + 1)
    const known = (read(file)?.answers ?? []).filter((answer) => answer.request === key)
    const answer = known[turn] ?? (model === undefined ? known.at(-1) : undefined)
    if (answer !== undefined) {
      for (const part of answer.parts) {
        call.signal.throwIfAborted()
        yield part
      }
      return
    }
    if (model === undefined) throw unknown(file, request, read(file)?.answers ?? [])
    const parts: ModelPart[] = []
    try {
      for await (const part of model.stream(request, call)) {
        parts.push(part)
        yield part
      }
    } finally {
      // A reader may stop at the finish part, so the answer is recorded here.
      if (parts.some(({ type }) => type === 'finish'))
        keep(file, model, { request: key, question: questionOf(request), outline: outlineOf(request), parts })
    }
  }
}

/** Hashes what the provider receives. Leaves out `grounding`, which the messages contain as text, and `stream`, which does not change the answer. */
function keyOf({ grounding: _, stream: __, ...sent }: ModelRequest): string {
  return sha256(canonicalJson(sent))
}

function questionOf({ messages }: ModelRequest): string {
  return textOf(messages.at(-1)?.parts ?? []).slice(0, SHOWN)
}

function keep(file: string, { ref, facts }: LanguageModel, answer: RecordedAnswer): void {
  const recording: Recording = { version: 1, model: { ref, facts }, answers: [...(read(file)?.answers ?? []), answer] }
  makeFolder(dirname(file), 0o777)
  writeFileAtomically(file, `${JSON.stringify(recording, undefined, 2)}\n`)
}

/** @throws ConfigurationError when the file exists and is not a recording. */
function read(file: string): Recording | undefined {
  if (!existsSync(file)) return undefined
  let found: unknown
  try {
    found = JSON.parse(readFileSync(file, 'utf8'))
  } catch (thrown) {
    throw new ConfigurationError(
      `${file} is not a recording of a cassette: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
    )
  }
  if (!isRecording(found))
    throw new ConfigurationError(
      `${file} is not a recording of a cassette: it must hold version 1, a model and answers, but is ${describe(found)}.`,
    )
  return found
}

function isRecording(value: unknown): value is Recording {
  if (!isRecord(value) || value['version'] !== 1 || !isRecord(value['model']) || !Array.isArray(value['answers'])) return false
  return value['answers'].every(
    (answer) => isRecord(answer) && typeof answer['request'] === 'string' && Array.isArray(answer['parts']),
  )
}

function nothingToPlay(file: string): { readonly ref: string; readonly facts: ModelFacts } {
  throw new ConfigurationError(`There is no recording ${file}: pass a model to cassette() to record one.`)
}

function unknown(file: string, request: ModelRequest, answers: readonly RecordedAnswer[]): CriaError {
  const differences = differencesFrom(outlineOf(request), answers)
  const said = differences.length === 0 ? '' : ` The recorded request that is nearest differs in:\n${differences.join('\n')}`
  return new CriaError(
    'invalid_request',
    `${file} holds no answer to this request for ${request.model}: ${JSON.stringify(questionOf(request))}.${said}`,
    { hint: 'Pass a model to cassette() once to record it. Any change makes a different request.' },
  )
}

/** Stored length of each part of a request, in UTF-16 units. */
const PART_SHOWN = 100
/** Maximum number of differences in an error. */
const MOST_SHOWN = 8

function outlineOf({ grounding: _, stream: __, messages, tools = [], ...settings }: ModelRequest): Outline {
  const parts = [
    ...Object.entries(settings),
    ...messages.map(({ role, content, parts }, at): [string, unknown] => [
      `messages[${at}] (${role})`,
      parts.every(({ type }) => type === 'text') ? content : parts,
    ]),
    ...tools.map(({ name, ...tool }): [string, unknown] => [`tools.${name}`, tool]),
  ]
  return Object.fromEntries(parts.map(([name, value]) => [name, beginning(canonicalJson(value))]))
}

/** Shortens a long text and appends a hash of all of it, so that texts with the same beginning differ. */
function beginning(json: string): string {
  return json.length <= PART_SHOWN ? json : `${json.slice(0, PART_SHOWN).toWellFormed()}… (${sha256(json).slice(0, 8)})`
}

/** Returns the differences from the nearest recorded request, one per line; empty where no recorded request has an outline. */
function differencesFrom(asked: Outline, answers: readonly RecordedAnswer[]): readonly string[] {
  const outlines = answers.flatMap(({ outline }) => (outline === undefined ? [] : [outline]))
  const [nearest] = outlines
    .map((outline) => compared(asked, outline))
    .sort((a, b) => a.names.length - b.names.length || b.alike - a.alike)
  if (nearest === undefined) return []
  const lines = nearest.names.map(
    (name) => `- ${name}: recorded ${nearest.outline[name] ?? 'nothing'}, now ${asked[name] ?? 'nothing'}`,
  )
  const more = lines.length - MOST_SHOWN
  return more <= 0 ? lines : [...lines.slice(0, MOST_SHOWN), `- and ${more} more`]
}

/** Returns as `names` the parts that differ, and as `alike` the number of leading characters that these have in common. */
function compared(
  asked: Outline,
  outline: Outline,
): { readonly outline: Outline; readonly names: readonly string[]; readonly alike: number } {
  const all = new Set([...Object.keys(asked), ...Object.keys(outline)])
  const names = [...all].filter((name) => asked[name] !== outline[name])
  const alike = names.reduce((sum, name) => sum + commonStart(asked[name] ?? '', outline[name] ?? ''), 0)
  return { outline, names, alike }
}

function commonStart(a: string, b: string): number {
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  return at
}
