/** Declares `cria templates`, which lists, shows and saves prompt templates. */

import { homePaths } from '../../app/paths.ts'
import { formatTemplate, readTemplate, saveTemplate, templateNames } from '../../app/templates.ts'
import type { Template } from '../../app/templates.ts'
import { toCriaError } from '../../core/error.ts'
import { defineCommand, jsonOption } from '../command.ts'
import type { Command } from '../command.ts'
import { printTable, shorten } from '../format.ts'
import { note, printJson } from '../io.ts'
import { modelSettings } from '../model-options.ts'
import { readText } from '../read-text.ts'
import { OPTIONS } from '../shared-options.ts'
import { defined } from '../../util/check.ts'

const DETAILS = `A template is a Markdown file in templates/ in the home directory of cria, which you can edit and share. It may begin with
settings between two lines of ---: description, system, model, options. {{name}} is a variable, {{name=value}} a variable
with a default, and {{question}} the question; without it the question is appended.`

export const templatesList: Command = defineCommand({
  name: 'templates list',
  options: { json: jsonOption('{ templates: [{ name, path, description, variables, … }] }') },
  details: DETAILS,
  examples: ['cria templates list'],
  async run({ options }, io) {
    const paths = homePaths(io)
    const templates: Template[] = []
    for (const name of templateNames(paths)) {
      try {
        templates.push(readTemplate(name, paths, io.cwd))
      } catch (thrown) {
        // An unreadable template must not hide the others.
        await note(io, toCriaError(thrown).message)
      }
    }
    if (options.json) return printJson(io, { templates })
    if (templates.length === 0) await note(io, 'there are no templates yet: cria templates save NAME "the prompt"')
    const rows = templates.map(({ name, variables, description, prompt, system = '' }) => [
      name,
      Object.keys(variables).join(', '),
      shorten(description ?? (prompt === '' ? system : prompt), 80),
    ])
    await printTable(io, rows)
  },
})

export const templatesShow: Command = defineCommand({
  name: 'templates show',
  arguments: [{ name: 'name', about: 'name of a template, or path of its file', offers: 'templates' }],
  options: { json: jsonOption('{ name, path, system, model, options, prompt, variables }') },
  details: DETAILS,
  examples: ['cria templates show review', 'cria templates show review > review.md'],
  async run({ arguments: [name = ''], options }, io) {
    const template = readTemplate(name, homePaths(io), io.cwd)
    if (options.json) await printJson(io, template)
    else await io.stdout.write(template.text)
  },
})

export const templatesSave: Command = defineCommand({
  name: 'templates save',
  arguments: [
    { name: 'name', about: 'name of the template', offers: 'templates' },
    { name: 'prompt', about: 'the prompt; "-" or no argument reads the whole file from standard input', required: false },
  ],
  options: {
    system: OPTIONS.system,
    model: { type: 'text', short: 'm', value: 'MODEL', about: 'the model to ask' },
    option: OPTIONS.option,
    force: { type: 'flag', about: 'replace an existing template of this name' },
  },
  details: DETAILS,
  examples: [
    'cria templates save review "Review this change for {{what=mistakes}}." -s "You are strict and brief." -o temperature=0',
    'cria templates save review --force < review.md',
  ],
  async run({ arguments: [name = '', given], options }, io) {
    const { system, model, option } = options
    modelSettings(option)
    const isPiped = given === undefined && system === undefined
    const prompt = given === undefined && !isPiped ? '' : await readText(given ?? '-', 'template', io)
    const isWhole = system === undefined && model === undefined && option.length === 0
    const text = isWhole ? prompt : formatTemplate({ ...defined({ system, model }), options: option, prompt })
    await note(io, `saved as ${saveTemplate(name, text, homePaths(io), { replace: options.force })}`)
  },
})
