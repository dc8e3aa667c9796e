/**
 * Checks values of unknown origin (a JSON file, say) against a shape, and reports every mistake at once: where it is, what was
 * expected, what was received.
 */

import { nearest } from './nearest.ts'

export interface Problem {
  /** Path to the value: `providers.openai.baseURL`; empty for the value itself. */
  readonly path: string
  /** `expected a list, received null`. */
  readonly message: string
}

export interface Shape<T> {
  /** Description for messages: `a string`. */
  readonly expected: string
  /** Returns the typed value; appends mistakes to `problems`. */
  read(value: unknown, path: string, problems: Problem[]): T | undefined
  /** Shapes of the members of an object, for documentation. */
  readonly fields?: Readonly<Record<string, Shape<unknown>>>
}

type Fields<T> = { readonly [Key in keyof T]-?: Shape<Exclude<T[Key], undefined>> }

/** Accepts an object with these keys, all optional; any other key is a mistake. */
export function object<T extends object>(fields: Fields<T>): Shape<T> {
  const known = Object.keys(fields)
  return {
    expected: 'an object',
    fields,
    read(value, path, problems) {
      if (!isRecord(value)) return reject(problems, path, 'an object', value)
      const result: Record<string, unknown> = {}
      for (const [key, member] of Object.entries(value)) {
        const shape = Object.hasOwn(fields, key) ? (fields as Readonly<Record<string, Shape<unknown>>>)[key] : undefined
        if (shape === undefined) {
          const close = nearest(key, known)
          const advice = close === undefined ? `the keys are ${known.join(', ')}` : `did you mean "${close}"?`
          problems.push({ path: join(path, key), message: `unknown key; ${advice}` })
          continue
        }
        const read = shape.read(member, join(path, key), problems)
        if (read !== undefined) result[key] = read
      }
      return result as T
    },
  }
}

/** Accepts an object whose keys are chosen by the user. */
export function record<T>(
  of: Shape<T>,
  keys?: { readonly expected: string; readonly pattern: RegExp },
): Shape<Readonly<Record<string, T>>> {
  return {
    expected: 'an object',
    fields: { '*': of },
    read(value, path, problems) {
      if (!isRecord(value)) return reject(problems, path, 'an object', value)
      const result: Record<string, T> = Object.create(null) as Record<string, T>
      for (const [key, member] of Object.entries(value)) {
        if (keys !== undefined && !keys.pattern.test(key)) {
          problems.push({ path: join(path, key), message: mismatch(keys.expected, JSON.stringify(key)) })
          continue
        }
        const read = of.read(member, join(path, key), problems)
        if (read !== undefined) result[key] = read
      }
      return result
    },
  }
}

export function list<T>(of: Shape<T>): Shape<readonly T[]> {
  return {
    expected: 'a list',
    read(value, path, problems) {
      if (!Array.isArray(value)) return reject(problems, path, 'a list', value)
      const result: T[] = []
      for (const [index, member] of value.entries()) {
        const read = of.read(member, `${path}[${index}]`, problems)
        if (read !== undefined) result.push(read)
      }
      return result
    },
  }
}

export function string(expected = 'a string', accepts: (text: string) => boolean = (text) => text !== ''): Shape<string> {
  return {
    expected,
    read: (value, path, problems) =>
      typeof value === 'string' && accepts(value) ? value : reject(problems, path, expected, value),
  }
}

/** Accepts a string that may hold a secret; messages do not repeat it. */
export function secretString(expected: string, accepts: (text: string) => boolean): Shape<string> {
  return {
    expected,
    read(value, path, problems) {
      if (typeof value === 'string' && accepts(value)) return value
      problems.push({ path, message: mismatch(expected, typeof value === 'string' ? 'another text' : describe(value)) })
      return undefined
    },
  }
}

export function number(expected: string, accepts: (value: number) => boolean): Shape<number> {
  return {
    expected,
    read: (value, path, problems) =>
      typeof value === 'number' && accepts(value) ? value : reject(problems, path, expected, value),
  }
}

export function boolean(): Shape<boolean> {
  const expected = 'true or false'
  return {
    expected,
    read: (value, path, problems) => (typeof value === 'boolean' ? value : reject(problems, path, expected, value)),
  }
}

function reject(problems: Problem[], path: string, expected: string, value: unknown): undefined {
  problems.push({ path, message: mismatch(expected, describe(value)) })
  return undefined
}

export function mismatch(expected: string, received: string): string {
  return `expected ${expected}, received ${received}`
}

/** Describes a value for messages; long strings are cut. */
export function describe(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : typeof value
}

/** Returns true for an object that is not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function join(path: string, key: string): string {
  const name = /^[\w$-]+$/u.test(key) ? key : JSON.stringify(key)
  return path === '' ? name : `${path}.${name}`
}

/** Returns a copy without members that are `undefined`. */
export function defined<T extends object>(object: { [Name in keyof T]: T[Name] | undefined }): Partial<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Partial<T>
}

/** Returns whether a value can be written as JSON. */
export function isJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined
  } catch {
    return false
  }
}
