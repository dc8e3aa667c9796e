import { describe, expect, test } from 'vitest'
import { createLocalVerifier } from './local.ts'

const { signal } = new AbortController()
const CLAIMS = [
  { statement: '**Ida** built it [1].', passages: ['Ida Marsh built it.', 'It is white.'] },
  { statement: 'It is blue [2].', passages: ['It is white.'] },
  { statement: 'It is old [2].', passages: ['It is white.'] },
]

/** Replaces the package by a model with given logits for each statement. */
function transformers(
  labels: Record<string, string>,
  logits: (passage: string, statement: string) => number[],
): { seen: string[]; load: () => Promise<unknown> } {
  const seen: string[] = []
  const classifier = Object.assign(
    async (pairs: readonly (readonly [string, string])[]) => {
      const rows = pairs.map(([passage, statement]) => logits(passage, statement))
      return { logits: { dims: [rows.length, Object.keys(labels).length], data: rows.flat() } }
    },
    { config: { id2label: labels } },
  )
  const tokenizer = (
    passages: readonly string[],
    { text_pair }: { text_pair: readonly string[] },
  ): (readonly [string, string])[] => {
    seen.push(...text_pair)
    return passages.map((passage, index) => [passage, text_pair[index] ?? ''])
  }
  const load = async (): Promise<unknown> => ({
    AutoTokenizer: { from_pretrained: async () => tokenizer },
    AutoModelForSequenceClassification: { from_pretrained: async () => classifier },
  })
  return { seen, load }
}

describe('createLocalVerifier', () => {
  test('reads the columns of the logits by their labels, and takes the passage that entails', async () => {
    const labels = { 0: 'contradiction', 1: 'entailment', 2: 'neutral' }
    const { seen, load } = transformers(labels, (passage, statement) =>
      passage.startsWith('Ida') ? [0, 5, 0] : statement.includes('blue') ? [5, 0, 0] : [0, 0, 5],
    )
    const verdicts = await createLocalVerifier('tests/made', { load })(CLAIMS, { signal })
    expect(verdicts.map((each) => each?.verdict)).toEqual(['verified', 'contradicted', undefined])
    expect(seen[0]).toBe('Ida built it .')
  })

  test('a verdict below the threshold does not count', async () => {
    const { load } = transformers({ 0: 'ENTAILMENT', 1: 'NEUTRAL', 2: 'CONTRADICTION' }, () => [1, 0, 0])
    expect(await createLocalVerifier('tests/made', { load })(CLAIMS, { signal })).toEqual([undefined, undefined, undefined])
    const [first] = await createLocalVerifier('tests/made', { load, threshold: 0.5 })(CLAIMS, { signal })
    expect(first?.verdict).toBe('verified')
  })

  test('a missing package is an error with the install command, and the next call tries again', async () => {
    let calls = 0
    const verify = createLocalVerifier('tests/made', { load: () => Promise.reject(new Error(`no package ${++calls}`)) })
    for (const _ of [1, 2])
      await expect(verify(CLAIMS, { signal })).rejects.toMatchObject({ hint: expect.stringContaining('npm install') })
    expect(calls).toBe(2)
  })

  test('a model without entailment labels is refused', async () => {
    const { load } = transformers({ 0: 'POSITIVE', 1: 'NEGATIVE' }, () => [1, 0])
    await expect(createLocalVerifier('tests/made', { load })(CLAIMS, { signal })).rejects.toMatchObject({
      code: 'model_unavailable',
    })
  })

  test('an abort ends the verification between two runs of the model', async () => {
    const { load } = transformers({ 0: 'entailment' }, () => [1])
    await expect(createLocalVerifier('tests/made', { load })(CLAIMS, { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i)
  })
})
