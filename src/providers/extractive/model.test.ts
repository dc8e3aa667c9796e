import { expect, test } from 'vitest'
import type { Retrieved } from '../../core/message.ts'
import type { Grounding, ModelCall, ModelPart, ModelRequest } from '../../core/model.ts'
import type { Span } from '../../core/span.ts'
import { createExtractiveModel, PASSAGES_READ } from './model.ts'
import { ABSTENTION, NO_DOCUMENTS } from './wording.ts'

const model = createExtractiveModel()
const span = {} as Span

async function run(request: Partial<ModelRequest>, signal: AbortSignal = new AbortController().signal): Promise<ModelPart[]> {
  const call: ModelCall = { signal, span }
  const parts: ModelPart[] = []
  for await (const part of model.stream({ model: model.ref, messages: [], stream: true, ...request }, call)) parts.push(part)
  return parts
}

function passage(marker: string, text: string, score: number, extra: Partial<Retrieved> = {}): Retrieved {
  return {
    marker,
    origin: 'docstore',
    store: 'default',
    chunk: { id: marker, text, source: `${marker}.md`, start: 0, end: text.length, metadata: {}, score },
    ...extra,
  }
}

const textOf = (parts: readonly ModelPart[]): string => parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

const grounding: Grounding = {
  question: 'Who built the lighthouse on Gull Island?',
  passages: [
    passage('1', 'The lighthouse on Gull Island was built by Ida Marsh in 1874. It is painted white.', 9),
    passage('2', 'Gulls nest on many islands. They eat fish.', 3),
  ],
  weights: {},
}

test('QRY-RAG-020 an answer is streamed quote by quote, each with its marker, and finishes', async () => {
  const parts = await run({ grounding })
  expect(textOf(parts)).toMatch(/^The lighthouse on Gull Island was built by Ida Marsh in 1874\..* \[1\]/)
  expect(parts.at(-1)).toEqual({ type: 'finish', reason: 'stop', abstained: false })
  expect(parts.at(-2)).toMatchObject({ type: 'usage', usage: { totalTokens: 0, exactness: 'exact' } })
})

test('a question that the passages do not answer is refused in one sentence, and the finish says so', async () => {
  const parts = await run({ grounding: { ...grounding, question: 'When did Queen Berengaria visit Zanzibar?' } })
  expect(textOf(parts)).toBe(ABSTENTION)
  expect(parts.at(-1)).toMatchObject({ type: 'finish', abstained: true })
})

test('a search that found nothing is an abstention', async () => {
  expect(textOf(await run({ grounding: { ...grounding, passages: [] } }))).toBe(ABSTENTION)
})

test('without documents it says what it is and what it needs', async () => {
  const parts = await run({})
  expect(textOf(parts)).toBe(NO_DOCUMENTS)
  expect(parts.at(-1)).toMatchObject({ type: 'finish', abstained: true })
})

test('scores of a memory are not measured against those of the documents', async () => {
  const memory = passage('3', 'The lighthouse keeper liked tea.', 900, { origin: 'memory', store: 'memory' })
  const parts = await run({ grounding: { ...grounding, passages: [...grounding.passages, memory] } })
  expect(textOf(parts)).toContain('Ida Marsh')
})

test('the best passages of each store are read, and no more', async () => {
  const [first = passage('1', '', 1)] = grounding.passages
  const others = Array.from({ length: PASSAGES_READ }, (_, at) => passage(`o${at}`, `Gull number ${at} eats fish.`, 5))
  const asked = async (passages: readonly Retrieved[]): Promise<string> =>
    textOf(await run({ grounding: { ...grounding, passages } }))
  expect(await asked([...others.slice(1), first])).toContain('Ida Marsh')
  expect(await asked([...others, first])).not.toContain('Ida Marsh')
  expect(await asked([...others, { ...first, origin: 'memory', store: 'memory' }])).toContain('Ida Marsh')
})

test('a schema cannot be filled with quotes', async () => {
  await expect(run({ responseFormat: { type: 'json' }, grounding })).rejects.toMatchObject({ code: 'invalid_request' })
})

test('ENG-ERR-001 an aborted call says nothing', async () => {
  const controller = new AbortController()
  controller.abort()
  await expect(run({ grounding }, controller.signal)).rejects.toMatchObject({ code: 'aborted' })
})
