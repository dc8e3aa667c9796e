import { expect, it } from 'vitest'
import type { ModelPart } from '../core/model.ts'
import { createCeilings } from './ceilings.ts'

const call = (id: string): ModelPart => ({ type: 'tool-call', id, name: 'find', input: {} })
const piece = (id: string): ModelPart => ({ type: 'tool-input', id, name: 'find', delta: '' })

it.each<readonly [string, readonly ModelPart[], string | undefined]>([
  ['a text within the limit', [{ type: 'text', text: '1234' }], undefined],
  ['a text beyond it', [{ type: 'text', text: '12345' }], 'longer than 4 characters of text'],
  ['a text that begins anew', [{ type: 'text', text: '1234' }, { type: 'restart' }, { type: 'text', text: '1234' }], undefined],
  ['two calls, streamed and whole', [piece('a'), call('a'), piece('b'), call('b')], undefined],
  ['three calls', [call('a'), piece('b'), call('b'), call('c')], 'longer than 2 tool calls'],
  ['calls that begin anew', [call('a'), piece('b'), { type: 'restart' }, piece('b'), call('c')], undefined],
])('%s', (_, parts, wrong) => {
  const add = createCeilings({ text: 4, thinking: null, arguments: null, calls: 2 }, 'house/model')
  const addAll = (): void => parts.forEach(add)
  if (wrong === undefined) expect(addAll).not.toThrow()
  else expect(addAll).toThrow(`house/model was stopped: its answer is ${wrong}.`)
})
