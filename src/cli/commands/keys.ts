import { StringDecoder } from 'node:string_decoder'
import { changeKeys, keyVariableOf, keyVariables, providersWithKeys, storedKeys } from '../../app/provider-keys.ts'
import { ConfigurationError, CriaError } from '../../core/error.ts'
import { defineCommand, jsonOption } from '../command.ts'
import type { Command } from '../command.ts'
import { printTable } from '../format.ts'
import { note, printJson } from '../io.ts'
import type { Io } from '../io.ts'
import { readConfig } from '../prepare-store.ts'
import { readText } from '../read-text.ts'

const DETAILS = `Keys are kept in cria.keys.json in the home of cria, which only you can read. A variable of the environment, such as
OPENAI_API_KEY, goes before it. No program that cria starts gets a key, and no output shows one.`

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
  details: `${DETAILS} The key is typed unseen, or read from standard input: an argument would stay in the history of the shell.`,
  examples: ['cria keys set anthropic', 'pass show openai | cria keys set openai'],
  async run({ arguments: [name = ''] }, io) {
    const { config, paths } = await readConfig(io)
    const variable = keyVariableOf(name, config)
    const key = (io.piped === undefined ? await typedUnseen(`Key for ${name}: `, io) : await readText('-', 'key', io)).trim()
    if (!/^[\x21-\x7E]{6,2000}$/.test(key))
      throw new ConfigurationError('This is not a key: expected at least 6 letters, digits and signs, without spaces.')
    changeKeys(paths, (keys) => ({ ...keys, [variable]: key }))
    await note(io, `the key for ${name} is kept in ${paths.keys}.`)
    if (isInEnvironment(variable, io)) await note(io, `${variable} is set in the environment, and goes before it.`)
  },
})

export const keysList: Command = defineCommand({
  name: 'keys list',
  options: { json: jsonOption('{ keys: [{ variable, from }] }; from is "environment", "file" or null') },
  details: DETAILS,
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

/** Set there, and not only taken over from the file of keys. */
function isInEnvironment(variable: string, { env, storedKeys: fromFile = [] }: Io): boolean {
  return (env[variable] ?? '') !== '' && !fromFile.includes(variable)
}

export const keysRemove: Command = defineCommand({
  name: 'keys remove',
  arguments: [{ name: 'provider', about: 'as for cria keys set', offers: providersWithKeys }],
  options: {},
  details: DETAILS,
  examples: ['cria keys remove anthropic'],
  async run({ arguments: [name = ''] }, io) {
    const { config, paths } = await readConfig(io)
    const stored = storedKeys(paths)
    const variable = Object.hasOwn(stored, name) ? name : keyVariableOf(name, config)
    if (!Object.hasOwn(stored, variable)) throw new CriaError('not_found', `No key for ${name} is kept in ${paths.keys}.`)
    changeKeys(paths, ({ [variable]: _, ...others }) => others)
    await note(io, `the key for ${name} is forgotten.`)
  },
})

/** A line that is typed at the terminal and not shown. @throws CriaError `aborted` at Ctrl-C and at the end of the input. */
async function typedUnseen(question: string, { stdin, stderr, signal }: Io): Promise<string> {
  if (stdin.isTTY !== true) throw new ConfigurationError('There is no key: type it at a terminal, or pipe it in.')
  // First: what is typed once the question is there must not be shown.
  stdin.setRawMode?.(true)
  const stop = (): void => void stdin.destroy()
  signal.addEventListener('abort', stop, { once: true })
  const decoder = new StringDecoder('utf8')
  let typed = ''
  try {
    await stderr.write(question)
    for await (const piece of stdin) {
      for (const character of typeof piece === 'string' ? piece : decoder.write(piece as Buffer)) {
        if (character === '\r' || character === '\n') return typed
        if (character === '\u0003' || character === '\u0004') throw new CriaError('aborted', 'No key was set.')
        typed = character === '\u007F' || character === '\b' ? typed.slice(0, -1) : typed + character
      }
    }
    throw new CriaError('aborted', 'No key was set.')
  } finally {
    signal.removeEventListener('abort', stop)
    if (!stdin.destroyed) stdin.setRawMode?.(false)
    await stderr.write('\n')
  }
}
