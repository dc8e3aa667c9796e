import { expect, test } from 'vitest'
import type { SpanRecord } from '../core/span.ts'
import { waterfall } from './waterfall.ts'

function spanOf(
  spanId: string,
  parentSpanId: string | null,
  [startedAt, endedAt]: readonly [number, number],
  rest: Partial<SpanRecord> = {},
): SpanRecord {
  const fixed = { traceId: 't', attributes: {}, events: [], status: 'ok' as const }
  return { ...fixed, spanId, parentSpanId, name: spanId, startedAt, endedAt, ...rest }
}

const SPANS = [
  spanOf('tool', 'turn', [600, 800], {
    attributes: { 'gen_ai.tool.name': 'sh' },
    status: 'error',
    error: 'No such\u001B[31m file.',
  }),
  spanOf('turn', 'gone', [0, 1000]),
  spanOf('model', 'turn', [0, 500]),
  spanOf('request', 'model', [250, 500]),
]

test('draws each span below the one it ran in, where and as long as it ran', () => {
  const [ten, fill] = ['█'.repeat(10), '·'.repeat(10)]
  expect(waterfall(SPANS, 74)).toBe(
    [
      '               start    took',
      `turn           +0 ms   1.0 s  ${ten}${ten}${ten}${ten}`,
      `  model        +0 ms  500 ms  ${ten}${ten}${fill}${fill}`,
      `    request  +250 ms  250 ms  ${fill}${ten}${fill}${fill}`,
      `  sh         +600 ms  200 ms  ${'·'.repeat(24)}████████${'·'.repeat(8)}`,
      '             failed: No such␛[31m file.',
      '',
    ].join('\n'),
  )
})

test('bars take what names and times leave, and 40 columns at most', () => {
  const columnsOf = (room?: number): number => (/[█·]+/.exec(waterfall(SPANS, room))?.[0] ?? '').length
  expect([columnsOf(), columnsOf(200), columnsOf(50), columnsOf(20)]).toEqual([40, 40, 19, 10])
})

test('a moment has a bar as well, and a trace without duration is one', () => {
  expect(waterfall([spanOf('a', null, [0, 1000]), spanOf('b', 'a', [1000, 1000])], 40)).toContain('··········█')
  expect(waterfall([spanOf('a', null, [5, 5])], 30)).toMatch(/\na +\+0 ms +0 ms {2}█+\n$/)
})

test('damaged spans are shown once each', () => {
  const damaged = [spanOf('a', 'b', [0, 1]), spanOf('b', 'a', [0, 1]), spanOf('c', null, [0, 1]), spanOf('c', 'c', [0, 1])]
  expect(waterfall(damaged).trimEnd().split('\n').slice(1)).toHaveLength(4)
})
