/** Tests verdicts on labelled claims over third-party documents, which are outside the repository. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkAnswer } from '../../src/citations/check.ts'
import type { Retrieved } from '../../src/core/message.ts'
import { SHARED } from '../support/shared.ts'

const FILE = join(SHARED, 'citations/answers.jsonl')
const present = existsSync(FILE)
if (!present) console.warn(`SKIPPED: there are no labelled claims at ${FILE}; name the folder in CRIA_SHARED to run these tests.`)

interface Labelled {
  readonly question: string
  readonly passages: readonly { readonly key: string; readonly source: string; readonly text: string; readonly title?: string }[]
  readonly claims: readonly {
    readonly text: string
    readonly cites: readonly string[]
    readonly label: string
    readonly class: string
  }[]
}

interface Judged {
  readonly isUnsupported: boolean
  readonly class: string
  readonly verdict: string | undefined
}

function judge({ question, passages, claims }: Labelled): Judged[] {
  const markers = new Map(passages.map(({ key }, index) => [key, String(index + 1)]))
  const retrieved = passages.map(({ source, text, title }, index): Retrieved => {
    const chunk = { id: `c${index}`, text, source, start: 0, end: text.length, metadata: {}, score: 1 }
    return {
      marker: String(index + 1),
      origin: 'docstore',
      store: 'docs',
      chunk: title === undefined ? chunk : { ...chunk, title },
    }
  })
  return claims.map((claim) => {
    const answer = `${claim.text} ${claim.cites.map((key) => `[${markers.get(key)}]`).join('')}`
    const verdicts = checkAnswer(answer, retrieved, { question }).citations.map(({ verdict }) => verdict)
    const verdict = verdicts.find((each) => each === 'contradicted') ?? verdicts[0]
    return { isUnsupported: claim.label === 'unsupported', class: claim.class, verdict }
  })
}

test.runIf(present)(
  'QRY-RAG-022 what is called contradicted or verified is so, and errors of numbers, times and names are found',
  () => {
    const judged = readFileSync(FILE, 'utf8')
      .trim()
      .split('\n')
      .flatMap((line) => judge(JSON.parse(line) as Labelled))
    const unsupported = judged.filter(({ isUnsupported }) => isUnsupported)
    const contradicted = judged.filter(({ verdict }) => verdict === 'contradicted')
    const found = contradicted.filter(({ isUnsupported }) => isUnsupported)
    const named = unsupported.filter((claim) => ['number', 'unit', 'time', 'entity'].includes(claim.class))
    expect(judged.every(({ verdict }) => verdict !== undefined)).toBe(true)
    expect(found.length / contradicted.length).toBeGreaterThanOrEqual(0.88)
    expect(found.length / unsupported.length).toBeGreaterThanOrEqual(0.3)
    expect(named.filter(({ verdict }) => verdict === 'contradicted').length / named.length).toBeGreaterThanOrEqual(0.6)
    expect(judged.some(({ verdict, isUnsupported }) => verdict === 'verified' && isUnsupported)).toBe(false)
  },
)
