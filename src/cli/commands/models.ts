import { changeConfig } from '../../app/config.ts'
import { openModel } from '../../app/open-model.ts'
import { POINTERS } from '../../app/config-schema.ts'
import { providerStates, reachProvider } from '../../app/providers.ts'
import type { ProviderState } from '../../app/providers.ts'
import { CriaError, toCriaError } from '../../core/error.ts'
import type { ModelFacts, Price } from '../../core/model.ts'
import { shownUrl } from '../../util/redact.ts'
import { visibleLine } from '../../util/terminal.ts'
import { defineCommand, jsonOption } from '../command.ts'
import type { Command } from '../command.ts'
import { printTable } from '../format.ts'
import { note, printJson } from '../io.ts'
import { readConfig } from '../prepare-store.ts'

/** A provider may list hundreds. */
const MOST_MODELS = 200

interface ModelLine extends Pick<ModelFacts, 'contextWindow' | 'maxOutputTokens'> {
  readonly ref: string
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
    json: jsonOption('{ default, pointers, aliases, providers: [{ name, configured, reachable, models, … }] }'),
  },
  details: `Prices are US dollars for a million tokens of input and of output; a dash is what nobody knows.
Without a date a price is yours, out of config.json, or that of a model that is always there.
Asking a provider for its list of models costs nothing. Keys are never shown.`,
  examples: ['cria models', 'cria models --offline --json'],
  async run({ options }, io) {
    const { config } = await readConfig(io)
    const look = async (name: string | undefined): Promise<ModelLine> => {
      const { ref, facts } = await openModel(name, config, io.env)
      return { ref, contextWindow: facts.contextWindow, maxOutputTokens: facts.maxOutputTokens, price: facts.price ?? null }
    }
    const lookAtAll = async (names: readonly string[]): Promise<Readonly<Record<string, ModelLine>>> =>
      Object.fromEntries(await Promise.all(names.map(async (name) => [name, await look(name)] as const)))

    const chosen = await look(undefined).catch((thrown: unknown) => ({ problem: toCriaError(thrown).message }))
    const pointers = await lookAtAll(POINTERS.filter((pointer) => config.models?.[pointer] !== undefined))
    const aliases = await lookAtAll(Object.keys(config.aliases ?? {}))
    const providers = await Promise.all(
      providerStates(io.env, config).map(async (state): Promise<ProviderLine> => {
        if (options.offline || !state.configured) return { ...state, reachable: null, models: [] }
        const reached = await reachProvider(state, io.env, config.providers?.[state.name]?.headers, io.signal)
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
      return printJson(io, { default: chosen, pointers, aliases, providers: shown })
    }
    const rows = [
      ...('problem' in chosen ? [] : [modelRow('default', chosen)]),
      ...[...Object.entries(aliases), ...Object.entries(pointers)].map(([name, model]) => modelRow(name, model)),
      ...providers.flatMap((provider) => provider.models.map((model) => modelRow('', model))),
    ]
    const states = providers.map((provider) => providerRow(provider, io.storedKeys))
    await printTable(io, states)
    await io.stdout.write('\n')
    await printTable(io, [['', 'model', 'window', 'in', 'out', 'as of'], ...rows], [2, 3, 4])
    if ('problem' in chosen) await note(io, chosen.problem)
  },
})

export const modelsDefault: Command = defineCommand({
  name: 'models default',
  arguments: [{ name: 'model', about: 'provider/model, or an alias; without it the default is shown', required: false }],
  options: { json: jsonOption('{ default }') },
  details: `The default is "main" under "models" in config.json. CRIA_MODEL and -m go before it.`,
  examples: ['cria models default anthropic/claude-sonnet-4-5', 'cria models default'],
  async run({ arguments: [name], options }, io) {
    const { config, paths } = await readConfig(io)
    if (name !== undefined) {
      const { ref } = await openModel(name, config, io.env)
      changeConfig(paths, (own) => {
        own['models'] = { ...(own['models'] as object | undefined), main: ref }
      })
      await note(io, `${ref} answers from now on when no model is named.`)
      if ((io.env['CRIA_MODEL'] ?? '') !== '') await note(io, 'CRIA_MODEL is set, and goes before it.')
    }
    const { ref } = await openModel(undefined, (await readConfig(io)).config, io.env)
    if (options.json) await printJson(io, { default: ref })
    else if (name === undefined) await io.stdout.write(`${ref}\n`)
  },
})

export const modelsAlias: Command = defineCommand({
  name: 'models alias',
  arguments: [
    { name: 'name', about: 'the alias; without it all are listed', required: false },
    { name: 'model', about: 'provider/model; without it the alias is shown', required: false },
  ],
  options: {
    remove: { type: 'flag', about: 'forget the alias' },
    json: jsonOption('{ aliases: { NAME: MODEL } }'),
  },
  details:
    'An alias stands wherever a model is named: after -m, --fallback, and in code. They are kept under "aliases" in config.json.',
  examples: ['cria models alias fast openai/gpt-5-nano', 'cria models alias', 'cria models alias fast --remove'],
  async run({ arguments: [name, model], options }, io) {
    const { config, paths } = await readConfig(io)
    const { aliases = {} } = config
    const isSet = model !== undefined && !options.remove
    if (name !== undefined && !isSet && !Object.hasOwn(aliases, name))
      throw new CriaError('not_found', `There is no alias ${JSON.stringify(name)}.`)
    if (name !== undefined && (isSet || options.remove)) {
      const ref = model === undefined ? undefined : (await openModel(model, config, io.env)).ref
      changeConfig(paths, (own) => {
        const { [name]: _, ...others } = (own['aliases'] ?? {}) as Record<string, unknown>
        own['aliases'] = ref === undefined ? others : { ...others, [name]: ref }
      })
      return note(io, ref === undefined ? `${name} is forgotten.` : `${name} stands for ${ref}.`)
    }
    const shown = Object.entries(aliases).filter(([alias]) => name === undefined || alias === name)
    if (options.json) await printJson(io, { aliases: Object.fromEntries(shown) })
    else await printTable(io, shown)
  },
})

function modelRow(what: string, { ref, contextWindow, price }: ModelLine): readonly string[] {
  const window = contextWindow === null || contextWindow >= 1e9 ? '–' : String(contextWindow)
  return [what, visibleLine(ref), window, dollars(price?.input), dollars(price?.output), price?.asOf ?? '']
}

function providerRow(
  { name, configured, keyFrom, baseURL, reachable, why, status, problem }: ProviderLine,
  stored: readonly string[] = [],
): readonly string[] {
  // Who answers is there, whatever it answers.
  const wrong = `${status === undefined ? 'not reachable' : 'no list of models'}: ${why ?? ''}`
  const state = reachable === null ? '' : reachable ? 'reachable' : wrong
  const from = stored.includes(keyFrom ?? '') ? 'cria keys' : keyFrom
  const key = configured ? (from === null ? 'no key needed' : `key from ${from}`) : 'not configured'
  return [name, visibleLine(problem ?? key), visibleLine(baseURL === null ? '' : shownUrl(baseURL)), visibleLine(state)]
}

function dollars(value: number | undefined): string {
  return value === undefined ? '–' : `$${value}`
}
