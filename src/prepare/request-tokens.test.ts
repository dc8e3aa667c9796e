import { expect, it } from 'vitest'
import { user } from '../core/message.ts'
import { leastTokens } from './request-tokens.ts'

it('the text of a message is counted once, however many steps send it', () => {
  const counted: string[] = []
  const count = (text: string): number => counted.push(text) && text.length
  const messages = [user('one'), user('three')]
  expect(leastTokens(messages, count)).toBe(8)
  expect(leastTokens([...messages.map((message) => ({ ...message })), user('seven')], count)).toBe(13)
  expect(counted).toEqual(['one', 'three', 'seven'])
})
