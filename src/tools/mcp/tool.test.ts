import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toolNames } from './tool.ts'
import { SERVER_NAME } from './server-config.ts'

const server = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/).filter((name) => SERVER_NAME.test(name))
const tool = fc.oneof(
  fc.string({ minLength: 1, maxLength: 100, unit: 'grapheme' }),
  fc.stringMatching(/^[\w./-]{1,80}$/),
  fc.constantFrom('a_b', 'a.b', 'a/b', '__', '_', 'b__c'),
)
const tools = fc.uniqueArray(tool, { maxLength: 30 })

describe('names of tools', () => {
  it('are distinct, and valid for all providers', () => {
    fc.assert(
      fc.property(server, tools, (name, given) => {
        const names = toolNames(name, given)
        expect(new Set(names).size).toBe(given.length)
        for (const each of names) expect(each).toMatch(/^[\w-]{1,64}$/)
        for (const each of names) expect(each.startsWith(`mcp__${name}__`)).toBe(true)
      }),
    )
  })

  it('of two servers are distinct', () => {
    fc.assert(
      fc.property(server, server, tools, tools, (a, b, ofA, ofB) => {
        fc.pre(a !== b)
        const names = new Set(toolNames(a, ofA))
        expect(toolNames(b, ofB).filter((name) => names.has(name))).toEqual([])
      }),
    )
  })
})

it.each(['files', 'a-b', 'a_b', '0', 'x'.repeat(32)])('%s is a valid server name', (name) => {
  expect(SERVER_NAME.test(name)).toBe(true)
})

it.each(['', 'a__b', 'a_', '_a', '-a', 'a b', 'a.b', 'ä', '__proto__', 'x'.repeat(33)])('%j is not a name', (name) => {
  expect(SERVER_NAME.test(name)).toBe(false)
})
