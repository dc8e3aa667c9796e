/** Declares the shape of `config.json`. Documented, key by key, in docs/configuration.md. */

import type { BudgetLimits } from '../core/budget.ts'
import type { HookName } from '../core/hook.ts'
import type { Rates } from '../core/model.ts'
import { FALLBACK_CODES } from '../model/recover.ts'
import type { FallbackCode } from '../model/recover.ts'
import { PROVIDER_NAMES } from '../providers/registry.ts'
import { SANDBOX_MODES } from '../tools/sandbox/sandbox.ts'
import type { SandboxOptions } from '../tools/sandbox/sandbox.ts'
import { SERVER_NAME } from '../tools/mcp/server-config.ts'
import type { McpServerConfig } from '../tools/mcp/server-config.ts'
import { isRule, rightSpelling } from '../tools/permissions/rule.ts'
import { boolean, list, mismatch, number, object, record, secretString, string } from '../util/check.ts'
import type { Shape } from '../util/check.ts'
import { STORE_NAME } from './paths.ts'

/** Names that stand for a model chosen by the user. */
export const POINTERS = ['main', 'quick', 'task', 'reasoning'] as const
export type ModelPointer = (typeof POINTERS)[number]

/** The form of an alias, a name that the user defines for a model. */
const ALIAS: RegExp = /^(?!(?:main|quick|task|reasoning)$)[A-Za-z0-9][\w.-]{0,49}$/

export interface ProviderConfig {
  readonly baseURL?: string
  /** Name of the environment variable that holds the key; a configuration file never contains the key itself. */
  readonly apiKeyEnv?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Facts about a model that override the catalogue. */
export interface ModelFactsConfig {
  readonly contextWindow?: number
  readonly maxOutputTokens?: number
  /** The model accepts images (`true`) or not (`false`); default from the catalogue. */
  readonly images?: boolean
  readonly price?: Rates
}

export interface StoreConfig {
  /** Paths that `cria index --store NAME` reads when no path is given; relative to the folder of the configuration. */
  readonly paths?: readonly string[]
}

/** Limits of use; requests beyond them are refused. */
export interface BudgetConfig {
  /** Per turn; `ms` is in milliseconds. */
  readonly turn?: BudgetLimits & { readonly ms?: number }
  /** All turns of a session together. */
  readonly session?: BudgetLimits
  /** All recorded turns of a day (UTC) together. */
  readonly day?: BudgetLimits
}

/** See `SandboxOptions`; `"required"` alone is short for `{ "mode": "required" }`. */
export type SandboxConfig = Omit<SandboxOptions, 'hidden'>
export interface AgentConfig {
  readonly model?: string
  /** Names of tools, `*` for any letters; default all but `ask_user`. */
  readonly tools?: readonly string[]
  readonly maxSteps?: number
  readonly disabled?: boolean
}

/** A program that runs before or after prompts, tool calls and turns; see `Hooks`. */
export interface CommandHook {
  readonly command: string
  readonly args?: readonly string[]
  /** Names of tools that the hook applies to, `*` for any letters; default all. */
  readonly tools?: readonly string[]
  /** Time limit in milliseconds. */
  readonly timeout?: number
  /** Working directory, relative to the folder of the configuration, which is the default. */
  readonly cwd?: string
}

export interface CriaConfig {
  readonly models?: Readonly<Partial<Record<ModelPointer, string>>>
  /** User-defined names for models, beside the pointers. */
  readonly aliases?: Readonly<Record<string, string>>
  readonly fallbackModels?: readonly string[]
  /** Final errors that nevertheless lead to a fallback model; default none. */
  readonly fallbackOn?: readonly FallbackCode[]
  readonly providers?: Readonly<Record<string, ProviderConfig>>
  readonly modelFacts?: Readonly<Record<string, ModelFactsConfig>>
  /** The store used when none is named. Default `default`. */
  readonly store?: string
  readonly stores?: Readonly<Record<string, StoreConfig>>
  /** The embedding model for indexed documents, for search by meaning. */
  readonly embed?: string
  /** Passages sent to the model. */
  readonly nResults?: number
  /** Milliseconds after which a turn counts as slow. */
  readonly slowAfter?: number
  /** Seconds after which the end of a turn rings the terminal bell in `chat`. */
  readonly bell?: number
  readonly hooks?: Readonly<Partial<Record<HookName, readonly CommandHook[]>>>
  /** Model and tools of the tool `agent` in `run` and `chat`. */
  readonly agent?: AgentConfig
  readonly rules?: { readonly allow?: readonly string[]; readonly ask?: readonly string[]; readonly deny?: readonly string[] }
  readonly budget?: BudgetConfig
  /** The sandbox of commands and of MCP servers that run as programs. */
  readonly sandbox?: SandboxConfig
  /** MCP servers whose tools the model may call; a program starts in the folder of the configuration unless it has its own `cwd`. */
  readonly mcpServers?: Readonly<Record<string, McpServerConfig>>
  /** Used by editors; ignored here. */
  readonly $schema?: string
}

const modelRef = string('a model as "provider/model"', (text) => /^[^\s/]+\/\S+$/u.test(text))
const storeName = string('the name of a store', (text) => STORE_NAME.test(text))
const toolPattern = string('the name of a tool', (text) => /^[\w*-]+$/.test(text))
const path = string('a path', (text) => text !== '' && !text.includes('\0'))
const variable = 'the name of an environment variable'
const isVariable = (text: string): boolean => /^[A-Za-z_]\w*$/.test(text)

const numberFrom = (least: number, expected: string): Shape<number> =>
  number(expected, (value) => Number.isFinite(value) && value >= least)
const wholeFrom1 = (expected: string, most: number = Number.MAX_SAFE_INTEGER): Shape<number> =>
  number(expected, (value) => Number.isSafeInteger(value) && value >= 1 && value <= most)
const ms = numberFrom(1, 'milliseconds, 1 or more')
const price = numberFrom(0, 'US dollars for a million tokens, 0 or more')
const tokens = wholeFrom1('a whole number of tokens above 0')
const count = wholeFrom1('a whole number above 0')
const limits = { tokens: numberFrom(0, 'a number of tokens, 0 or more'), costUsd: numberFrom(0, 'US dollars, 0 or more') }

/** @param expected default lists the choices. */
function oneOf<T extends string>(choices: readonly T[], expected = `one of ${choices.join(', ')}`): Shape<T> {
  return string(expected, (text) => (choices as readonly string[]).includes(text)) as Shape<T>
}

const rule: Shape<string> = {
  expected: 'a rule such as "shell(git status)"',
  read: (value, place, problems) => string(rightSpelling(value), isRule).read(value, place, problems),
}

const headers = record(
  secretString('a text of one line', (text) => !/[\r\n\0]/.test(text)),
  { expected: 'the name of an HTTP header', pattern: /^[!#$%&'*+.^_`|~\w-]+$/ },
)

const provider: Shape<ProviderConfig> = object<ProviderConfig>({
  baseURL: string('a URL that begins with http:// or https://', (text) => URL.canParse(text) && /^https?:\/\//i.test(text)),
  apiKeyEnv: secretString(variable, isVariable),
  headers,
})

const rates = object<Rates>({ input: price, output: price, cacheRead: price, cacheWrite: price, cacheWrite1h: price })

/** A price needs both the input and the output rate. */
const bothRates: Shape<Rates> = {
  ...rates,
  read(value, place, problems) {
    const before = problems.length
    const read: Partial<Rates> | undefined = rates.read(value, place, problems)
    if (read === undefined || problems.length > before) return undefined
    const missing = (['input', 'output'] as const).filter((key) => read[key] === undefined)
    problems.push(...missing.map((key) => ({ path: `${place}.${key}`, message: mismatch(price.expected, 'nothing') })))
    return missing.length > 0 ? undefined : (read as Rates)
  },
}

const sandboxMembers = object<SandboxConfig>({
  mode: oneOf(SANDBOX_MODES),
  network: oneOf(['none', 'all'], '"none" or "all"'),
  writable: list(path),
  environment: list(string(variable, isVariable)),
  limits: object<NonNullable<SandboxConfig['limits']>>({ processes: count, memory: count, fileSize: count }),
})

/** Accepts the mode alone, or an object. */
const sandbox: Shape<SandboxConfig> = {
  ...sandboxMembers,
  read: (value, place, problems) => sandboxMembers.read(typeof value === 'string' ? { mode: value } : value, place, problems),
}

const hooks = list(
  object<CommandHook>({
    command: string('a program', (text) => text !== '' && !text.includes('\0')),
    args: list(secretString('a text', (text) => !text.includes('\0'))),
    tools: list(toolPattern),
    timeout: ms,
    cwd: path,
  }),
)

const mcpServer = object<McpServerConfig>({
  type: oneOf(['stdio', 'http', 'streamable-http'], '"stdio" or "http"'),
  command: string('a program'),
  args: list(secretString('a text', () => true)),
  env: record(
    secretString('a text', (text) => !text.includes('\0')),
    { expected: variable, pattern: /^[^=\0]+$/ },
  ),
  cwd: path,
  // The URL may contain `${NAME}` anywhere, and a key.
  url: secretString('a URL that begins with http:// or https://', (text) => /^(?:https?:\/\/|\$\{)/i.test(text)),
  headers,
  includeTools: list(string('the name of a tool')),
  disabled: boolean(),
  sandbox,
  timeout: ms,
  startTimeout: ms,
})

export const CONFIG_SHAPE: Shape<CriaConfig> = object<CriaConfig>({
  models: object<NonNullable<CriaConfig['models']>>({ main: modelRef, quick: modelRef, task: modelRef, reasoning: modelRef }),
  aliases: record(modelRef, { expected: 'a name that is not main, quick, task or reasoning, without "/"', pattern: ALIAS }),
  fallbackModels: list(modelRef),
  fallbackOn: list(oneOf(FALLBACK_CODES)),
  providers: object<NonNullable<CriaConfig['providers']>>(Object.fromEntries(PROVIDER_NAMES.map((name) => [name, provider]))),
  modelFacts: record(
    object<ModelFactsConfig>({ contextWindow: tokens, maxOutputTokens: tokens, images: boolean(), price: bothRates }),
    { expected: 'a model as "provider/model"', pattern: /^[^\s/]+\/\S+$/u },
  ),
  store: storeName,
  stores: record(object<StoreConfig>({ paths: list(path) }), { expected: 'the name of a store', pattern: STORE_NAME }),
  embed: modelRef,
  nResults: wholeFrom1('a whole number from 1 to 1000', 1000),
  hooks: object<NonNullable<CriaConfig['hooks']>>({ onPrompt: hooks, onToolCall: hooks, onToolResult: hooks, onStop: hooks }),
  agent: object<AgentConfig>({
    model: string('a model as "provider/model", or main, quick, task, reasoning'),
    tools: list(toolPattern),
    maxSteps: wholeFrom1('a whole number of at least 1'),
    disabled: boolean(),
  }),
  slowAfter: ms,
  bell: numberFrom(0, 'seconds, 0 or more'),
  rules: object<NonNullable<CriaConfig['rules']>>({ allow: list(rule), ask: list(rule), deny: list(rule) }),
  budget: object<BudgetConfig>({
    turn: object<NonNullable<BudgetConfig['turn']>>({ ...limits, ms }),
    session: object<BudgetLimits>(limits),
    day: object<BudgetLimits>(limits),
  }),
  sandbox,
  mcpServers: record(mcpServer, {
    expected: 'the name of an MCP server (letters, digits, "-" and single "_", at most 32)',
    pattern: SERVER_NAME,
  }),
  $schema: string('a string', () => true),
})
