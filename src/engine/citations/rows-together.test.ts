import { describe, expect, test } from 'vitest'
import { readCitations } from '../cite.ts'

function isSupported(answer: string, text: string): boolean | undefined {
  const chunk = { id: 'c1', text, source: 'table.md', start: 0, end: text.length, metadata: {}, score: 1 }
  return readCitations(`${answer} [1].`, [{ marker: '1', origin: 'docstore', store: 'docs', chunk }])[0]?.supported
}

const CREW = `id,name,port,captain_id
11,Mona Lund,Brest,
12,Ivo Sark,Vigo,11
13,Tess Quill,Vigo,12
14,Per Holm,Brest,11`

describe('QRY-RAG-022 a value that is the key of another row', () => {
  test.each([
    ["Ivo Sark's captain is Mona Lund (11)", true],
    ["Ivo Sark's captain is 11, Mona Lund", true],
    ['Mona Lund (11) is the captain of Per Holm', true],
    ["Tess Quill's captain is Ivo Sark (12)", true],
    ["Tess Quill's captain is Mona Lund (11)", false],
    ["Per Holm's captain is Ivo Sark (12)", false],
    ["Ivo Sark's captain is 12", false],
  ])('%s', (answer, supported) => {
    expect(isSupported(answer, CREW)).toBe(supported)
  })
})

const FROST = `| Risk | Plants |
|---|---|
| Very likely (more than 1 in 3) | basil, okra |
| Likely (up to 1 in 3) | lettuce, celery, cress |
| Unlikely (up to 1 in 30) | leek, winter kale |
| Remote [below 1 in 300] | juniper, sea buckthorn |`

describe('QRY-RAG-022 a remark in the name of a row need not be said', () => {
  test.each([
    ['Likely risks (up to 1 in 3) are lettuce and cress; leek and winter kale are unlikely', true],
    ['Likely plants (up to 1 in 3) are lettuce and cress; leek and winter kale are unlikely plants', true],
    ['Plants of likely risk (up to 1 in 3) are lettuce, celery and cress, while leek and winter kale are unlikely', true],
    ['Leek is unlikely and juniper remote', true],
    ['Lettuce is likely, basil is very likely', true],
    ['Likely plants (up to 1 in 3) are leek and winter kale; lettuce and cress are unlikely', false],
    ['Very likely plants are basil and cress', false],
    ['Juniper is unlikely', false],
    ['Lettuce is unlikely and leek likely', false],
  ])('%s', (answer, supported) => {
    expect(isSupported(answer, FROST)).toBe(supported)
  })
})

const BARGES = `| Barge | Rent | Cabins | Stove |
|---|---|---|---|
| Otter | 410 | 2 | no |
| Merlin | 690 | 5 | no |
| Siskin | 835 | 2 | yes |`

describe('QRY-RAG-022 what is behind “than” has its values too', () => {
  test.each([
    ['Merlin costs more than Otter: 690 versus 410', true],
    ['Otter costs less than Merlin (410 versus 690)', true],
    ['The rent of Siskin is higher than that of Merlin: 835 against 690', true],
    ['At 690 Merlin is dearer than Otter at 410', true],
    ['Merlin has more cabins than Siskin: 5 versus 2', true],
    ['Unlike Otter, Siskin has a stove', true],
    ['Merlin costs more than Otter: 410 versus 690', false],
    ['Merlin costs more than Otter: 690 versus 835', false],
    ['At 410 Merlin is dearer than Otter at 690', false],
    ['Merlin costs 410, more than Otter', false],
    ['Unlike Siskin, Otter has a stove', false],
  ])('%s', (answer, supported) => {
    expect(isSupported(answer, BARGES)).toBe(supported)
  })
})

describe('QRY-RAG-022 a count of the rows that are named is no value', () => {
  test.each([
    ['Two people work in Vigo: Ivo Sark and Tess Quill', true, CREW],
    ['2 people work in Vigo: Ivo Sark and Tess Quill', true, CREW],
    ['There are two people in Brest: Mona Lund and Per Holm', true, CREW],
    ['There are three barges: Otter, Merlin and Siskin', true, BARGES],
    ['Three barges are let: Otter, Merlin and Siskin', true, BARGES],
    ['Two barges (Otter and Merlin) have no stove', true, BARGES],
    ['The two people in Vigo are Ivo Sark and Tess Quill', true, CREW],
    ['The three people in Vigo are Ivo Sark and Tess Quill', false, CREW],
    ['Three people work in Vigo: Ivo Sark and Tess Quill', false, CREW],
    ['Two people work in Brest: Ivo Sark and Tess Quill', false, CREW],
    ['Two people work in Vigo: Ivo Sark and Per Holm', false, CREW],
    ['There are four barges: Otter, Merlin and Siskin', false, BARGES],
    ['Two barges (Otter and Siskin) have no stove', false, BARGES],
    ['Two cabins: Otter and Merlin', false, BARGES],
    ['With two cabins, Otter and Merlin have no stove', false, BARGES],
    ['Otter and Merlin have two cabins', false, BARGES],
  ])('%s', (answer, supported, text) => {
    expect(isSupported(answer, text)).toBe(supported)
  })
})
