import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { fakeIo } from '../../test/support/fake-io.ts'
import type { Citation } from '../core/citation.ts'
import type { ErrorInfo } from '../core/error.ts'
import type { EventBody, QueryEvent, QueryResult } from '../core/event.ts'
import { ZERO_USAGE } from '../core/usage.ts'
import { showTurn } from './answer-view.ts'

const RESULT: QueryResult = {
  text: 'Red wine.',
  finishReason: 'stop',
  steps: 1,
  usage: ZERO_USAGE,
  costUsd: 0,
  model: 'test/model',
  cacheHit: false,
  sessionId: 's1',
  turnId: 't1',
  traceId: 'x1',
}

const FAILURE: ErrorInfo = { code: 'overloaded', message: 'The server is overloaded', retryable: true, hint: 'Try later.' }

async function* turn(...bodies: readonly EventBody[]): AsyncGenerator<QueryEvent> {
  for (const [seq, body] of bodies.entries()) {
    const step = 'step' in body ? Number(body.step) : 1
    yield { sessionId: 's1', turnId: 't1', seq, at: 1000 + seq * 10, ...body, step }
  }
}

const start: EventBody = { type: 'start', model: 'test/model' }
const delta = (text: string): EventBody => ({ type: 'text_delta', text, attempt: 1 })
const complete = (result: Partial<QueryResult> = {}): EventBody => ({ type: 'complete', result: { ...RESULT, ...result } })
const citation = (over: Partial<Citation> = {}): Citation => ({
  marker: '1',
  chunkId: 'c1',
  source: 'docs/wine.md',
  start: 0,
  end: 9,
  quote: 'Red wine.',
  verdict: 'verified',
  supported: true,
  kind: 'verbatim',
  claim: { start: 0, end: 13 },
  ...over,
})
const TEXT = { format: 'text', showThinking: false } as const

describe('text in a pipe', () => {
  test('streams the answer, then lists its sources', async () => {
    const io = fakeIo()
    const citations = [citation({ lines: [3, 4] }), citation({ lines: [3, 4] }), citation({ marker: '2', source: 'a b.pdf' })]
    const code = await showTurn(turn(start, delta('Red '), delta('wine. [1][2]'), complete({ citations })), io, TEXT)
    expect(code).toBe(0)
    expect(io.out()).toBe('Red wine. [1][2]\n\nSources\n[1] docs/wine.md:3\n[2] a b.pdf\n')
    expect(io.err()).toBe('')
  })

  test('a refusal names the closest passages, best first, unless none were found or the answer names some', async () => {
    const chunk = (source: string): { id: string; source: string; start: number; end: number; score: number } => ({
      id: `chunk of ${source}`,
      source,
      start: 0,
      end: 9,
      score: 1,
    })
    const found = ['b.md', 'a.md', 'b.md', 'c.md', 'd.md'].map(chunk)
    const refused = complete({ abstained: true })
    const io = fakeIo()
    await showTurn(turn(start, { type: 'retrieval', store: 's', query: 'q', chunks: found }, delta('No.'), refused), io, TEXT)
    expect([io.out(), io.err()]).toEqual(['No.\n', 'cria: the closest passages found are in b.md, a.md, c.md.\n'])
    const listing = fakeIo()
    const listed = complete({ abstained: true, text: 'Nearest places: b.md' })
    await showTurn(turn(start, { type: 'retrieval', store: 's', query: 'q', chunks: found }, listed), listing, TEXT)
    expect(listing.err()).toBe('')
    const without = fakeIo()
    await showTurn(turn(start, { type: 'retrieval', store: 's', query: 'q', chunks: [] }, delta('No.'), refused), without, TEXT)
    expect(without.err()).toBe('')
    const answered = fakeIo()
    await showTurn(turn(start, { type: 'retrieval', store: 's', query: 'q', chunks: found }, complete()), answered, TEXT)
    expect(answered.err()).toBe('')
  })

  const contradicted = (reason?: string): Citation =>
    citation({ verdict: 'contradicted', supported: false, kind: 'number', ...(reason === undefined ? {} : { reason }) })

  test('QRY-RAG-022 what contradicts a statement is shown with both sides, and summed up', async () => {
    const io = fakeIo()
    const citations = [
      contradicted('says “1875”\u001B[2J where the passage has “1874”'),
      citation({ marker: '2', claim: { start: 20, end: 30 } }),
      citation({ marker: '3', verdict: 'unverified', supported: null, kind: 'paraphrase', claim: { start: 40, end: 50 } }),
    ]
    await showTurn(turn(start, delta('x [1]'), complete({ citations, uncited: 2 })), io, TEXT)
    expect(io.out()).toMatch(
      /\[1\] docs\/wine\.md {2}✗ says “1875”.* where the passage has “1874”\n\[2\] docs\/wine\.md\n\[3\] docs\/wine\.md\n/,
    )
    expect(io.out()).toContain(
      'Statements: 1 word for word in the source, 1 contradicted, 1 in other words (not verified), 2 without a source.\n',
    )
    expect(io.out()).not.toContain('\u001B')
  })

  test('a marker without a passage has no place, whatever folder was indexed', async () => {
    const missing = contradicted('no passage has this number')
    const citations = [{ ...missing, marker: '9', source: '', chunkId: '', quote: '' }]
    for (const sourceBase of ['/tmp', undefined]) {
      const io = fakeIo()
      await showTurn(turn(start, delta('x [9]'), complete({ citations })), io, { ...TEXT, sourceBase })
      expect(io.out()).toContain('\n[9]  ✗ no passage has this number\n')
    }
  })

  test('an answer without citations counts its statements', async () => {
    const io = fakeIo()
    await showTurn(turn(start, delta('x'), complete({ citations: [], uncited: 3 })), io, TEXT)
    expect(io.out()).toBe('x\n\nStatements: 3 without a source.\n')
  })

  test('unsupported citations of older versions are shown as contradicted', async () => {
    const io = fakeIo()
    const { verdict: _verdict, claim: _claim, ...old } = citation({ supported: false })
    await showTurn(turn(start, delta('x'), complete({ citations: [old as Citation] })), io, TEXT)
    expect(io.out()).toContain('[1] docs/wine.md  ✗ the source does not say this\n')
  })

  test('in a narrow terminal the reason is wrapped between words, under the place', async () => {
    const io = fakeIo({ terminal: true, columns: 40 })
    await showTurn(
      turn(start, delta('x [1]'), complete({ citations: [contradicted('says “5” where the passage has “six”')] })),
      io,
      TEXT,
    )
    expect(stripVTControlCharacters(io.out())).toContain('[1] docs/wine.md  ✗ says “5” where the\n    passage has “six”\n')
  })

  test('on a terminal a verified source has a dim mark, an unverified one has none', async () => {
    const io = fakeIo({ terminal: true })
    const citations = [
      citation(),
      citation({ marker: '2', source: 'b.md', verdict: 'unverified', supported: null, claim: { start: 1, end: 2 } }),
    ]
    await showTurn(turn(start, delta('x [1][2]'), complete({ citations })), io, TEXT)
    expect(stripVTControlCharacters(io.out())).toContain(
      '[1] docs/wine.md  ✓\n[2] b.md\nStatements: 1 word for word in the source, 1 in other',
    )
  })

  test('a pipe receives control characters unchanged', async () => {
    const io = fakeIo()
    await showTurn(turn(start, delta('\u001B[2J\uD83D'), delta('\uDE00'), complete()), io, TEXT)
    expect(io.out()).toBe('\u001B[2J😀\n')
  })

  test('paths below the folder are relative to it, others are not', async () => {
    const io = fakeIo({ cwd: '/home/ada/work' })
    const citations = [
      citation({ source: '/home/ada/work/docs/a.md' }),
      citation({ marker: '2', source: '/home/ada/workshop/b.md' }),
    ]
    await showTurn(turn(start, delta('x'), complete({ citations })), io, TEXT)
    expect(io.out()).toContain('[1] docs/a.md\n[2] /home/ada/workshop/b.md\n')
  })
})

describe('text on a terminal', () => {
  test('Markdown is rendered, and escape sequences are made visible', async () => {
    const io = fakeIo({ terminal: true, env: { TERM: 'xterm' } })
    await showTurn(
      turn(
        start,
        delta('**bold** \u001B'),
        delta('[2J\n'),
        complete({ citations: [citation({ source: 'a\u001B]0;x\u0007\nb.md' })] }),
      ),
      io,
      TEXT,
    )
    expect(io.out()).toContain('\u001B[1mbold\u001B[22m ␛[2J\n')
    expect(io.out()).toContain('[1] a␛]0;x␇␊b.md  ')
  })

  test('NO_COLOR means no styles', async () => {
    const io = fakeIo({ terminal: true, env: { NO_COLOR: '1' } })
    await showTurn(turn(start, delta('**bold**'), complete({ citations: [citation()] })), io, TEXT)
    expect(io.out() + io.err()).not.toContain('\u001B')
  })

  test('a source is a link where the terminal shows links and the file is there', async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cria-view-')))
    writeFileSync(join(folder, 'a b.md'), 'x')
    const io = fakeIo({ terminal: true, cwd: folder, env: { FORCE_HYPERLINK: '1' } })
    const citations = [citation({ source: 'a b.md', lines: [2, 2] }), citation({ marker: '2', source: 'gone.md' })]
    await showTurn(turn(start, delta('x'), complete({ citations })), io, TEXT)
    rmSync(folder, { recursive: true })
    const [, link, text, plain] = /\[1\] .\]8;;(.*?).\\(.*?).\]8;;.\\ .*\n(\S* \S*) .*\n/.exec(io.out()) ?? []
    expect(link).toMatch(/^file:\/\/.*\/a%20b\.md$/)
    expect([text, plain]).toEqual(['a b.md:2', '[2] gone.md'])
  })

  test('a summary goes to standard error', async () => {
    const io = fakeIo({ terminal: true, env: { NO_COLOR: '1' } })
    await showTurn(turn(start, delta('x'), complete()), io, TEXT)
    expect(io.err()).toBe('test/model · 20 ms · 0 tokens in, 0 out · $0 · t1\n')
  })

  test('the summary of a narrow terminal is wrapped before the turn id', async () => {
    const io = fakeIo({ terminal: true, columns: 50, env: { NO_COLOR: '1' } })
    await showTurn(turn(start, delta('x'), complete()), io, TEXT)
    expect(io.err()).toBe('test/model · 20 ms · 0 tokens in, 0 out · $0 · t1\n')
    const narrow = fakeIo({ terminal: true, columns: 45, env: { NO_COLOR: '1' } })
    await showTurn(turn(start, delta('x'), complete()), narrow, TEXT)
    expect(narrow.err()).toBe('test/model · 20 ms · 0 tokens in, 0 out · $0\n· t1\n')
  })
})

describe('notes on standard error', () => {
  test.each<readonly [string, EventBody, string]>([
    [
      'a retry',
      { type: 'retry', attempt: 1, delay: 1500, error: FAILURE },
      'cria: The server is overloaded. Retrying in 1.5 s.\n',
    ],
    [
      'a switch',
      { type: 'model_switch', from: 'a/a', to: 'b/b', reason: 'rate_limited' },
      'cria: continuing with b/b instead of a/a (rate limited).\n',
    ],
    ['a notice', { type: 'notice', code: 'x', message: 'Careful.' }, 'cria: Careful.\n'],
    ['a reset', { type: 'reset', attempt: 1 }, 'cria: ignore the text shown so far; the answer starts again.\n'],
  ])('%s', async (_what, event, expected) => {
    const io = fakeIo()
    await showTurn(turn(start, event, delta('x'), complete()), io, TEXT)
    expect(io.err()).toBe(expected)
    expect(io.out()).toBe('x\n')
  })

  test('thinking is shown only on request', async () => {
    const thinking: EventBody = { type: 'thinking', content: 'hmm', attempt: 1 }
    const silent = fakeIo()
    await showTurn(turn(start, thinking, delta('x'), complete()), silent, TEXT)
    const open = fakeIo()
    await showTurn(turn(start, thinking, delta('x'), complete()), open, { ...TEXT, showThinking: true })
    expect([silent.err(), open.err(), open.out()]).toEqual(['', 'hmm\n', 'x\n'])
  })

  test('a truncated answer has a note', async () => {
    const io = fakeIo()
    await showTurn(turn(start, delta('x'), complete({ finishReason: 'length' })), io, TEXT)
    expect(io.err()).toContain('the answer was cut')
  })
})

describe('the end of a turn', () => {
  test('a failed turn keeps its text and returns the exit code of the error', async () => {
    const io = fakeIo()
    const code = await showTurn(turn(start, delta('Red'), { type: 'error', error: FAILURE }), io, TEXT)
    expect([code, io.out(), io.err()]).toEqual([3, 'Red\n', 'cria: The server is overloaded\n      Try later.\n'])
  })

  test('a cancelled turn names the command that shows it', async () => {
    const io = fakeIo()
    const code = await showTurn(turn(start, delta('Red'), { type: 'cancelled', reason: 'x' }), io, TEXT)
    expect([code, io.out()]).toEqual([130, 'Red\n'])
    expect(io.err()).toContain('cria logs show t1')
  })

  test('a stream without a terminal event is an error', async () => {
    await expect(showTurn(turn(start, delta('Red')), fakeIo(), TEXT)).rejects.toThrow(/without a terminal event/)
  })
})

describe('output for scripts', () => {
  test('--json prints one object with all documented members', async () => {
    const io = fakeIo()
    const citations = [citation()]
    await showTurn(turn(start, delta('Red wine.'), complete({ citations, abstained: false })), io, { ...TEXT, format: 'json' })
    expect(JSON.parse(io.out())).toEqual({
      answer: 'Red wine.',
      abstained: false,
      citations,
      uncited: 0,
      model: 'test/model',
      finishReason: 'stop',
      usage: ZERO_USAGE,
      costUsd: 0,
      latencyMs: 20,
      sessionId: 's1',
      turnId: 't1',
      traceId: 'x1',
    })
    expect(io.out().split('\n')).toHaveLength(2)
  })

  test('a source also has the path of its file from the current folder', async () => {
    const io = fakeIo()
    const place = { id: 'c', source: 'package.json', start: 0, end: 1 }
    const citations = [citation({ source: 'src/index.ts', alsoIn: [place, { ...place, source: 'gone.md' }] })]
    const options = { ...TEXT, format: 'json', sourceBase: process.cwd() } as const
    await showTurn(turn(start, delta('x'), complete({ citations })), { ...io, cwd: join(process.cwd(), 'src') }, options)
    const [shown] = (JSON.parse(io.out()) as { citations: unknown[] }).citations
    expect(shown).toMatchObject({ source: 'src/index.ts', path: 'index.ts' })
    expect(shown).toHaveProperty('alsoIn', [
      { ...place, path: join(process.cwd(), 'package.json') },
      { ...place, source: 'gone.md' },
    ])
  })

  test('the object of a failed turn holds its text and the error', async () => {
    const io = fakeIo()
    const code = await showTurn(turn(start, delta('Red'), { type: 'error', error: FAILURE }), io, { ...TEXT, format: 'json' })
    expect(code).toBe(3)
    expect(JSON.parse(io.out())).toMatchObject({
      answer: 'Red',
      error: { code: 'overloaded' },
      costUsd: null,
      usage: { inputTokens: null },
    })
  })

  test('the usage of a failed turn comes from the journal, else from the sum of its steps', async () => {
    const usage: EventBody = { type: 'usage', usage: { ...ZERO_USAGE, inputTokens: 7, outputTokens: 2 } }
    const failed = (): AsyncIterable<QueryEvent> => turn(start, usage, usage, { type: 'error', error: FAILURE })
    const io = fakeIo()
    await showTurn(failed(), io, { ...TEXT, format: 'json' })
    expect(JSON.parse(io.out())).toMatchObject({ usage: { inputTokens: 14, outputTokens: 4 }, costUsd: null, traceId: null })
    const journalled = fakeIo()
    const recorded = { usage: { ...ZERO_USAGE, inputTokens: 20 }, costUsd: 0.5, traceId: 'x9' }
    await showTurn(failed(), journalled, { ...TEXT, format: 'json', recorded: () => Promise.resolve(recorded) })
    expect(JSON.parse(journalled.out())).toMatchObject(recorded)
  })

  test('--events prints one event per line, escaped for terminals without loss', async () => {
    const io = fakeIo({ terminal: true })
    await showTurn(turn(start, delta('\u009B2J\u2028\u202Ex'), complete()), io, { ...TEXT, format: 'events' })
    const lines = io.out().trimEnd().split('\n')
    expect(lines).toHaveLength(3)
    expect(lines[1]).not.toMatch(/[\u0080-\u009F\u2028\u202E]/)
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({ type: 'text_delta', text: '\u009B2J\u2028\u202Ex', seq: 1, at: 1010 })
  })
})
