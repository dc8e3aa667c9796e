import { expect, test } from 'vitest'
import { openOptional } from './declarations.ts'

test.each([
  ['interface A { readonly b?: string }', 'interface A { readonly b?: string | undefined }'],
  ['interface A { b?: string | undefined; c?: unknown; d?: any }', undefined],
  ['interface A { b?: () => void }', 'interface A { b?: (() => void) | undefined }'],
  ['interface A { b: string; c(d?: string): void }', undefined],
  ['type A = { b?: { c?: 1 | 2 }[] }', 'type A = { b?: { c?: 1 | 2 | undefined }[] | undefined }'],
  ['declare class A { b?: string }', 'declare class A { b?: string | undefined }'],
  ['interface A { b?: Partial<B> }', 'interface A { b?: { [Name in keyof (B)]?: (B)[Name] | undefined } | undefined }'],
  ['type A = Partial<B> & C', 'type A = { [Name in keyof (B)]?: (B)[Name] | undefined } & C'],
])('%s', (declared, opened) => {
  expect(openOptional('a.d.ts', declared)).toBe(opened ?? declared)
})
