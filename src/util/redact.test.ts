import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { redact, shownUrl } from './redact.ts'

describe('redact', () => {
  it.each([
    ['Incorrect key: sk-proj-abcdefghijklmnop1234.', 'Incorrect key: sk-[redacted].'],
    ['key sk-ant-api03-AAAABBBBCCCC_dd-ee', 'key sk-[redacted]'],
    ['https://host/v1/models?alt=sse&key=AbCdEf123&x=1', 'https://host/v1/models?alt=sse&key=[redacted]&x=1'],
    ['AIzaSyA1234567890abcdefghijklmnopqrstuv is not valid', 'AIza[redacted] is not valid'],
    ['authorization: Bearer abc.def.ghi-jkl', 'authorization: Bearer [redacted]'],
    ['{"x-api-key":"0123456789"}', '{"x-api-key":"[redacted]"}'],
    ['postgres://cria:hunter22@db/cria', 'postgres://cria:[redacted]@db/cria'],
    ['token eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.c2lnbmF0dXJl end', 'token eyJ[redacted] end'],
  ])('masks well-known shapes: %s', (text, expected) => {
    expect(redact(text)).toBe(expected)
  })

  it.each(['The risk-averse model', 'Ask again in 20s', 'monkey=banana', 'sk-1', 'the basic idea of a bearer'])(
    'leaves ordinary text: %s',
    (text) => {
      expect(redact(text)).toBe(text)
    },
  )

  it('masks known values anywhere, also percent-encoded', () => {
    expect(redact('a=my secret+value; b=my%20secret%2Bvalue', ['my secret+value'])).toBe('a=[redacted]; b=[redacted]')
  })

  it('ignores values too short to be secrets, and missing ones', () => {
    expect(redact('a cat sat', ['cat', undefined, ''])).toBe('a cat sat')
  })

  it.each(['x', 'A_', 'eyJ-', 'a://', 'Bearer ', 'key='])('handles a long text of %j in linear time', (word) => {
    // Quadratic time would take minutes.
    const text = word.repeat(400_000 / word.length)
    expect(redact(text).slice(0, 3)).toBe(text.slice(0, 3))
  })

  it('never lets a known value through', () => {
    const secrets = fc.string({ minLength: 6, maxLength: 40 }).filter((secret) => !'[redacted]'.includes(secret))
    fc.assert(
      fc.property(secrets, fc.string(), fc.string(), (secret, before, after) => {
        expect(redact(before + secret + after, [secret])).not.toContain(secret)
      }),
    )
  })
})

it.each([
  ['https://llm.example.org/v1?key=canary', 'https://llm.example.org/v1'],
  ['https://user:canary@llm.example.org/v1#canary', 'https://llm.example.org/v1'],
  ['http://127.0.0.1:11434', 'http://127.0.0.1:11434'],
  ['https://llm.example.org/', 'https://llm.example.org/'],
])('of the URL %s only %s is shown', (url, shown) => {
  expect(shownUrl(url)).toBe(shown)
})
