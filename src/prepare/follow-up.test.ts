import { describe, expect, it } from 'vitest'
import { refersToEarlier, searchQuery } from './follow-up.ts'

describe('follow-up questions', () => {
  it.each([
    'and what about the second one?',
    'Who owned it?',
    'When was she born?',
    'Why?',
    'And the bakery?',
    'Tell me more',
    'what else',
    'Which of them is older?',
    'How do I configure that?',
    'How about the windmill?',
    'Und wem gehört sie?',
    'Was ist mit der Brücke?',
    '¿Y el segundo?',
    'Et le moulin ?',
    'А кто её построил?',
    '那第二个呢？',
    '它是什么时候建的？',
    'それはいつ建てられた？',
  ])('depends on the conversation: %s', (question) => {
    expect(refersToEarlier(question.replace(/^¿/, ''))).toBe(true)
  })

  it.each([
    '',
    '?!',
    'What is Kubernetes?',
    'refund policy',
    'Pricing?',
    'When was the mill built?',
    'How long does it take to charge the battery?',
    'What does this project do?',
    'Is it possible to export CSV?',
    'What time is it in Tokyo?',
    'the river that flows through Paris',
    'And at which temperature does liquid nitrogen boil?',
    'E. coli infection',
    'Who was the first president of the United States?',
    'Was kostet die Reparatur der alten Mühle am Fluss?',
    '長い質問はそれだけで意味がわかるので前の質問は要らない',
    'Why do sailors say that the moon pulls their boats toward harbour walls at night?',
  ])('stands alone: %s', (question) => {
    expect(refersToEarlier(question)).toBe(false)
  })

  it.each<[question: string, earlier: string[], query: string]>([
    ['Who owned it?', [], 'Who owned it?'],
    ['Who owned it?', ['When was the water mill in Bruges built?'], 'Who owned it? water mill Bruges built'],
    ['What is Kubernetes?', ['When was the mill built?'], 'What is Kubernetes?'],
    ['And the Mill itself?', ['When was the mill built?'], 'And the Mill itself? built'],
    ['Who owned it?', ['Mill: when built?', 'And the bakery?'], 'Who owned it? Mill built bakery'],
    ['Who owned it?', ['Unrelated bridges', 'Mill: when built?', 'And the bakery?'], 'Who owned it? Mill built bakery'],
    ['Why?', ['What is ERR_404 in v1.2.3?'], 'Why? ERR_404 v1.2.3'],
    ['Why?', ['And?', 'Why?'], 'Why?'],
    ['那第二个呢？', ['東京タワー'], '那第二个呢？ 東京タワー'],
  ])('%s after %j', (question, earlier, query) => {
    expect(searchQuery(question, earlier)).toBe(query)
  })

  it('adds the most specific words of a long question in their order', () => {
    const earlier = `Compare ${Array.from({ length: 40 }, (_, at) => `w${'o'.repeat(at % 7)}rd`).join(' ')} Bruges 1874 waterwheels`
    const query = searchQuery('Why?', [earlier])
    expect(query.split(' ').length).toBeLessThanOrEqual(13)
    expect(query).toContain('Bruges 1874 waterwheels')
  })

  it('accepts long and unusual texts', () => {
    for (const odd of ['it '.repeat(100_000), 'x'.repeat(1_000_000), '\ud800', 'that '.repeat(50_000), 'и '.repeat(50_000)])
      expect(typeof searchQuery(odd, [odd])).toBe('string')
  })
})
