import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import {
  ConfigurationError,
  CriaError,
  ERROR_CODES,
  errorFromInfo,
  isCriaError,
  MaxRetriesExceededError,
  NoAssistantMessageError,
  toCriaError,
} from './error.ts'

describe('CriaError', () => {
  it('ENG-ERR-004 is typed, serialisable, and says what to do', () => {
    const cause = new Error('socket hang up')
    const error = new CriaError('network', 'The connection broke.', { status: 502, details: { host: 'example.org' }, cause })
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      code: 'network',
      message: 'The connection broke.',
      retryable: true,
      status: 502,
      hint: ERROR_CODES.network.hint,
      details: { host: 'example.org' },
    })
    expect(error.cause).toBe(cause)
    expect(errorFromInfo(error.toJSON()).toJSON()).toEqual(error.toJSON())
  })

  it('is printed without members that have no value', () => {
    expect(inspect(new ConfigurationError('`model` is missing.'))).not.toContain('undefined')
    expect(inspect(new CriaError('auth', 'No key.', { status: 401 }))).toMatch(/status: 401,\n {2}hint: /)
  })

  it.each([ConfigurationError, NoAssistantMessageError, MaxRetriesExceededError])(
    'ENG-ERR-004 is of its class again: %o',
    (Its) => {
      const again = errorFromInfo(new Its('x').toJSON())
      expect(again).toBeInstanceOf(Its)
      expect(again.name).toBe(Its.name)
    },
  )

  it('is recognised across copies of the package, and by nothing else', () => {
    expect(isCriaError(new ConfigurationError('x'))).toBe(true)
    expect(isCriaError(Object.assign(new Error('x'), { [Symbol.for('cria.error')]: true }))).toBe(true)
    expect([new Error('x'), null, 'x', { code: 'network' }].map(isCriaError)).toEqual([false, false, false, false])
  })

  it.each([
    [new DOMException('stop', 'AbortError'), 'aborted'],
    [new DOMException('late', 'TimeoutError'), 'timeout'],
    [new TypeError('oops'), 'internal'],
    ['a string', 'internal'],
    [null, 'internal'],
    [undefined, 'internal'],
  ])('ENG-ERR-004 makes an error of %o', (thrown, code) => {
    expect(toCriaError(thrown).code).toBe(code)
    expect(toCriaError(thrown).cause).toBe(thrown)
    expect(toCriaError(thrown).message).not.toBe('')
  })
})
