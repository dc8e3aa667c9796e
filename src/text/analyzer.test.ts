import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Analyzer, isFragment, porterStem } from './analyzer.ts'
import { fold, normalize } from './fold.ts'

describe('Analyzer', () => {
  it.each<[text: string, terms: readonly string[]]>([
    ['The quick brown foxes are running', ['quick', 'brown', 'fox', 'run']],
    ['Résumés naïfs, ŁÓDŹ, Straße', ['resum', 'naif', 'lodz', 'strass']],
    ['getUserName', ['get', 'user', 'name', 'getusernam']],
    ['get_user_name', ['get', 'user', 'name', 'getusernam']],
    ['HTTPServer2', ['http', 'server', '2', 'httpserver2']],
    ['v1.2.3', ['v', '1', '2', '3', 'v1.2.3']],
    ['CVE-2021-44228', ['cve', '2021', '44228', 'cve-2021-44228']],
    ['ERR_404', ['err', '404', 'err404']],
    ['config.maxRetries', ['config', 'max', 'retri', 'maxretri']],
    ['URLs of two CDs, parseURLs', ['url', 'two', 'cd', 'pars', 'url', 'parseurl']],
    ['multi-agent', ['multi', 'agent']],
    ["don't it's O'Brien l'eau d’accord", ['brien', 'eau', 'accord']],
    ['C++ and C#, not C', ['c++', 'c#', 'c']],
    ['vitamin D', ['vitamin', 'd']],
    ['ﬁle ＡＢＣ', ['file', 'abc']],
    ['東京タワー', ['東京', '京タ', 'タワ', 'ワー']],
    ['서울은 크다', ['서울', '울은', '크다']],
    ['ภาษาไทย', ['ภาษา', 'าษาไ', 'ษาไท', 'าไทย']],
    ['Ёлки-палки', ['елки', 'палки']],
    ['مُحَمَّد', ['محمد']],
    ['हिन्दी', ['हिन्दी']],
    ['', []],
    ['to be or not to be', []],
    ['\u0000 "*" (NEAR) \ud800', ['near']],
  ])('%s', (text, terms) => {
    expect(new Analyzer().terms(text)).toEqual(terms)
  })

  it.each(['SQLite', 'PowerShell', 'McCoy', 'DataFrames', 'getUserNames', 'PDFs'])('finds %s in lower case', (name) => {
    const analyzer = new Analyzer()
    expect(analyzer.terms(name)).toEqual(expect.arrayContaining(analyzer.terms(name.toLowerCase())))
  })

  it('returns the same terms for repeated calls, any case and any Unicode composition', () => {
    const analyzer = new Analyzer()
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const terms = analyzer.terms(text)
        expect(analyzer.terms(text)).toEqual(terms)
        expect(analyzer.terms(text.normalize('NFD'))).toEqual(analyzer.terms(text.normalize('NFC')))
        expect(terms.every((term) => term.length > 0 && term.isWellFormed())).toBe(true)
      }),
    )
  })

  it('analyses a text independently of adjacent text', () => {
    const terms = (text: string): string[] => new Analyzer().terms(text)
    const unit = fc.constantFrom('a', 'B', 'é', 'ß', '7', '_', '.', '-', "'", '’', '+', '#', ' ')
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        expect(terms(`${text} 東京`)).toEqual([...terms(text), '東京'])
      }),
    )
  })

  it('analyses an enormous word in bounded time', () => {
    for (const unit of ['a', 'A', '1', 'aB', 'a-', '東', 'ก', '\u0301', '_']) {
      expect(new Analyzer().terms(unit.repeat(300_000)).every((term) => term.length <= 64)).toBe(true)
    }
  })
})

describe('isFragment', () => {
  it.each(['猫', 'แมว'])('%s is a fragment', (term) => {
    expect(isFragment(term)).toBe(true)
  })

  it.each(['東京', 'ภาษา', 'a', '猫a', ''])('%j is not a fragment', (term) => {
    expect(isFragment(term)).toBe(false)
  })
})

describe('fold', () => {
  it.each([
    ['Å', 'a'],
    ['İstanbul', 'istanbul'],
    ['ΣΊΣΥΦΟΣ', 'σισυφοσ'],
    ['が', 'が'],
    ['ไทย', 'ไทย'],
  ])('%s becomes %s', (word, folded) => {
    expect(fold(normalize(word))).toBe(folded)
  })
})

describe('porterStem', () => {
  /** Words with their stems. */
  const STEMS = `
  caresses:caress ponies:poni cats:cat agreed:agre plastered:plaster motoring:motor sing:sing
  conflated:conflat troubling:troubl hopping:hop falling:fall filing:file happy:happi sky:sky relational:relat
  vietnamization:vietnam hopefulness:hope triplicate:triplic electrical:electr adjustment:adjust
  adoption:adopt probate:probat rate:rate controlling:control yes:ye μήλα:μήλα x86:x86 is:is`

  it.each(Array.from(STEMS.matchAll(/(\S+):(\S+)/g), ([, word = '', stem = '']) => [word, stem] as const))(
    '%s is stemmed to %s',
    (word, stem) => {
      expect(porterStem(word)).toBe(stem)
    },
  )
})
