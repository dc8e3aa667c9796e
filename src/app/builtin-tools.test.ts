import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { callerOf } from '../../test/support/tool-call.ts'
import { AgentBot, ToolBot } from '../bots/tool-bots.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import type { ScriptedAnswer } from '../providers/scripted/scripted-model.ts'
import { findSandbox } from '../tools/sandbox/system-sandbox.ts'
import { defaultTools, runCodeTool } from './builtin-tools.ts'

const calls = (name: string, input: object): ScriptedAnswer => ({ toolCalls: [{ name, input: input as never }] })
const options = (...answers: ScriptedAnswer[]) => ({
  model: new ScriptedModel(answers),
  tools: defaultTools({ sandbox: 'off' }),
  recorder: false as const,
  streamTarget: 'none' as const,
})

const confined = (await findSandbox()).kind !== 'none'

describe('defaultTools()', () => {
  it('run without permission, and let an agent bot return an object to its user', async () => {
    const code = calls('run_code', { code: 'return [1, 2, 3].map((n) => n * n)', returnToUser: true })
    const bot = new AgentBot(options(code, 'There they are.', 'Nothing to hand out.'))
    expect(await bot.ask('The squares, please.')).toMatchObject({ content: 'There they are.', object: [1, 4, 9] })
    expect(await bot.ask('And now?')).not.toHaveProperty('object')
  })

  it('return an object that the model passes directly', async () => {
    const back = calls('return_object_to_user', { value: { fruits: ['fig'] } })
    expect(await new AgentBot(options(back, 'Done.')).ask('Fruits?')).toMatchObject({ object: { fruits: ['fig'] } })
    expect(await new ToolBot(options(back)).ask('Fruits?')).toMatchObject({ object: { fruits: ['fig'] }, invalidCalls: [] })
    expect(await new ToolBot(options('None.')).ask('Fruits?')).not.toHaveProperty('object')
  })

  it('report the time, and reject an unknown time zone', async () => {
    const call = callerOf(defaultTools())
    expect((await call('current_time', { timeZone: 'Asia/Tokyo' })).content).toMatch(/GMT\+9 \(\d{4}-\d\d-\d\dT.*Z\)$/)
    expect(await call('current_time', { timeZone: 'Mars/Base' })).toMatchObject({ isError: true })
  })

  it.runIf(confined)('do not let Python read the home of cria', async () => {
    const home = mkdtempSync(join(import.meta.dirname, '.home-'))
    vi.stubEnv('CRIA_HOME', home)
    writeFileSync(join(home, 'notes'), 'seen')
    try {
      const code = `import os\nresult = os.listdir(${JSON.stringify(home)})`
      const call = callerOf([runCodeTool({ python: true })])
      expect((await call('run_code', { code, language: 'python' })).content).not.toContain('notes')
    } finally {
      vi.unstubAllEnvs()
      rmSync(home, { recursive: true })
    }
  })

  it.each([
    [{ timeOut: 1 }, /timeOut/],
    [{ timeout: 0 }, /timeout/],
    [{ memory: 1 }, /memory/],
    [{ sandbox: 'maybe' }, /sandbox/],
  ])('refuse %j', (wrong, message) => {
    expect(() => runCodeTool(wrong as never)).toThrow(message)
  })
})
