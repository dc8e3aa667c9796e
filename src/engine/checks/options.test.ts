import { describe, expect, it } from 'vitest'
import type { Budget } from '../../core/budget.ts'
import { ScriptedModel } from '../../providers/scripted/scripted-model.ts'
import { checkPrices } from '../budget/plan.ts'
import { query } from '../query.ts'
import { checkBudget } from './options.ts'

describe('a budget', () => {
  it.each<[budget: object, message: RegExp]>([
    [{ tokens: -1 }, /`budget.tokens` must be a number of at least 0, but is -1/],
    [{ costUsd: Number.NaN }, /`budget.costUsd`/],
    [{ costUsd: '1' }, /`budget.costUsd`/],
    [{ ms: 0 }, /`budget.ms` must be a number of at least 1/],
    [{ cost: 1 }, /`budget` has no option `cost`/],
    [{ day: { ms: 1 } }, /`budget.day` has no option `ms`/],
    [{ session: { tokens: Infinity } }, /`budget.session.tokens`/],
  ])('is refused: %j', (budget, message) => {
    expect(() => checkBudget(budget as Budget)).toThrow(message)
  })

  it.each([{}, { tokens: 0, costUsd: 0.5, ms: 1 }, { session: {}, day: { tokens: 5 } }])('is accepted: %j', (budget) => {
    expect(() => checkBudget(budget)).not.toThrow()
  })

  it('refuses a limit in money for a model of unknown price, and says how to state it', () => {
    const priced = new ScriptedModel([], { ref: 'a/priced', facts: { price: { input: 1, output: 10 } } })
    const unknown = new ScriptedModel([], { ref: 'b/unknown' })
    for (const budget of [{ costUsd: 1 }, { session: { costUsd: 1 } }, { day: { costUsd: 1 } }]) {
      expect(() => checkPrices(budget, [priced])).not.toThrow()
      expect(() => checkPrices(budget, [priced, unknown])).toThrow(
        expect.objectContaining({ code: 'configuration', hint: expect.stringContaining('"modelFacts": {"b/unknown"') }),
      )
    }
    expect(() => checkPrices({ tokens: 1, day: { tokens: 1 } }, [unknown])).not.toThrow()
  })
})

const NONE = ['tools', 'rules', 'nesting', 'context', 'retry', 'timeouts', 'answerLimits'] as const
const ABSENT = [...NONE.map((name) => ({ [name]: null })), { context: { sources: null } }]

describe('the options of query()', () => {
  const given = { prompt: 'Why?', model: new ScriptedModel(() => ({ text: 'So.' })) }

  it.each(ABSENT)('accepts %j: JavaScript writes null for none', async (options) => {
    const events = await Array.fromAsync(query({ ...given, ...(options as object) }))
    expect(events.at(-1)?.type).toBe('complete')
  })

  it.each<[options: object, message: string]>([
    [{ fallbackModels: [given.model, {}] }, 'query() needs a `fallbackModels[1]`: a name, or an object with `ref`, `facts` and'],
    [{ stopSequences: ['a', 5] }, '`stopSequences[1]` must be a text, but is 5.'],
    [{ nesting: { deep: 1 } }, '`nesting` has no option `deep`'],
    [{ timeouts: { turn: 0 } }, '`timeouts.turn` must be a number of at least 1, but is 0.'],
    [{ hooks: null }, '`hooks` takes an object of options.'],
    [{ retrieve: null }, '`retrieve` takes an object of options.'],
    [{ budget: null }, '`budget` takes an object of options.'],
    [{ maxSteps: null }, '`maxSteps` must be a number of at least 1, but is null.'],
    [{ verify: { model: undefined } }, 'query() needs a `verify.model`: a name, or an object with `ref`, `facts` and'],
    [{ onUpdateUsage: Promise.resolve() }, '`onUpdateUsage` must be a function, but is a promise: await it.'],
  ])('refuses %j', (options, message) => {
    expect(() => query({ ...given, ...options })).toThrow(message)
  })
})
