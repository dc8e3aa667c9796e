import { openModel } from '../../app/open-model.ts'
import { POINTERS } from '../../app/config-schema.ts'
import { providerStates, reachProvider } from '../../app/providers.ts'
import type { ProviderState, Reachability } from '../../app/providers.ts'
import { toCriaError } from '../../core/error.ts'
import type { LanguageModel, Price } from '../../core/model.ts'
import { shownUrl } from '../../util/redact.ts'
import { visibleLine } from '../../util/terminal.ts'
import { defineCommand } from '../command.ts'
import type { Command } from '../command.ts'
import { table } from '../format.ts'
import { note, roomOf, toJsonLine } from '../io.ts'
import { readConfig } from '../prepare-store.ts'

/** A provider may list hundreds. */
const MOST_MODELS = 200

interface ModelLine {
  readonly ref: string
  readonly contextWindow: number | null
  readonly maxOutputTokens: number | null
  /** US dollars for a million tokens; `null` when nobody knows. */
  readonly price: Price | null
}

interface ProviderLine extends ProviderState {
  /** `null`: nobody asked. */
  readonly reachable: boolean | null
  readonly why?: string
  /** Of its answer, where it gave one that is no list of models. */
  readonly status?: number
  readonly models: readonly ModelLine[]
}

export const models: Command = defineCommand({
  name: 'models',
  options: {
    offline: { type: 'flag', about: 'ask no provider what it has' },
    json: {
      type: 'flag',
      about: 'print one JSON object: { default, pointers, providers: [{ name, configured, reachable, models, … }] }',
    },
  },
  details: `Prices are US dollars for a million tokens of input and of output; a dash is what nobody knows.
Without a date a price is yours, out of config.json, or that of a model that is always there.
Asking a provider for its list of models costs nothing. Keys are never shown.`,
  examples: ['cria models', 'cria models --offline --json'],
  async run({ options }, io) {
    const { config } = await readConfig(io)
    const look = async (name: string | undefined): Promise<ModelLine> => toLine(await openModel(name, config, io.env))

    const chosen = await look(undefined).catch((thrown: unknown) => ({ problem: toCriaError(thrown).message }))
    const pointers: Record<string, ModelLine> = {}
    for (const pointer of POINTERS) if (config.models?.[pointer] !== undefined) pointers[pointer] = await look(pointer)

    const providers: ProviderLine[] = await Promise.all(
      providerStates(io.env, config).map(async (state) => {
        if (options.offline || !state.configured) return { ...state, reachable: null, models: [] }
        const reached: Reachability = await reachProvider(state, io.env, config.providers?.[state.name]?.headers, io.signal)
        if (!reached.reachable) {
          const { why, status } = reached
          return { ...state, reachable: false, why, ...(status === null ? {} : { status }), models: [] }
        }
        const names = reached.models.slice(0, MOST_MODELS)
        return { ...state, reachable: true, models: await Promise.all(names.map((name) => look(`${state.name}/${name}`))) }
      }),
    )

    if (options.json) {
      const shown = providers.map((each) => ({ ...each, baseURL: each.baseURL === null ? null : shownUrl(each.baseURL) }))
      await io.stdout.write(toJsonLine({ default: chosen, pointers, providers: shown }))
      return 0
    }
    const rows = [
      ...('problem' in chosen ? [] : [modelRow('default', chosen)]),
      ...Object.entries(pointers).map(([pointer, model]) => modelRow(pointer, model)),
      ...providers.flatMap((provider) => provider.models.map((model) => modelRow('', model))),
    ]
    const room = roomOf(io.stdout)
    await io.stdout.writeRaw(table(providers.map(providerRow), [], room))
    await io.stdout.writeRaw(`\n${table([['', 'model', 'window', 'in', 'out', 'as of'], ...rows], [2, 3, 4], room)}`)
    if ('problem' in chosen) await note(io, chosen.problem)
    return 0
  },
})

function toLine({ ref, facts: { contextWindow, maxOutputTokens, price } }: LanguageModel): ModelLine {
  return { ref, contextWindow, maxOutputTokens, price: price ?? null }
}

function modelRow(what: string, { ref, contextWindow, price }: ModelLine): readonly string[] {
  const window = contextWindow === null || contextWindow >= 1e9 ? '–' : String(contextWindow)
  return [what, visibleLine(ref), window, dollars(price?.input), dollars(price?.output), price?.asOf ?? '']
}

function providerRow({ name, configured, keyFrom, baseURL, reachable, why, status, problem }: ProviderLine): readonly string[] {
  // Who answers is there, whatever it answers.
  const wrong = `${status === undefined ? 'not reachable' : 'no list of models'}: ${why ?? ''}`
  const state = reachable === null ? '' : reachable ? 'reachable' : wrong
  const key = configured ? (keyFrom === null ? 'no key needed' : `key from ${keyFrom}`) : 'not configured'
  return [name, visibleLine(problem ?? key), visibleLine(baseURL === null ? '' : shownUrl(baseURL)), visibleLine(state)]
}

function dollars(value: number | undefined): string {
  return value === undefined ? '–' : `$${value}`
}
