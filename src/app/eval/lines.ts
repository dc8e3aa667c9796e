/** Files with one entry a line, read one after the other: a large one need not fit into memory, and a mistake is told with its line. */

import { createReadStream } from 'node:fs'
import { access } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import { CriaError } from '../../core/error.ts'
import { isRecord } from '../../util/check.ts'
import type { RankedDocument } from './metrics.ts'

export interface Line {
  readonly file: string
  /** From 1. */
  readonly number: number
  readonly content: string
}

export interface ObjectLine extends Line {
  readonly value: Readonly<Record<string, unknown>>
}

/**
 * Lines with something in them.
 *
 * @param expected what the file should be, for those who named another one.
 * @throws CriaError `not_found`
 */
export async function* readLines(file: string, expected: string): AsyncGenerator<Line> {
  await access(file).catch((cause: unknown) => {
    throw new CriaError('not_found', `${file} does not exist: expected ${expected}.`, { cause })
  })
  let number = 0
  for await (const content of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    number++
    if (content.trim() !== '') yield { file, number, content: number === 1 ? content.replace(/^\ufeff/, '') : content }
  }
}

/** Lines that hold a JSON object each. @throws CriaError `not_found`, or `invalid_request` that names the line. */
export async function* readObjects(file: string, expected: string): AsyncGenerator<ObjectLine> {
  for await (const line of readLines(file, expected)) yield { ...line, value: parseObject(line) }
}

function parseObject(line: Line): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(line.content)
  } catch (cause) {
    throw mistakeIn(line, 'this is not JSON.', cause)
  }
  if (isRecord(value)) return value
  throw mistakeIn(line, 'expected a JSON object.')
}

/** @throws CriaError `invalid_request` when it is there and no text, or missing without a fallback. */
export function textOf(line: ObjectLine, field: string, fallback?: string): string {
  const found = line.value[field] ?? fallback
  if (typeof found === 'string') return found
  throw mistakeIn(line, `"${field}" must be a string.`)
}

/** None where it is missing. @throws CriaError `invalid_request` when it is something else. */
export function textsOf(line: ObjectLine, field: string): string[] {
  const found = line.value[field] ?? []
  if (Array.isArray(found) && found.every((item) => typeof item === 'string')) return found
  throw mistakeIn(line, `"${field}" must be a list of strings.`)
}

export function mistakeIn({ file, number }: Line, what: string, cause?: unknown): CriaError {
  return new CriaError('invalid_request', `${file}, line ${number}: ${what}`, cause === undefined ? {} : { cause })
}

export type Run = ReadonlyMap<string, readonly RankedDocument[]>

/** @throws CriaError `not_found`, or `invalid_request` that names the line. */
export async function readRun(file: string): Promise<Run> {
  const run = new Map<string, RankedDocument[]>()
  for await (const line of readLines(file, 'a run, as --run writes it')) {
    const [query, , id, , points] = line.content.trim().split(/\s+/)
    const score = Number(points)
    if (query === undefined || id === undefined || points === undefined || Number.isNaN(score)) {
      throw mistakeIn(line, 'expected query, Q0, document, rank, score and a tag.')
    }
    const known = run.get(query)
    if (known === undefined) run.set(query, [{ id, score }])
    else known.push({ id, score })
  }
  return run
}
