/** Reads the configuration of servers in the format of other programs, and expands environment variables in it. */

import { ConfigurationError } from '../../core/error.ts'
import { realpathSync } from 'node:fs'
import type { CommandReach } from '../../core/tool.ts'
import { commandReach, NETWORK } from '../permissions/rule-book.ts'
import type { ReadRule } from '../permissions/rule-book.ts'
import { Sandbox, sandboxOptions } from '../sandbox/sandbox.ts'
import type { SandboxMode, SandboxOptions } from '../sandbox/sandbox.ts'
import { commandEnvironment, sandboxEnvironment } from '../builtin/command-environment.ts'

/** A server: either a program to start, or a URL. */
export interface McpServerConfig {
  /** Needed only by other programs: `command` or `url` decides the kind of server. */
  readonly type?: 'stdio' | 'http' | 'streamable-http'
  /** The program to start, for a server on standard input and output. */
  readonly command?: string
  /** Arguments of the program; default none. */
  readonly args?: readonly string[]
  /** Variables in addition to the environment of cria, whose secrets are not passed on. */
  readonly env?: Readonly<Record<string, string>>
  /** Working directory of the program; default the working directory of cria. */
  readonly cwd?: string
  /** URL of a server that uses Streamable HTTP. */
  readonly url?: string
  /** Headers of every request; not sent to any other origin. */
  readonly headers?: Readonly<Record<string, string>>
  /** Offers only these tools, by their names on the server. */
  readonly includeTools?: readonly string[]
  /** The sandbox: `auto` (default), `required`, `off`, or detailed options; without `network: 'all'` the program has no network. */
  readonly sandbox?: SandboxMode | SandboxOptions
  /** True: the server is not started. */
  readonly disabled?: boolean
  /** Timeout of a call in milliseconds; default 120,000. */
  readonly timeout?: number
  /** Milliseconds in which the server must start and list its tools; default 30,000. */
  readonly startTimeout?: number
}

/** Server names are part of tool names: a rule `mcp__a__*` must not match a server called `a__b` or `a_`. */
export const SERVER_NAME: RegExp = /^(?=.{1,32}$)[A-Za-z0-9](?:[A-Za-z0-9-]|_(?=[A-Za-z0-9-]))*$/

export type Environment = Readonly<Record<string, string | undefined>>

/** Resolved settings to start or call a server. */
export type Endpoint = StdioEndpoint | HttpEndpoint

export interface StdioEndpoint extends Secretive {
  readonly kind: 'stdio'
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** The sandbox of the program, and the effect of the rules in it. */
  readonly sandbox: Sandbox
  readonly reach: CommandReach
  /** Environment of the program in the sandbox. */
  readonly confinedEnv: Readonly<Record<string, string>>
}

interface HttpEndpoint extends Secretive {
  readonly kind: 'http'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
}

interface Secretive {
  /** Secret values, which must not be shown. */
  readonly secrets: readonly string[]
}

export interface EndpointSurroundings {
  readonly env: Environment
  readonly cwd: string
  /** Names of variables that hold secrets. */
  readonly secretVariables: readonly string[]
  /** Default for servers without `sandbox`. */
  readonly sandbox: SandboxOptions
  readonly rules: readonly ReadRule[]
}

/** @throws ConfigurationError when a variable is not set, or the configuration describes neither kind of server. */
export function endpointOf(
  name: string,
  config: McpServerConfig,
  { env, cwd, secretVariables, sandbox, rules }: EndpointSurroundings,
): Endpoint {
  const fill = (text: string): string => filled(text, env, name)
  const fillAll = (values: Readonly<Record<string, string>> = {}): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, fill(value)]))

  const passed = commandEnvironment(env, secretVariables)
  const secrets = new Set(Object.entries(env).flatMap(([key, value]) => (value === undefined || key in passed ? [] : [value])))
  if (config.url !== undefined) {
    const url = fill(config.url)
    if (!URL.canParse(url) || !/^https?:\/\//i.test(url)) throw wrong(name, 'its `url` is not an http or https address')
    const headers = fillAll(config.headers)
    for (const value of Object.values(headers)) {
      if (/[\r\n\0]/.test(value)) throw wrong(name, 'a header has more than one line')
      secrets.add(value).add(value.split(' ').at(-1) ?? value)
    }
    return { kind: 'http', url: new URL(url), headers, secrets: [...secrets] }
  }
  if (config.command === undefined) throw wrong(name, 'it has neither a `command` nor a `url`')
  if (process.platform === 'win32') throw wrong(name, 'programs are not started on Windows; give a `url`')
  const own = fillAll(config.env)
  const harmless = commandEnvironment(own)
  for (const [key, value] of Object.entries(own)) if (!(key in harmless)) secrets.add(value)
  const words = [fill(config.command), ...(config.args ?? []).map(fill)]
  if (words.some((word) => word.includes('\0'))) throw wrong(name, 'its command holds a NUL character')
  const [command = '', ...args] = words
  return {
    kind: 'stdio',
    command,
    args,
    env: { ...passed, ...own },
    cwd: config.cwd ?? cwd,
    sandbox: new Sandbox(realpathSync.native(cwd), { ...sandbox, ...sandboxOptions(config.sandbox) }),
    reach: { ...commandReach(rules, []), network: rules.some((rule) => isNetworkOf(rule, name)) },
    confinedEnv: { ...sandboxEnvironment(passed), ...own },
    secrets: [...secrets],
  }
}

/** Matches the rules `network` and, for example, `network(mcp__files)`. */
function isNetworkOf({ list, tool, pattern }: ReadRule, server: string): boolean {
  return list === 'allow' && tool === NETWORK && (pattern === undefined || pattern === `mcp__${server}`)
}

/** `${NAME}` and `${NAME:-default}`. */
const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g

function filled(text: string, env: Environment, server: string): string {
  return text.replace(VARIABLE, (_whole, variable: string, instead: string | undefined) => {
    const value = env[variable] ?? instead
    if (value === undefined) throw wrong(server, `the environment variable ${variable} is not set`)
    return value
  })
}

function wrong(server: string, what: string): ConfigurationError {
  return new ConfigurationError(`The MCP server "${server}" cannot be used: ${what}.`)
}

/** @throws ConfigurationError for members of wrong types, and for names that cannot be part of tool names. */
export function checkServers(servers: unknown): asserts servers is Readonly<Record<string, McpServerConfig>> {
  if (typeof servers !== 'object' || servers === null || Array.isArray(servers)) {
    throw new ConfigurationError('`servers` must be an object: { name: { command, args } } or { name: { url } }.')
  }
  for (const [name, server] of Object.entries(servers as Record<string, unknown>)) {
    if (!SERVER_NAME.test(name)) {
      throw new ConfigurationError(
        `An MCP server cannot be called ${JSON.stringify(name.slice(0, 100))}: use letters, digits, "-" and single "_" inside, at most 32.`,
      )
    }
    if (typeof server !== 'object' || server === null) throw wrong(name, 'it is not an object')
    const { type } = server as { type?: unknown }
    if (type === 'sse') throw wrong(name, 'the old transport "sse" is not supported; most servers offer Streamable HTTP as well')
  }
}
