/** Runs an example of the help text of each command unchanged, in a shell, with a model over HTTP. */

import { spawn } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { answer, chatServer } from '../support/chat-server.ts'
import type { ChatServer } from '../support/chat-server.ts'
import { newPlace } from './command-line.ts'
import type { Place } from './command-line.ts'

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const lines = (values: readonly object[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('')

/** Commands that need another provider, files of another machine, or no keyboard. */
const ELSEWHERE =
  /-m (?:openai|anthropic)\/|--embed|pass show|~\/|https?:|turn_01|ses_01|--compare|--watch|^source|^cria chat(?: --resume)?$/
/** Commands that run until they are interrupted. */
const ENDLESS: readonly string[] = ['logs tail']
/** Order of the commands: those that others depend on first, those that delete last. */
const FIRST = ['index', 'ask', 'templates save', 'keys set', 'models alias']
const LAST = ['models default', 'keys remove', 'stores remove', 'logs gc']
const TYPED: Readonly<Record<string, string>> = { compare: 'a\nIt is right.\n' }

let place: Place
let server: ChatServer
beforeAll(async () => {
  place = newPlace()
  server = await chatServer(answer('Refunds are made within 30 days.'))
  place.write({
    'bin/cria': `#!/bin/bash\nexec '${process.execPath}' '${MAIN}' "$@"\n`,
    'README.md': '# Handbook\n\nRefunds are made within 30 days.\n',
    'AGENTS.md': 'Use short sentences.\n',
    'docs/theme.md': '# Theme\n\nThe theme is changed with the key `theme`. Compaction is triggered at 80 %.\n',
    'docs/api/errors.md': '# Error codes\n\nErrors 429 and 503 are retried.\n',
    'review.md': 'Review this change for {{what=mistakes}}.\n',
    'old/review.md': 'Review this change.\n',
    'log.txt': 'Ada: 3 commits\n',
  })
  const town = 'collections/cranfield'
  const corpus = lines([
    { _id: 'mill', title: 'The mill', text: 'Ida Marsh built the mill in 1874 to grind rye.' },
    { _id: 'bridge', text: 'A bridge of stone crosses the river.' },
  ])
  place.write({
    [`${town}/corpus.jsonl`]: corpus,
    [`${town}/queries.jsonl`]: lines([{ _id: 'q1', text: 'who built the mill' }]),
    [`${town}/qrels/test.tsv`]: 'query-id\tcorpus-id\tscore\nq1\tmill\t1\n',
    'collections/answers/corpus.jsonl': corpus,
    'collections/answers/answers.jsonl': lines([
      { _id: 'a', question: 'Who built the mill?', answers: ['Ida Marsh'], doc_ids: ['mill'] },
    ]),
    'collections/answers/unanswerable.jsonl': '',
  })
  chmodSync(join(place.folder, 'bin/cria'), 0o700)
  await place.run(['index', 'docs', '--store', 'handbook'])
  // Two versions of one prompt.
  const env = { OPENAI_COMPATIBLE_BASE_URL: server.url }
  for (const template of ['old/review.md', 'review.md'])
    await place.run(['ask', 'Is it well made?', '-t', template, '-m', 'openai-compatible/test'], { env })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  place[Symbol.dispose]()
})

const rank = (name: string): number => (FIRST.includes(name) ? FIRST.indexOf(name) : LAST.includes(name) ? 100 : 50)

test.each(COMMANDS.toSorted((a, b) => rank(a.name) - rank(b.name)))(
  'an example of cria $name runs',
  async ({ name, load }) => {
    const { examples } = await load()
    const example = name === 'chat' ? examples.at(-1) : examples.find((each) => !ELSEWHERE.test(each))
    expect({ name, hasExample: example !== undefined }).toEqual({ name, hasExample: true })
    const shell = spawn('/bin/bash', ['-c', `exec 2>&1; ${example}`], {
      cwd: place.folder,
      detached: true,
      env: {
        ...process.env,
        PATH: [join(place.folder, 'bin'), dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
        HOME: place.folder,
        CRIA_HOME: place.home,
        CRIA_MODEL: name.startsWith('eval') ? 'builtin/extractive' : 'openai-compatible/test',
        OPENAI_COMPATIBLE_BASE_URL: server.url,
        ANTHROPIC_BASE_URL: server.url,
        OLLAMA_HOST: server.url.replace(/\/v1$/, ''),
      },
    })
    let shown = ''
    shell.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text
    })
    shell.stdin.on('error', () => {})
    shell.stdin.end(TYPED[name] ?? 'house-0123456789\n')
    const timer = ENDLESS.includes(name) ? setTimeout(() => process.kill(-(shell.pid ?? 0), 'SIGINT'), 2000) : undefined
    const code = await new Promise((resolve) => {
      shell.on('close', resolve)
    })
    clearTimeout(timer)
    const expected = ENDLESS.includes(name) ? 130 : 0
    expect({ example, shown, code }).toEqual({ example, shown, code: expected })
  },
  30_000,
)
