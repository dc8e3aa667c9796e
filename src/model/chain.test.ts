import { describe, expect, it } from 'vitest'
import type { SwitchReason } from '../core/event.ts'
import type { LanguageModel } from '../core/model.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import { currentModel, passOn, switchModel } from './chain.ts'

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
