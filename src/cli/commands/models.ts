/** `cria models` and `cria keys`: lists providers with models and prices, sets the default model and aliases, and saves keys. */

import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { changeConfig } from '../../app/config.ts'
import { POINTERS } from '../../app/config-schema.ts'
import { openModel } from '../../app/open-model.ts'
import { changeKeys, keyVariableOf, keyVariables, providersWithKeys, storedKeys } from '../../app/provider-keys.ts'
import { providerStates } from '../../app/providers.ts'
import { reachProvider } from '../../app/reach-provider.ts'
import type { ProviderState } from '../../app/reach-provider.ts'
import { ConfigurationError, CriaError, toCriaError } from '../../core/error.ts'
import type { ModelFacts, Price } from '../../core/model.ts'
import { shownUrl } from '../../util/redact.ts'
import { visibleLine } from '../../util/terminal.ts'
import { defineCommand, jsonOption } from '../command.ts'
import type { Command } from '../command.ts'
import { printTable } from '../format.ts'
import { note, printJson } from '../io.ts'
import type { Io } from '../io.ts'
import { readConfig } from '../prepare-store.ts'
import { readText } from '../read-text.ts'

/** Maximum models shown per provider; a provider may list hundreds. */
const MOST_MODELS = 200

interface ModelLine extends Pick<ModelFacts, 'contextWindow' | 'maxOutputTokens'> {
  readonly ref: string
  /** US dollars per million tokens; `null` when unknown. */
  readonly price: Price | null
}

interface ProviderLine extends ProviderState {
  /** `null` when no request was sent. */
  readonly reachable: boolean | null
  readonly why?: string
  /** HTTP status of a response that is not a list of models. */
  readonly status?: number
  readonly models: readonly ModelLine[]
}

export const models: Command = defineCommand({
  name: 'models',
  options: {
    offline: { type: 'flag', about: 'send no request to providers' },
    json: jsonOption('{ default, pointers, aliases, providers: [{ name, configured, reachable, models, … }] }'),
  },
  details: `Prices are US dollars per million input and output tokens; a dash means unknown.
A price without a date comes from config.json, or belongs to a built-in model.
Listing the models of a provider costs nothing. Keys are never shown.`,
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
  arguments: [{ name: 'model', about: 'provider/model, or an alias; without it, shows the default', required: false }],
  options: { json: jsonOption('{ default }') },
  details: `The default is "main" under "models" in config.json. CRIA_MODEL and -m take precedence.`,
  examples: ['cria models default anthropic/claude-sonnet-4-5', 'cria models default'],
  async run({ arguments: [name], options }, io) {
    const { config, paths } = await readConfig(io)
    if (name !== undefined) {
      const { ref } = await openModel(name, config, io.env)
      changeConfig(paths, (own) => {
        own['models'] = { ...(own['models'] as object | undefined), main: ref }
      })
      await note(io, `${ref} is now the default model.`)
      if ((io.env['CRIA_MODEL'] ?? '') !== '') await note(io, 'CRIA_MODEL is set and takes precedence.')
    }
    const { ref } = await openModel(undefined, (await readConfig(io)).config, io.env)
    if (options.json) await printJson(io, { default: ref })
    else if (name === undefined) await io.stdout.write(`${ref}\n`)
  },
})

export const modelsAlias: Command = defineCommand({
  name: 'models alias',
  arguments: [
    { name: 'name', about: 'the alias; without it, lists all aliases', required: false },
    { name: 'model', about: 'provider/model; without it, shows the alias', required: false },
  ],
  options: {
    remove: { type: 'flag', about: 'remove the alias' },
    json: jsonOption('{ aliases: { NAME: MODEL } }'),
  },
  details:
    'An alias works wherever a model is named: after -m, --fallback, and in code. Aliases are kept under "aliases" in config.json.',
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
      return note(io, ref === undefined ? `the alias ${name} is removed.` : `${name} is now an alias of ${ref}.`)
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
  // A provider with any HTTP response is reachable.
  const wrong = `${status === undefined ? 'not reachable' : 'no list of models'}: ${why ?? ''}`
  const state = reachable === null ? '' : reachable ? 'reachable' : wrong
  const from = stored.includes(keyFrom ?? '') ? 'cria keys' : keyFrom
  const key = configured ? (from === null ? 'no key needed' : `key from ${from}`) : 'not configured'
  return [name, visibleLine(problem ?? key), visibleLine(baseURL === null ? '' : shownUrl(baseURL)), visibleLine(state)]
}

function dollars(value: number | undefined): string {
  return value === undefined ? '–' : `$${value}`
}

const KEY_DETAILS = `Keys are kept in cria.keys.json in the home directory of cria, which only you can read. An environment variable such as
OPENAI_API_KEY takes precedence. Programs that cria starts receive no keys, and no output shows one.`

export const keysSet: Command = defineCommand({
  name: 'keys set',
  arguments: [
    {
      name: 'provider',
      about: 'openai, anthropic, …, or a variable that config.json names under apiKeyEnv',
      offers: providersWithKeys,
    },
  ],
  options: {},
  details: `${KEY_DETAILS} The key is typed without echo, or read from standard input: an argument would stay in the shell history.`,
  examples: ['cria keys set anthropic', 'pass show openai | cria keys set openai'],
  async run({ arguments: [name = ''] }, io) {
    const { config, paths } = await readConfig(io)
    const variable = keyVariableOf(name, config)
    const key = (io.piped === undefined ? await typedUnseen(`Key for ${name}: `, io) : await readText('-', 'key', io)).trim()
    if (!/^[\x21-\x7E]{6,2000}$/.test(key))
      throw new ConfigurationError('This is not a key: expected at least 6 letters, digits and signs, without spaces.')
    changeKeys(paths, (keys) => ({ ...keys, [variable]: key }))
    await note(io, `the key for ${name} is saved in ${paths.keys}.`)
    if (isInEnvironment(variable, io)) await note(io, `${variable} is set in the environment and takes precedence.`)
  },
})

export const keysList: Command = defineCommand({
  name: 'keys list',
  options: { json: jsonOption('{ keys: [{ variable, from }] }; from is "environment", "file" or null') },
  details: KEY_DETAILS,
  examples: ['cria keys list'],
  async run({ options }, io) {
    const { config, paths } = await readConfig(io)
    const stored = storedKeys(paths)
    const variables = [...new Set([...keyVariables(config), ...Object.keys(stored)])]
    const keys = variables.map((variable) => {
      const inFile = Object.hasOwn(stored, variable) ? 'file' : null
      return { variable, from: isInEnvironment(variable, io) ? 'environment' : inFile }
    })
    if (options.json) return printJson(io, { keys })
    await printTable(
      io,
      keys.map(({ variable, from }) => [variable, from ?? '–']),
    )
  },
})

/** Returns whether a variable is set in the real environment, not only by the key file. */
function isInEnvironment(variable: string, { env, storedKeys: fromFile = [] }: Io): boolean {
  return (env[variable] ?? '') !== '' && !fromFile.includes(variable)
}

export const keysRemove: Command = defineCommand({
  name: 'keys remove',
  arguments: [{ name: 'provider', about: 'as for cria keys set', offers: providersWithKeys }],
  options: {},
  details: KEY_DETAILS,
  examples: ['cria keys remove anthropic'],
  async run({ arguments: [name = ''] }, io) {
    const { config, paths } = await readConfig(io)
    const stored = storedKeys(paths)
    const variable = Object.hasOwn(stored, name) ? name : keyVariableOf(name, config)
    if (!Object.hasOwn(stored, variable)) throw new CriaError('not_found', `There is no key for ${name} in ${paths.keys}.`)
    changeKeys(paths, ({ [variable]: _, ...others }) => others)
    await note(io, `the key for ${name} is removed.`)
  },
})

/** Reads a line from the terminal without echo. @throws CriaError `aborted` on Ctrl-C and at the end of the input. */
async function typedUnseen(question: string, { stdin, stderr, signal }: Io): Promise<string> {
  if (stdin.isTTY !== true) throw new ConfigurationError('No key was given: type it at a terminal, or pipe it in.')
  const unseen = new Writable({ write: (_piece, _encoding, done) => done() })
  // Created before the question is printed, so that nothing typed after it is shown.
  const lines = createInterface({ input: stdin, output: unseen, terminal: true, historySize: 0 })
  const closed = new AbortController()
  lines.once('close', () => closed.abort())
  try {
    await stderr.write(question)
    return await lines.question('', { signal: AbortSignal.any([signal, closed.signal]) })
  } catch (cause) {
    throw new CriaError('aborted', 'No key was set.', { cause })
  } finally {
    lines.close()
    await stderr.write('\n')
  }
}
