import { expect, test } from 'vitest'
import { readCitations } from '../cite.ts'

const TENTS = `| Tent | Sleeps | Pegs | Excluded |
|---|---|---|---|
| Larch | 2 | no | yes |
| Rowan | 4 | yes | no |`

test.each([
  ["Larch n'inclut pas les pegs", true],
  ["Larch n'offre pas de pegs", true],
  ["Larch n'intègre toujours pas les pegs", true],
  ["Larch n'offre aucun pegs", true],
  ["Rowan n'inclut pas les pegs", false],
  ['Pegs are missing in Larch', true],
  ['Pegs are absent from Larch', true],
  ['In Larch fehlen Pegs', true],
  ['Pegs manquent dans Larch', true],
  ['Pegs are missing in Rowan', false],
  ['Pegs are not missing in Rowan', true],
  ['Pegs are not missing in Larch', false],
  ['Larch includes pegs', false],
  // Here the word is what the column asks.
  ['Larch is excluded', true],
  ['Rowan is excluded', false],
  ['Rowan is not excluded', true],
])('QRY-RAG-022 a cell that says no, in other words for no: %s', (answer, supported) => {
  const chunk = { id: 'c1', text: TENTS, source: 'tents.md', start: 0, end: TENTS.length, metadata: {}, score: 1 }
  expect(readCitations(`${answer} [1].`, [{ marker: '1', origin: 'docstore', store: 'docs', chunk }])).toMatchObject([
    { supported },
  ])
})

test('QRY-RAG-022 “excludes” denies a row that says yes', () => {
  const text = '| Plan | Towels |\n|---|---|\n| Basic | no |\n| Full | yes |'
  const chunk = { id: 'c1', text, source: 'plans.md', start: 0, end: text.length, metadata: {}, score: 1 }
  const [basic, full] = ['Basic', 'Full'].map((plan) =>
    readCitations(`${plan} excludes towels [1].`, [{ marker: '1', origin: 'docstore', store: 'docs', chunk }]),
  )
  expect(basic).toMatchObject([{ supported: true }])
  expect(full).toMatchObject([{ supported: false, reason: '“yes” stands there under “Towels”' }])
})
