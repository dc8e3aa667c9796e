/**
 * Reads, fills and saves prompt templates: Markdown files in `CRIA_HOME/templates` or anywhere else. Settings are between two lines of `---`,
 * followed by the prompt; `{{name}}` is a variable, `{{name=value}}` a variable with a default, and `{{question}}` the question.
 */

import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { ConfigurationError } from '../core/error.ts'
import type { FilledPrompt } from '../core/prompt.ts'
import { defined } from '../util/check.ts'
import { sha256 } from '../util/hash.ts'
import { nearest } from '../util/nearest.ts'
import { homeNames, readSmallFile, writeHomeFile } from './paths.ts'
import type { HomePaths } from './paths.ts'

export interface Template {
  readonly name: string
  /** Path of the file. */
  readonly path: string
  /** A description in one line. */
  readonly description?: string
  readonly system?: string
  /** Name of the model, as for `-m`. */
  readonly model?: string
  /** Options in the form of `-o`: `temperature=0`. */
  readonly options: readonly string[]
  readonly prompt: string
  /** The whole file, from which versions are derived. */
  readonly text: string
  /** Defaults by variable, in the order of occurrence, without `question`; `null` without a default. */
  readonly variables: Readonly<Record<string, string | null>>
}

const NAME = /^[A-Za-z0-9][\w.-]{0,99}$/
const VARIABLE = /\{\{\s*([A-Za-z_][\w-]*)\s*(?:=([^{}]*))?\}\}/g
const SETTINGS = ['description', 'system', 'model', 'options'] as const
type Setting = (typeof SETTINGS)[number]

/**
 * Reads a template by its name, or by a path: a text that contains `/` or ends in `.md`.
 *
 * @throws ConfigurationError when the template does not exist, with the nearest name, or cannot be parsed.
 */
export function readTemplate(name: string, paths: HomePaths, cwd: string): Template {
  const isPath = /[/\\]|\.md$/.test(name)
  const path = isPath ? resolve(cwd, name) : templatePath(name, paths)
  if (!existsSync(path)) {
    const names = templateNames(paths)
    const close = isPath ? undefined : nearest(name, names)
    const others = isPath ? '' : names.length === 0 ? ' There are none yet.' : ` There are: ${names.join(', ')}.`
    throw new ConfigurationError(
      `There is no template ${JSON.stringify(name)}.${close === undefined ? '' : ` Did you mean ${close}?`}${others}`,
      { hint: 'Make one with: cria templates save NAME "the prompt"' },
    )
  }
  return parseTemplate(name, path, readSmallFile(path, 'template', { pipes: true }))
}

/** Returns the names of the templates of this home, sorted. */
export function templateNames(paths: HomePaths): readonly string[] {
  return homeNames(folderOf(paths), '.md').filter((name) => NAME.test(name))
}

/**
 * Checks and writes a template. Returns its path.
 *
 * @throws ConfigurationError when the name is taken and `replace` is not set, or the text cannot be parsed.
 */
export function saveTemplate(name: string, text: string, paths: HomePaths, { replace }: { replace: boolean }): string {
  const path = templatePath(name, paths)
  parseTemplate(name, path, text)
  if (!replace && existsSync(path))
    throw new ConfigurationError(`There is a template ${JSON.stringify(name)} already.`, {
      hint: `Look at it with "cria templates show ${name}", or replace it with --force.`,
    })
  writeHomeFile(path, text, paths)
  return path
}

/** Returns the file content for the parts of a template. */
export function formatTemplate({
  system,
  model,
  options,
  prompt,
}: Pick<Template, 'system' | 'model' | 'options' | 'prompt'>): string {
  const settings = [
    ...(model === undefined ? [] : [`model: ${model}`]),
    ...(system === undefined ? [] : ['system: |', ...system.split(/\r?\n/).map((line) => `  ${line}`.trimEnd())]),
    ...(options.length === 0 ? [] : ['options:', ...options.map((option) => `  ${option.replace(/\s*=\s*/, ': ')}`)]),
  ]
  return settings.length === 0 ? prompt : `---\n${settings.join('\n')}\n---\n${prompt}`
}

/**
 * Parses the text of a template.
 *
 * @throws ConfigurationError that names the file, the line and what was expected.
 */
function parseTemplate(name: string, path: string, text: string): Template {
  const [, head = '', body = text] = /^\uFEFF?---[ \t]*\r?\n([^]*?)^---[ \t]*(?:\r?\n|$)([^]*)$/my.exec(text) ?? []
  const found = new Map<Setting, string[]>()
  let lines: string[] = []
  for (const [index, line] of head.split(/\r?\n/).entries()) {
    const [, key, value = ''] = /^([A-Za-z-]+):[ \t]*(.*)$/.exec(line) ?? []
    const setting = SETTINGS.find((each) => each === key)
    if (setting !== undefined) {
      lines = value === '' || value === '|' ? [] : [unquoted(value)]
      found.set(setting, lines)
    } else if (/^\s*$|^#/.test(line)) {
      if (lines.length > 0) lines.push('')
    } else if (key === undefined && /^\s/.test(line) && found.size > 0) {
      lines.push(line)
    } else {
      const close = key === undefined ? undefined : nearest(key, SETTINGS)
      const expected = close === undefined ? `one of ${SETTINGS.join(', ')}` : `"${close}:"`
      throw new ConfigurationError(
        `${path}, line ${index + 2}: expected ${expected}, but got ${JSON.stringify(line.slice(0, 60))}.`,
      )
    }
  }
  const textOfSetting = (setting: Setting): string | undefined => {
    const value = outdented(found.get(setting) ?? [])
    return value === '' ? undefined : value
  }
  const [description, system, model] = [textOfSetting('description'), textOfSetting('system'), textOfSetting('model')]
  const prompt = body.trim()
  if (prompt === '' && system === undefined)
    throw new ConfigurationError(`${path} is empty: expected a prompt or a system prompt.`)
  return {
    name,
    path,
    ...defined({ description, system, model }),
    options: (found.get('options') ?? []).flatMap((line) => optionOf(line, path)),
    prompt,
    text,
    variables: variablesIn(`${system ?? ''}\n${prompt}`),
  }
}

function optionOf(line: string, path: string): string[] {
  if (line.trim() === '') return []
  const [, option, value] = /^\s*([\w.-]+)\s*:\s*(.+)$/.exec(line) ?? []
  if (option === undefined || value === undefined)
    throw new ConfigurationError(
      `${path}: expected an option such as "temperature: 0", but got ${JSON.stringify(line.slice(0, 60))}.`,
    )
  return [`${option}=${unquoted(value.trim())}`]
}

function unquoted(value: string): string {
  return /^(["']).*\1$/.test(value) && value.length > 1 ? value.slice(1, -1) : value
}

function outdented(lines: readonly string[]): string {
  const indent = Math.min(...lines.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length))
  return lines
    .map((line) => line.slice(Number.isFinite(indent) ? indent : 0))
    .join('\n')
    .trim()
}

function variablesIn(text: string): Readonly<Record<string, string | null>> {
  const variables = new Map<string, string | null>()
  for (const [, name = '', value] of text.matchAll(VARIABLE)) {
    if (name !== 'question') variables.set(name, value ?? variables.get(name) ?? null)
  }
  return Object.fromEntries(variables)
}

/**
 * Fills the variables of prompt and system prompt; values are inserted literally and not searched for variables. A question without a
 * placeholder is appended to the prompt. The journal numbers the versions of the template by its name.
 *
 * @throws ConfigurationError for variables without a value, and for values without a variable.
 */
export function fillTemplate(
  { name, prompt, system, variables, text: template }: Template,
  question: string,
  given: Readonly<Record<string, string>>,
): { readonly prompt: FilledPrompt; readonly system: string | undefined } {
  const known = Object.keys(variables)
  const unknown = Object.keys(given).find((each) => !known.includes(each))
  if (unknown !== undefined) {
    const close = nearest(unknown, known)
    const has = known.length === 0 ? 'It has none.' : `It has ${known.join(', ')}.`
    throw new ConfigurationError(
      `The template ${name} has no variable ${JSON.stringify(unknown)}.${close === undefined ? '' : ` Did you mean ${close}?`} ${has}`,
    )
  }
  const missing = known.filter((each) => variables[each] === null && !Object.hasOwn(given, each))
  if (missing.length > 0) {
    throw new ConfigurationError(`The template ${name} needs ${missing.join(', ')}.`, {
      hint: `Give it with ${missing.map((each) => `-p ${each}=VALUE`).join(' ')}`,
    })
  }
  const fill = (text: string): string =>
    text.replaceAll(VARIABLE, (_, variable: string) =>
      variable === 'question' ? question : ((Object.hasOwn(given, variable) ? given[variable] : variables[variable]) ?? ''),
    )
  const hasPlace = [...prompt.matchAll(VARIABLE)].some(([, variable]) => variable === 'question')
  const text = hasPlace ? fill(prompt) : [fill(prompt), question].filter((each) => each.trim() !== '').join('\n\n')
  const version = { name: basename(name, '.md').slice(0, 80), hash: sha256(template), template }
  return { prompt: { ...version, text, toString: () => text }, system: system === undefined ? undefined : fill(system) }
}

function templatePath(name: string, paths: HomePaths): string {
  if (!NAME.test(name))
    throw new ConfigurationError(
      `A template is named with letters, digits, ".", "_" and "-" (at most 100, beginning with a letter or digit), but got ${JSON.stringify(name.slice(0, 100))}.`,
    )
  return join(folderOf(paths), `${name}.md`)
}

function folderOf({ home }: HomePaths): string {
  return join(home, 'templates')
}
