import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openRecorder, prompt, query, SimpleBot } from '../../src/index.ts'
import type { PromptStats, TurnDetail } from '../../src/index.ts'
import { ScriptedModel } from '../../src/testing.ts'
import { newPlace } from './command-line.ts'
import type { Place } from './command-line.ts'

let place: Place

beforeAll(async () => {
  place = newPlace()
  const recorder = await openRecorder({ path: `${place.home}/cria.db` })
  const model = new ScriptedModel(() => 'Fine.')
  const shared = { model, recorder, streamTarget: 'none' as const, temperature: 0 }
  const tone = prompt('tone', 'You are {{mood}}.')
  const review = prompt('review', 'Review:\n{{code}}')
  const bot = new SimpleBot({ ...shared, systemPrompt: tone({ mood: 'kind' }) })
  const first = await bot.ask(review({ code: 'a' }))
  await bot.ask(review({ code: 'b' }))
  const next = prompt('review', 'Review this code, briefly:\n{{code}}')
  for await (const _ of query({ model, recorder, system: tone({ mood: 'stern' }), prompt: next({ code: 'c' }) }));
  await new SimpleBot({ ...shared, name: 'Librarian', systemPrompt: 'Quote \u001B[31mbooks.' }).ask('Which?')
  await recorder.rate(first.turnId, 5)
  await recorder.close()
})
afterAll(() => {
  place[Symbol.dispose]()
})

async function shown(...words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await place.run(['prompts', ...words])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}

describe('REC-PROMPT-001 cria prompts', () => {
  test('list shows the newest version of each prompt, including system prompts of bots', async () => {
    const lines = (await shown('list')).trimEnd().split('\n')
    expect(lines.map((line) => line.split(/ {2,}/).slice(0, 2))).toEqual([
      ['prompt', 'version'],
      ['Librarian', 'v1'],
      ['review', 'v2'],
      ['tone', 'v1'],
    ])
    const { prompts } = JSON.parse(await shown('list', '--json')) as { readonly prompts: readonly PromptStats[] }
    expect(prompts.map(({ name, version, turns, ratings }) => ({ name, version, turns, ratings }))).toEqual([
      { name: 'Librarian', version: 1, turns: 1, ratings: {} },
      { name: 'review', version: 1, turns: 2, ratings: { 5: 1 } },
      { name: 'review', version: 2, turns: 1, ratings: {} },
      { name: 'tone', version: 1, turns: 3, ratings: { 5: 1 } },
    ])
  })

  test('show prints the use of every version, and the template of one', async () => {
    const all = await shown('show', 'review')
    expect(all).toMatch(/v1 .* 1 × 5\n/)
    expect(all).toMatch(/\nv2\nReview this code, briefly:\n\{\{code\}\}\n$/)
    expect(await shown('show', 'review', '1')).toMatch(/\nv1\nReview:\n\{\{code\}\}\n$/)
    const { versions } = JSON.parse(await shown('show', 'review', '--json')) as { readonly versions: readonly PromptStats[] }
    const byHash = await shown('show', 'review', versions[0]?.hash.slice(0, 10) ?? '')
    expect(byHash).toContain('\nv1\n')
  })

  test('show makes escape codes in templates inert', async () => {
    const { stdout } = await place.run(['prompts', 'show', 'Librarian'], { inTerminal: true })
    expect(stdout).toContain('books.')
    expect(stdout).not.toContain('\u001B[31m')
  })

  test('diff compares the newest two versions, or any two', async () => {
    const diff = '--- v1\n+++ v2\n@@ -1,2 +1,2 @@\n-Review:\n+Review this code, briefly:\n {{code}}\n'
    expect(await shown('diff', 'review')).toBe(diff)
    expect(await shown('diff', 'review', '1', '2')).toBe(diff)
    expect(JSON.parse(await shown('diff', 'review', '2', '1', '--json'))).toMatchObject({ from: 2, to: 1 })
    const same = await place.run(['prompts', 'diff', 'review', '2', '2'])
    expect([same.code, same.stdout, same.stderr]).toEqual([0, '', 'cria: v2 and v2 have the same lines.\n'])
  })

  test.each([
    [['show', 'nothing'], 'There is no prompt "nothing".'],
    [['show', 'review', '9'], 'There is no version "9" of this prompt; the newest is 2.'],
    [['diff', 'tone'], 'The prompt "tone" has one version'],
  ])('%j names the missing prompt or version', async (words, message) => {
    const { code, stderr } = await place.run(['prompts', ...words])
    expect(code).toBe(1)
    expect(stderr).toContain(message)
  })

  test('a turn names the prompt versions that it used', async () => {
    const { stdout } = await place.run(['logs', 'search', 'review', '--json'])
    const [turn] = (JSON.parse(stdout) as { readonly turns: readonly { readonly turnId: string }[] }).turns
    const detail = JSON.parse((await place.run(['logs', 'show', turn?.turnId ?? '', '--json'])).stdout) as TurnDetail
    expect(detail.prompts?.map(({ name, version }) => `${name} v${version}`)).toEqual(['review v2', 'tone v1'])
    expect(detail.turn.promptHash).toBe(detail.prompts?.find(({ name }) => name === 'tone')?.hash)
    expect(JSON.stringify(detail.messages)).not.toContain('{{code}}')
    expect((await place.run(['logs', 'show', turn?.turnId ?? ''])).stdout).toMatch(/^prompts +review v2, tone v1$/m)
  })
})
