import { describe, expect, it } from 'vitest'
import { CriaError } from '../core/error.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import { CoolDowns, restedFirst, restUntil } from './cool-down.ts'

describe('cool-down', () => {
  it.each([
    ['nothing rests', {}, 'abc'],
    ['the first rests', { a: 101 }, 'bca'],
    ['its rest is over now', { a: 100 }, 'abc'],
    ['the second rests', { b: 200 }, 'acb'],
    ['two rest', { a: 200, b: 150 }, 'cab'],
    ['all rest', { a: 200, b: 150, c: 300 }, 'abc'],
  ])('ENG-ERR-002 %s', (_, rests: Readonly<Record<string, number>>, order) => {
    const restOf = (name: string): { until: number; reason: 'rate_limited' } | undefined => {
      const until = rests[name]
      return until === undefined ? undefined : { until, reason: 'rate_limited' }
    }
    expect(restedFirst(['a', 'b', 'c'], restOf, 100).join('')).toBe(order)
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
    expect(restUntil(error, 1000, coolDown)).toBe(1000 + after)
  })

  it('remembers models by object or by key until they answer', () => {
    const model = new ScriptedModel([])
    const same = new ScriptedModel([])
    const byObject = new CoolDowns()
    byObject.rest(model, { until: 10, reason: 'rate_limited' }, 0)
    expect([byObject.restOf(model)?.until, byObject.restOf(same)]).toEqual([10, undefined])

    const byName = new CoolDowns(({ ref }) => ref)
    byName.rest(model, { until: 10, reason: 'model_unavailable' }, 0)
    expect(byName.restOf(same)).toEqual({ until: 10, reason: 'model_unavailable' })
    byName.end(same)
    expect(byName.restOf(model)).toBeUndefined()
  })

  it('forgets cool-downs that have ended', () => {
    const coolDowns = new CoolDowns()
    const [first, second] = [new ScriptedModel([]), new ScriptedModel([])]
    coolDowns.rest(first, { until: 10, reason: 'rate_limited' }, 0)
    coolDowns.rest(second, { until: 30, reason: 'rate_limited' }, 20)
    expect(coolDowns.restOf(first)).toBeUndefined()
    const none = new ScriptedModel([])
    coolDowns.rest(none, { until: 20, reason: 'rate_limited' }, 20)
    expect(coolDowns.restOf(none)).toBeUndefined()
  })
})
