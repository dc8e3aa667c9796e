/**
 * Reads recordings of real provider traffic, and starts the server that replays them. They are third-party data outside the repository; tests
 * that need them are skipped, with a message, if they are missing.
 */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { JsonObject } from '../../src/core/json.ts'
import { SHARED } from './shared.ts'

const WIRE = join(SHARED, 'wire')

export const hasRecordings: boolean =
  existsSync(join(WIRE, 'replay-server.mjs')) && existsSync(join(WIRE, 'recordings', 'index.json'))

export function warnThatRecordingsAreMissing(): void {
  console.warn(
    `SKIPPED: there are no recordings of provider traffic at ${WIRE}; name their place in CRIA_SHARED to run these tests.`,
  )
}

export interface Recording {
  readonly name: string
  readonly file: string
  readonly api: string
  readonly provider: string
  readonly stream: boolean
  readonly status: number
  readonly scenario: readonly string[]
  readonly bytes: number
}

/** The expected content of an answer. Members that do not apply are absent. */
export interface Expected {
  readonly text?: string
  readonly reasoning?: string
  readonly toolCalls?: readonly { readonly name: string; readonly argumentsJson: string; readonly id?: string | null }[]
  readonly signatures?: readonly string[]
  readonly redactedReasoning?: readonly string[]
  readonly finishReason?: string | null
  readonly finish?: string | null
  readonly usage?: Readonly<Record<string, number>>
  readonly refusal?: string
  readonly thinkTag?: { readonly reasoning: string; readonly text: string }
  readonly error?: { readonly message?: string }
  readonly model?: string
  readonly responseId?: string
}

/** Returns the unchanged events of a recorded stream. */
export function chunksOf({ file }: Recording): readonly string[] {
  const { response } = JSON.parse(readFileSync(join(WIRE, 'recordings', file), 'utf8')) as {
    readonly response: { readonly chunks?: readonly string[] }
  }
  return response.chunks ?? []
}

export function recordings(...apis: readonly string[]): Recording[] {
  const index = JSON.parse(readFileSync(join(WIRE, 'recordings', 'index.json'), 'utf8')) as {
    readonly recordings: readonly Recording[]
  }
  return index.recordings.filter((recording) => apis.includes(recording.api))
}

export function expectedOf({ file }: Recording): Expected {
  return (JSON.parse(readFileSync(join(WIRE, 'recordings', file), 'utf8')) as { readonly expected: Expected }).expected
}

/** Returns the body of a recorded request, if it was kept. */
export function requestOf({ file }: Recording): unknown {
  const { request } = JSON.parse(readFileSync(join(WIRE, 'recordings', file), 'utf8')) as {
    readonly request?: { readonly body?: unknown }
  }
  return request?.body
}

/** A conversation with tools: the n-th request gets the n-th recording. */
export interface Sequence {
  readonly name: string
  readonly api: string
  readonly steps: readonly string[]
  /** Returns the number of tool calls that a client must answer before the next request. */
  readonly toolCallsPerStep: readonly number[]
}

export function sequences(...apis: readonly string[]): Sequence[] {
  const index = JSON.parse(readFileSync(join(WIRE, 'recordings', 'index.json'), 'utf8')) as {
    readonly sequences: readonly Sequence[]
  }
  return index.sequences.filter((sequence) => apis.includes(sequence.api))
}

export interface LogLine {
  readonly type: string
  readonly eventsSent?: number
  readonly key?: string
  readonly name?: string
  readonly aborted?: boolean
  readonly socketDestroyed?: boolean
  readonly auth?: boolean
  readonly violations?: readonly string[]
}

export interface ReplayServer {
  readonly url: string
  readonly log: readonly LogLine[]
  /** Answers to the first, second, … request to a name; the last one to all that follow. */
  readonly scenarios: Map<string, { readonly attempts: readonly Readonly<Record<string, string | number>>[] }>
  close(): Promise<void>
}

interface ReplayModule {
  start(options: { readonly quiet: boolean }): Promise<ReplayServer>
  violations(api: string, body: JsonObject): readonly string[]
}

async function replayModule(): Promise<ReplayModule> {
  return (await import(pathToFileURL(join(WIRE, 'replay-server.mjs')).href)) as ReplayModule
}

export async function replayServer(): Promise<ReplayServer> {
  return (await replayModule()).start({ quiet: true })
}

/** Returns the errors that a provider of this API would report for a request. */
export async function violationsIn(api: string, body: JsonObject): Promise<readonly string[]> {
  return (await replayModule()).violations(api, body)
}
