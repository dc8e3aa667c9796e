/** Creates models whose requests a replay server answers with recordings of real provider traffic. */

import { afterAll, beforeAll } from 'vitest'
import type { LanguageModel } from '../../src/core/model.ts'
import { createProviderModel } from '../../src/providers/create.ts'
import type { ProviderOptions } from '../../src/providers/create.ts'
import { hasRecordings, replayServer, warnThatRecordingsAreMissing } from './shared-wire.ts'
import type { ReplayServer } from './shared-wire.ts'

/** An API of the recordings, and a model that uses it. */
export interface ReplayedModel {
  readonly api: string
  /** `provider/model`. */
  readonly model: string
  /** The end of its base URL. */
  readonly version: string
}

/** One model for each API. */
export const REPLAYED: readonly [ReplayedModel, ...ReplayedModel[]] = [
  { api: 'openai-chat', model: 'openai-compatible/some-model', version: 'v1' },
  { api: 'openai-responses', model: 'openai/gpt-5-mini', version: 'v1' },
  { api: 'anthropic-messages', model: 'anthropic/claude-sonnet-4-5', version: 'v1' },
  { api: 'gemini', model: 'google/gemini-2.5-flash', version: 'v1beta' },
]

/** Adds a second way to request Chat Completions, with the same answers. */
export const ASKED: readonly ReplayedModel[] = [...REPLAYED, { api: 'openai-chat', model: 'openai-chat/gpt-4o', version: 'v1' }]

/** Starts a replay server for the tests of a file, if the recordings exist. */
export function useReplayServer(): {
  /** @param segment of the path: the recording, and its faults. */
  readonly create: (replayed: ReplayedModel, segment: string, options?: ProviderOptions) => LanguageModel
  readonly log: () => ReplayServer['log']
} {
  // Hooks of a file whose tests are all skipped do not run.
  if (!hasRecordings) warnThatRecordingsAreMissing()
  let server: ReplayServer | undefined
  beforeAll(async () => {
    if (hasRecordings) server = await replayServer()
  })
  afterAll(() => server?.close())
  return {
    create: ({ model, version }, segment, options) =>
      createProviderModel(model, {
        baseURL: `${server?.url}/${segment}/${version}`,
        apiKey: 'a-key-of-no-worth',
        env: {},
        ...options,
      }),
    log: () => server?.log ?? [],
  }
}
