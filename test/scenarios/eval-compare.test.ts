import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { evalAnswers, evalRetrieval } from '../../src/cli/commands/eval.ts'
import { parseCommandLine } from '../../src/cli/parse.ts'
import type { Command } from '../../src/cli/command.ts'
import { fakeIo } from '../support/fake-io.ts'

const folder = mkdtempSync(join(tmpdir(), 'cria-compare-'))
const town = join(folder, 'town')
const file = (name: string): string => join(folder, name)
const lines = (values: readonly unknown[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('')

beforeAll(() => {
  mkdirSync(join(town, 'qrels'), { recursive: true })
  writeFileSync(
    join(town, 'corpus.jsonl'),
    lines([
      { _id: 'mill', title: 'The mill', text: 'Ida Marsh built the mill in 1874 to grind rye.' },
      { _id: 'bridge', text: 'A bridge of stone crosses the river. <script>alert(1)</script>' },
    ]),
  )
  writeFileSync(
    join(town, 'queries.jsonl'),
    lines([
      { _id: 'q1', text: 'who built the mill' },
      { _id: 'q2', text: '<img src=x> zebra' },
    ]),
  )
  writeFileSync(join(town, 'qrels', 'test.tsv'), 'query-id\tcorpus-id\tscore\nq1\tmill\t1\nq2\tbridge\t1\n')
  writeFileSync(
    join(town, 'answers.jsonl'),
    lines([{ _id: 'a', question: 'Who built the mill?', answers: ['Ida Marsh'], doc_ids: ['mill'] }]),
  )
  writeFileSync(file('base.run'), 'q1 Q0 bridge 1 2 x\nq1 Q0 mill 2 1 x\n')
  writeFileSync(file('base.jsonl'), lines([{ _id: 'a', answer: '', quote: '', doc_id: '' }]))
})
afterAll(() => {
  rmSync(folder, { recursive: true })
})

async function run(command: Command, ...words: string[]): Promise<{ out: string; err: string }> {
  const io = fakeIo({ cwd: folder, env: { CRIA_HOME: join(folder, 'home'), CRIA_MODEL: 'builtin/extractive' } })
  expect(await command.run(parseCommandLine(command, ['--beir', town, ...words]), io)).toBe(0)
  return { out: io.out(), err: io.err() }
}

test('a configuration is compared with a run, and the report is written', async () => {
  const { out } = await run(
    evalRetrieval,
    '--json',
    '--run',
    file('own.run'),
    '--compare',
    file('base.run'),
    '--report',
    file('r.html'),
    file('r.md'),
  )
  expect(JSON.parse(out)).toMatchObject({
    queries: 2,
    comparison: { collection: 'town', names: [file('base.run'), 'this configuration'], questions: 2, failures: [{ id: 'q2' }] },
  })
  expect(readFileSync(file('r.html'), 'utf8')).not.toMatch(/<img|<script/)
  expect(readFileSync(file('r.md'), 'utf8')).toContain('| mrr10 | 0.2500 | 0.5000 |')
  const two = await run(evalRetrieval, '--compare', file('base.run'), file('own.run'))
  expect(two.out).toMatch(/mrr10 +0\.2500 +0\.5000 +\+0\.2500/)
})

test('a configuration is compared with another one', async () => {
  const { out } = await run(evalRetrieval, '--json', '--baseline-options', '{"chunk":{"maxChars":64}}')
  expect(JSON.parse(out)).toMatchObject({ comparison: { names: ['{"chunk":{"maxChars":64}}', 'this configuration'] } })
})

test('answers are compared with predictions', async () => {
  const { out } = await run(evalAnswers, '--json', '--predictions', file('own.jsonl'), '--compare', file('base.jsonl'))
  expect(JSON.parse(out)).toMatchObject({
    questions: 1,
    comparison: { measures: [{ measure: 'inQuote', baseline: 0 }, {}, {}, {}] },
  })
  expect(JSON.parse(out)).not.toHaveProperty('predictions')
  const two = await run(evalAnswers, '--compare', file('base.jsonl'), file('own.jsonl'), '--report', file('a.md'))
  expect(two.out).toContain('right')
  expect(readFileSync(file('a.md'), 'utf8')).toContain('| right |')
})

test.each([
  [['--compare', 'a', 'b', 'c'], /one or two files/],
  [['--report', 'x.pdf', '--compare', 'a'], /\.md or \.html/],
  [['--report', 'x.md'], /--compare/],
  [['--compare', 'gone.run'], /gone\.run does not exist/],
  [['--compare', 'gone.run', '--baseline-options', '{}'], /exclude each other/],
])('%j is refused', async (words, message) => {
  await expect(run(evalRetrieval, ...words)).rejects.toThrow(message)
})

test('a line that is not a ranking is named', async () => {
  writeFileSync(file('bad.run'), 'q1 Q0 mill 1 2 x\nq1 mill\n')
  await expect(run(evalRetrieval, '--compare', file('bad.run'))).rejects.toThrow(/bad\.run, line 2/)
})
