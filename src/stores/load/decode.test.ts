import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeText } from './decode.ts'

/** Texts of a few sentences, as a note in each language might say it. */
const TEXTS = {
  japanese: '水車小屋は1874年に川のそばに建てられた。今はライ麦の粉をひいていて、パン屋がその粉を買っている。\n',
  simplified: '这个磨坊是一八七四年在河边建成的。他们说那里的面粉不是最好的，但是人们都来这里买。\n',
  traditional: '這個磨坊是一八七四年在河邊建成的。他們說那裡的麵粉不是最好的，但是人們都來這裡買。\n',
  korean: '물레방아는 1874년에 강가에 지어졌다. 지금은 호밀을 가루로 만들고 있으며 빵집이 그 가루를 사 간다.\n',
  russian: 'Мельница построена у реки в 1874 году. Сейчас она мелет рожь, и пекарня покупает эту муку.\n',
  greek: 'Ο μύλος χτίστηκε δίπλα στο ποτάμι το 1874. Σήμερα αλέθει σίκαλη και ο φούρνος αγοράζει το αλεύρι του.\n',
  french: 'Le moulin a été bâti près de la rivière en 1874. À présent il moud le seigle, dont la boulangerie achète la farine.\n',
  german: 'Die Mühle wurde 1874 am Fluß gebaut. Heute mahlt sie Roggen für die Bäckerei – und größere Mühlen gibt’s nicht.\n',
  spanish: 'El molino se construyó junto al río en 1874. ¿Quién compra la harina? La panadería, según el dueño del año pasado.\n',
  code: '# “Größe” in der Ansicht\nconst größe = text.length // é, à, ü\n'.repeat(3),
} as const

const TABLES = new Map<string, ReadonlyMap<string, readonly number[]>>()

/** Encodes what Node can only decode. */
function encode(text: string, encoding: string): Buffer {
  let table = TABLES.get(encoding)
  if (table === undefined) {
    const decoder = new TextDecoder(encoding)
    const entries: [string, readonly number[]][] = []
    for (let lead = 0x80; lead < 0x100; lead++) {
      entries.push([decoder.decode(Uint8Array.of(lead)), [lead]])
      if (/^(?:windows|koi8)/.test(encoding)) continue
      for (let trail = 0x40; trail < 0xff; trail++) entries.push([decoder.decode(Uint8Array.of(lead, trail)), [lead, trail]])
    }
    table = new Map(entries.toReversed())
    TABLES.set(encoding, table)
  }
  return Buffer.from(
    Array.from(text).flatMap((character) => {
      const bytes = character < '\u0080' ? [character.charCodeAt(0)] : table.get(character)
      if (bytes === undefined) throw new Error(`${encoding} has no ${character}`)
      return bytes
    }),
  )
}

describe('a text without a declared encoding', () => {
  test.each([
    ['japanese', 'shift_jis'],
    ['japanese', 'euc-jp'],
    ['simplified', 'gb18030'],
    ['traditional', 'big5'],
    ['korean', 'euc-kr'],
    ['russian', 'windows-1251'],
    ['russian', 'koi8-r'],
    ['greek', 'windows-1253'],
    ['french', 'windows-1252'],
    ['german', 'windows-1252'],
    ['spanish', 'windows-1252'],
    ['code', 'windows-1252'],
  ] as const)('%s in %s is detected from the whole text, with a note', (language, encoding) => {
    const text = TEXTS[language]
    const note = `read as ${encoding}, a guess: it declares no encoding`
    expect(decodeText(encode(text, encoding))).toEqual({ text, encoding, note })
    const late = 'The mill grinds rye.\n'.repeat(2000) + text
    expect(decodeText(encode(late, encoding))).toEqual({ text: late, encoding, note })
  })

  test('is decoded although its last character is cut', () => {
    const bytes = encode(TEXTS.japanese.trim(), 'shift_jis')
    expect(decodeText(bytes.subarray(0, -1))).toMatchObject({ text: TEXTS.japanese.trim().slice(0, -1), encoding: 'shift_jis' })
  })

  test.each(['utf-16le', 'utf-16be'])('%s without a byte order mark is detected by its zero bytes', (encoding) => {
    const le = Buffer.from(TEXTS.german, 'utf16le')
    const bytes = encoding === 'utf-16le' ? le : Buffer.from(le).swap16()
    expect(decodeText(bytes)).toMatchObject({ text: TEXTS.german, encoding })
    expect(decodeText(bytes.subarray(0, -1))?.text).toBe(TEXTS.german.slice(0, -1))
  })
})

describe('UTF-8', () => {
  test('stays UTF-8 when cut inside any character', () => {
    const bytes = Buffer.from(`日本語 ${TEXTS.french.repeat(20)}語`)
    for (const [start, end] of [
      [1, 0],
      [2, 0],
      [0, 1],
      [0, 2],
      [1, 2],
    ] as const) {
      const decoded = decodeText(bytes.subarray(start, bytes.length - end))
      expect(decoded).toMatchObject({ encoding: 'utf-8', note: expect.stringMatching(/^has \d broken characters?$/) })
      expect(decoded?.text).toContain(TEXTS.french)
    }
    // An accented letter and a cut do not suggest another encoding.
    expect(decodeText(Buffer.from('naïve plans, café').subarray(0, -1))?.text).toBe('naïve plans, caf\ufffd')
  })

  test('decodes any valid UTF-8 without a note', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (given) => {
        const text = given.toWellFormed().replaceAll(/\0|^\ufeff/g, '')
        expect(decodeText(Buffer.from(text))).toEqual({ text, encoding: 'utf-8' })
      }),
    )
  })
})

test('prefers a declared encoding to a guess, without a note', () => {
  expect(decodeText(encode(TEXTS.japanese, 'shift_jis'), 'windows-1252')).toMatchObject({ encoding: 'windows-1252' })
  expect(decodeText(Buffer.from('déjà vu', 'latin1'), 'utf-8')?.text).toBe('déjà vu')
  expect(decodeText(encode(TEXTS.russian, 'windows-1251'), 'windows-1251')).toEqual({
    text: TEXTS.russian,
    encoding: 'windows-1251',
  })
})

test('rejects binary data with any distribution of zeros', () => {
  const random = (seed: number) => Uint8Array.from({ length: 5000 }, (_, at) => ((at + seed) * 2654435761) >>> 24)
  for (let seed = 0; seed < 50; seed++) expect(decodeText(random(seed))).toBeUndefined()
  expect(decodeText(Uint8Array.of(1, 0, 2, 0))).toBeUndefined()
  expect(decodeText(Uint8Array.of(0, 0, 0xfe, 0xff, 0, 0, 0, 65))).toBeUndefined()
})
