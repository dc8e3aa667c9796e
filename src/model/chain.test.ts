import { describe, expect, it } from 'vitest'
import { CriaError } from '../core/error.ts'
import type { SwitchReason } from '../core/event.ts'
import type { LanguageModel } from '../core/model.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import { CoolDowns, currentModel, passOn, coolingLast, coolDownUntil, switchModel } from './chain.ts'

const model = (name: string, contextWindow: number | null): LanguageModel =>
  new ScriptedModel([], { ref: `scripted/${name}`, facts: { contextWindow } })

const [main, small, large, unknown, expert] = [
  model('main', 100),
  model('small', 50),
  model('large', 200),
  model('unknown', null),
  model('expert', 100),
]
const models = [main, small, unknown, large]

describe('switchModel', () => {
  it.each<[SwitchReason, current: number, next: LanguageModel | undefined]>([
    ['context_too_large', 0, large],
    ['context_too_large', 1, large],
    ['context_too_large', 2, large],
    ['context_too_large', 3, undefined],
    ['rate_limited', 0, small],
    ['rate_limited', 3, undefined],
    ['model_unavailable', 1, unknown],
    ['specialized_task', 0, expert],
    ['default', 2, main],
  ])('ENG-MODEL-001 %s, at number %i', (reason, current, next) => {
    expect(switchModel(reason, current, { models, specialist: expert })).toBe(next)
  })

  it('ENG-MODEL-001 the default takes over special tasks without a specialist; without models there is none', () => {
    expect(switchModel('specialized_task', 1, { models })).toBe(main)
    expect(switchModel('default', 0, { models: [] })).toBeUndefined()
  })
})

describe('passOn', () => {
  it('ENG-MODEL-001 advances past a model that is named twice, and ends', () => {
    const chain = { models: [main, main, large], current: 0 }
    expect(passOn(chain, 'rate_limited')).toEqual({
      type: 'model_switch',
      from: 'scripted/main',
      to: 'scripted/main',
      reason: 'rate_limited',
    })
    expect(chain.current).toBe(1)
    passOn(chain, 'context_too_large')
    expect(currentModel(chain)).toBe(large)
    expect(passOn(chain, 'rate_limited')).toBeUndefined()
    expect(currentModel(chain)).toBe(large)
  })
})

describe('cool-down', () => {
  it.each([
    ['keeps the order without cool-downs', {}, 'abc'],
    ['moves the first to the end', { a: 101 }, 'bca'],
    ['ignores a cool-down that ends now', { a: 100 }, 'abc'],
    ['moves the second to the end', { b: 200 }, 'acb'],
    ['moves two to the end', { a: 200, b: 150 }, 'cab'],
    ['keeps the order if all are cooling down', { a: 200, b: 150, c: 300 }, 'abc'],
  ])('ENG-ERR-002 %s', (_, ends: Readonly<Record<string, number>>, order) => {
    const coolDownOf = (name: string): { until: number; reason: 'rate_limited' } | undefined => {
      const until = ends[name]
      return until === undefined ? undefined : { until, reason: 'rate_limited' }
    }
    expect(coolingLast(['a', 'b', 'c'], coolDownOf, 100).join('')).toBe(order)
  })

  it.each([
    [60_000, undefined, 60_000],
    [60_000, 2000, 60_000],
    [60_000, 90_000, 90_000],
    [60_000, 31_536_000_000, 3_600_000],
    [60_000, -1, 60_000],
    [0, 90_000, 0],
  ])('ENG-ERR-002 a cool-down of %d ms and a Retry-After of %s ms end after %d ms', (coolDown, retryAfterMs, after) => {
    const error = new CriaError('rate_limited', '', retryAfterMs === undefined ? {} : { details: { retryAfterMs } })
    expect(coolDownUntil(error, 1000, coolDown)).toBe(1000 + after)
  })

  it('remembers models by object or by key until they answer', () => {
    const model = new ScriptedModel([])
    const same = new ScriptedModel([])
    const byObject = new CoolDowns()
    byObject.start(model, { until: 10, reason: 'rate_limited' }, 0)
    expect([byObject.of(model)?.until, byObject.of(same)]).toEqual([10, undefined])

    const byName = new CoolDowns(({ ref }) => ref)
    byName.start(model, { until: 10, reason: 'model_unavailable' }, 0)
    expect(byName.of(same)).toEqual({ until: 10, reason: 'model_unavailable' })
    byName.end(same)
    expect(byName.of(model)).toBeUndefined()
  })

  it('forgets cool-downs that have ended', () => {
    const coolDowns = new CoolDowns()
    const [first, second] = [new ScriptedModel([]), new ScriptedModel([])]
    coolDowns.start(first, { until: 10, reason: 'rate_limited' }, 0)
    coolDowns.start(second, { until: 30, reason: 'rate_limited' }, 20)
    expect(coolDowns.of(first)).toBeUndefined()
    const none = new ScriptedModel([])
    coolDowns.start(none, { until: 20, reason: 'rate_limited' }, 20)
    expect(coolDowns.of(none)).toBeUndefined()
  })
})
