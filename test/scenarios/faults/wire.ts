/** Runs one server for many concurrent turns, each with its own path and answers. */

import { APIS } from '../../support/answers.ts'
import type { Api, Said } from '../../support/answers.ts'
import { wireServer } from '../../support/wire-server.ts'
import type { Received, Reply, WireServer } from '../../support/wire-server.ts'
import { createModel } from '../../../src/app/models.ts'
import type { LanguageModel } from '../../../src/core/model.ts'

function apiOf(provider: string): Api {
  const api = APIS.find((other) => other.provider === provider)
  if (api === undefined) throw new Error(`There is no API of ${provider}.`)
  return api
}

/** The APIs, and Ollama, which uses one of them. */
export const ALL_APIS: readonly Api[] = [
  ...APIS,
  { ...apiOf('openai-compatible'), provider: 'ollama', model: 'ollama/llama3.2', version: 'v1' },
]

export const SAID: Said & { readonly text: string; readonly thinking: string } = {
  text: 'It is 15 °C in Zürich 🌤.',
  thinking: 'Let me think…',
  signature: 'c2lnbmF0dXJl',
}

export const CALLS: Said & { readonly text: string } = {
  text: 'I look it up.',
  calls: [
    { id: 'call_a', name: 'get_weather', arguments: '{"city":"Zürich"}' },
    { id: 'call_b', name: 'get_weather', arguments: '{"city":"Bern"}' },
  ],
}

/** Splits a stream into events, each with its line ends. */
export function eventsOf(api: Api, said: Said): string[] {
  return api.stream(said).split(/(?<=\n\r?\n)/)
}

/** An answer without a fault. */
export function answering(api: Api, said: Said): Reply {
  return { body: eventsOf(api, said) }
}

/** Returns the number of events after which the answer is complete. */
export function needed(events: readonly string[]): number {
  return (
    1 + events.findIndex((event) => /"finish_reason":"\w|"stop_reason":"\w|"finishReason":|"response\.completed"/.test(event))
  )
}

export interface Wire extends AsyncDisposable {
  /** Returns a model whose n-th request gets the n-th reply, and later requests the last one. */
  model(api: Api, replies: readonly Reply[]): ServedModel
}

export interface ServedModel {
  readonly model: LanguageModel
  readonly baseURL: string
  readonly requests: readonly Received[]
  /** Number of pieces sent. */
  readonly written: () => number
  /** Number of answers whose client closed the connection early. */
  readonly aborted: () => number
  /** Resolves when the first answer was sent. */
  readonly sent: Promise<void>
}

interface Place {
  readonly replies: readonly Reply[]
  readonly requests: Received[]
  readonly sent: PromiseWithResolvers<void>
  written: number
  aborted: number
}

export async function startWire(): Promise<Wire> {
  const places = new Map<string, Place>()
  const server: WireServer = await wireServer((request) => {
    const place = places.get(request.path.split('/')[1] ?? '')
    if (place === undefined) return { status: 404 }
    place.requests.push(request)
    const reply = place.replies[place.requests.length - 1] ?? place.replies.at(-1) ?? {}
    return {
      ...reply,
      onSent: (all) => {
        if (all) place.sent.resolve()
        else place.written++
      },
      onAborted: () => {
        place.aborted++
      },
    }
  })
  return {
    model: (api, replies) => {
      const key = `turn-${places.size}`
      const place: Place = { replies, requests: [], sent: Promise.withResolvers(), written: 0, aborted: 0 }
      places.set(key, place)
      const baseURL = `${server.url}/${key}/${api.version}`
      return {
        baseURL,
        requests: place.requests,
        written: () => place.written,
        aborted: () => place.aborted,
        sent: place.sent.promise,
        model: createModel(api.model, { baseURL, apiKey: 'a-key-of-no-worth', env: {} }),
      }
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
