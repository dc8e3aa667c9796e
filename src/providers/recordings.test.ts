/**
 * Decodes every recording of real provider traffic. The gate reads each whole, and all except the large ones cut after every
 * CR, LF and colon and inside every character; `FULL_WIRE=1` cuts all of them, also at every byte and at random.
 */

import { describe, expect, test } from 'vitest'
import { ask } from '../../test/support/ask-provider.ts'
import type { Outcome } from '../../test/support/ask-provider.ts'
import { ASKED, REPLAYED, useReplayServer } from '../../test/support/replayed-models.ts'
import type { ReplayedModel } from '../../test/support/replayed-models.ts'
import { expectedOf, hasRecordings, recordings } from '../../test/support/shared-wire.ts'
import type { Expected, Recording } from '../../test/support/shared-wire.ts'

/** Recordings that take most of the time when they are cut into thousands of pieces. */
const LARGE = 25_000
const IS_FULL = process.env['FULL_WIRE'] === '1'
const FULL = ['split=byte', ...Array.from({ length: 10 }, (_, index) => `split=random;seed=${index + 1}`)]
const CUTS = ['', 'split=nasty', ...(IS_FULL ? FULL : [])]

const server = useReplayServer()

function replay(recording: Recording, cut: string, replayed: ReplayedModel, thinkTags = false): Promise<Outcome> {
  const model = server.create(replayed, `${recording.name}${cut === '' ? '' : `;${cut}`}`, { thinkTags })
  return ask(model, { stream: recording.stream })
}

/** Intended differences from the expectation; docs/wire.md has the reasons. */
function intended(expected: Expected): Expected {
  const calls = (expected.toolCalls ?? []).filter(({ name, argumentsJson }) => name !== '' || argumentsJson !== '')
  const refused = expected.refusal !== undefined && (expected.text ?? '') === ''
  const blocked = refused || expected.finishReason === 'MODEL_ARMOR'
  return {
    ...expected,
    toolCalls: calls,
    text: refused ? (expected.refusal ?? '') : (expected.text ?? ''),
    finish: blocked ? 'content-filter' : (expected.finish ?? (calls.length > 0 ? 'tool-calls' : 'other')),
  }
}

const USAGE = ['inputTokens', 'outputTokens', 'totalTokens', 'cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'] as const

function summaryOf(expected: Expected): unknown {
  return {
    text: expected.text ?? '',
    thinking: expected.reasoning ?? '',
    calls: (expected.toolCalls ?? []).map(({ name, argumentsJson }) => [name, canonical(argumentsJson)]),
    finish: expected.finish,
    rawReason: expected.finishReason === '' ? null : expected.finishReason,
    // A missing count is unknown, not zero.
    usage: USAGE.map((name) => expected.usage?.[name] ?? null),
    model: expected.model,
    id: expected.responseId,
  }
}

function summaryIn(outcome: Outcome, expected: Expected): unknown {
  return {
    text: outcome.text,
    thinking: outcome.thinking,
    calls: outcome.calls.map(({ name, input, invalid }) => [name, invalid === undefined ? JSON.stringify(input) : input]),
    finish: outcome.finish?.reason,
    rawReason: outcome.finish?.rawReason ?? null,
    usage: USAGE.map((name) => outcome.usage?.[name] ?? null),
    model: expected.model === undefined ? undefined : outcome.response.model,
    id: expected.responseId === undefined ? undefined : outcome.response.id,
  }
}

/** Reads missing arguments as none. */
function canonical(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json === '' ? '{}' : json))
  } catch {
    return json
  }
}

const all = (api: string): Recording[] => (hasRecordings ? recordings(api) : [])

describe.skipIf(!hasRecordings).each(ASKED)('recordings of $api through $model', (reader) => {
  describe.each(reader.model.startsWith('openai-chat/') ? CUTS.slice(0, 1) : CUTS)('%s', (cut) => {
    test.each([true, false])('ENG-STREAM-002 all are decoded as expected (stream: %s)', { timeout: 600_000 }, async (stream) => {
      const wrong: unknown[] = []
      for (const recording of all(reader.api)) {
        const expected = intended(expectedOf(recording))
        if (recording.stream !== stream || expected.error !== undefined) continue
        if (cut !== '' && recording.bytes > LARGE && !IS_FULL) continue
        const outcome = await replay(recording, cut, reader)
        const [is, should] = [summaryIn(outcome, expected), summaryOf(expected)]
        if (outcome.error !== undefined || JSON.stringify(is) !== JSON.stringify(should))
          wrong.push({ name: recording.name, error: outcome.error, is, should })
      }
      expect(wrong).toEqual([])
    })
  })

  test('data that a provider wants back arrives with the parts', async () => {
    const wrong: unknown[] = []
    for (const recording of all(reader.api)) {
      const { signatures = [], redactedReasoning = [], error } = expectedOf(recording)
      // The package drops signatures of code that ran at Google; cria never offers those tools.
      const ranThere = recording.api === 'gemini' && recording.scenario.includes('server-tools')
      if (error !== undefined || ranThere || signatures.length + redactedReasoning.length === 0) continue
      const { parts } = await replay(recording, '', reader)
      const data = JSON.stringify(parts.map((part) => ('providerData' in part ? part.providerData : null)))
      const missing = [...signatures, ...redactedReasoning].filter(
        (opaque) => !data.includes(JSON.stringify(opaque).slice(1, -1)),
      )
      if (missing.length > 0) wrong.push({ name: recording.name, missing: missing.map((opaque) => opaque.slice(0, 40)) })
    }
    expect(wrong).toEqual([])
  })

  test('errors have a code and the message of the provider', async () => {
    const wrong: unknown[] = []
    for (const recording of all(reader.api)) {
      const { error } = expectedOf(recording)
      if (error === undefined) continue
      const outcome = await replay(recording, '', reader)
      const context = recording.scenario.includes('context-length')
      const code = outcome.error?.code
      const fits =
        code !== undefined &&
        (code === 'context_length') === context &&
        (code === 'auth') === (recording.scenario.includes('http-401') || (error.message ?? '').includes('API key not valid')) &&
        (!recording.scenario.includes('http-404') || code === 'model_unavailable') &&
        (!recording.scenario.includes('http-429') || code === 'rate_limited') &&
        (recording.status < 400 || outcome.error?.status === recording.status) &&
        outcome.error?.message.includes((error.message ?? '').slice(0, 40)) === true
      if (!fits) wrong.push({ name: recording.name, error: outcome.error?.toJSON(), expected: error })
    }
    expect(wrong).toEqual([])
  })
})

describe.skipIf(!hasRecordings)('recordings whose text begins with a think tag', () => {
  test('are split if the option is set', async () => {
    const wrong: unknown[] = []
    for (const recording of all('openai-chat')) {
      const { thinkTag } = expectedOf(recording)
      if (thinkTag === undefined) continue
      for (const cut of ['', 'split=nasty']) {
        const outcome = await replay(recording, cut, REPLAYED[0], true)
        if (outcome.text.trim() !== thinkTag.text.trim() || outcome.thinking.trim() !== thinkTag.reasoning.trim()) {
          wrong.push({ name: recording.name, text: outcome.text.slice(0, 80), thinking: outcome.thinking.slice(-80), thinkTag })
        }
      }
    }
    expect(wrong).toEqual([])
  })
})
