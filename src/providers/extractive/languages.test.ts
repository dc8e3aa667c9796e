/** Questions in other languages than English: what of them is asked for, and what only asks. */

import { describe, expect, test } from 'vitest'
import { answerFromPassages } from './answer.ts'
import { readQuestion } from './question.ts'

describe('what is left of a question', () => {
  test.each([
    ['Wann öffnet die Werkstatt?', 'time', 'offnet werkstatt'],
    ['Was kostet der Eintritt?', 'quantity', 'kostet eintritt'],
    ['Wie viele Boote liegen im Hafen?', 'count', 'boote liegen hafen'],
    ['Sind Hunde erlaubt?', 'thing', 'hunde erlaubt'],
    ['Combien de bateaux y a-t-il ?', 'count', 'bateaux'],
    ["Quand l'atelier ouvre-t-il ?", 'time', 'atelier ouvre'],
    ['¿Cuánto cuesta la entrada?', 'quantity', 'cuesta entrada'],
    ["Dov'è l'officina?", 'thing', 'officina'],
    ['Quem construiu o farol?', 'thing', 'construiu farol'],
    ['Hoe laat gaat de winkel open?', 'time', 'laat gaat winkel open'],
    ['Когда открывается мастерская?', 'time', 'открывается мастерская'],
    ['Ile kosztuje bilet?', 'count', 'kosztuje bilet'],
    ['灯台は何時に閉まりますか？', 'thing', '灯台'],
    ['灯塔什么时候开放？', 'thing', '灯塔 开放'],
    ['등대는 언제 열어요?', 'thing', '등대는 열어요'],
  ])('%j asks for a %s: %s', (text, kind, terms) => {
    const question = readQuestion(text)
    expect(question.kind).toBe(kind)
    expect(question.terms.map(({ lower }) => lower.normalize('NFC')).join(' ')).toBe(terms)
  })

  test('is not taken from English by a word of another language', () => {
    for (const text of [
      'How do I die a cloth?',
      'Who won the war?',
      'What was the reason?',
      'When does el clasico start?',
      'Who is van Gogh?',
    ]) {
      expect(readQuestion(text).isEnglish).toBe(true)
    }
  })
})

const GERMAN = `# Werkstatt

Die Werkstatt öffnet dienstags um neun Uhr. Im August bleibt sie geschlossen.

Der Eintritt kostet vier Euro. Hunde brauchen die Zustimmung des Meisters.`

const JAPANESE = `灯台は午前9時に開き、午後6時に閉まる。八月は休館である。

入場料は400円とする。犬は館長の許可が必要である。`

test.each([
  ['Wann öffnet die Werkstatt?', GERMAN, 'dienstags'],
  ['Was kostet der Eintritt?', GERMAN, 'vier Euro'],
  ['Wer wählt den Bürgermeister?', GERMAN, undefined],
  ['Wie hoch ist die Miete?', GERMAN, undefined],
  ['入場料はいくらですか？', JAPANESE, '400円'],
  ['駐車場はどこにありますか？', JAPANESE, undefined],
])('QRY-RAG-022 %j is answered from what was written in its language, or refused', (question, text, expected) => {
  const { abstained, quotes } = answerFromPassages(question, [{ marker: '1', title: undefined, text, score: 4 }])
  expect(abstained).toBe(expected === undefined)
  if (expected !== undefined) expect(quotes[0]?.text).toContain(expected)
})
