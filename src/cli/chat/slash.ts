/** Declares, parses and runs the slash commands of a chat. */

import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { EditState } from '../../app/agent-tools.ts'
import type { LoadedConfig } from '../../app/config.ts'
import { reason } from '../../app/paths.ts'
import { ConfigurationError, CriaError } from '../../core/error.ts'
import type { Message } from '../../core/message.ts'
import { fit } from '../../util/cells.ts'
import { nearest } from '../../util/nearest.ts'
import { exactText, visibleLine, visibleText } from '../../util/terminal.ts'
import { formatCost, formatMs, plural, table } from '../format.ts'
import type { Io } from '../io.ts'
import { foldedLine } from '../tool-call-view.ts'
import type { Conversation } from './conversation.ts'
import { numbered } from './front.ts'
import type { Front } from './front.ts'
import { chooseSession, continueSession } from './sessions.ts'
import { costOf, formatTokens } from './status.ts'

export interface SlashContext {
  readonly conversation: Conversation
  readonly front: Front
  readonly loaded: LoadedConfig
  readonly io: Io
}

interface SlashCommand {
  readonly name: string
  readonly argument?: string
  readonly about: string
  /** Does not change the conversation, so it may run during a turn. */
  readonly isImmediate?: true
  /** @returns `leave` to end the chat. */
  run(argument: string, ctx: SlashContext): Promise<'leave' | void>
}

export const SLASH_COMMANDS: readonly SlashCommand[] = [
  { name: 'help', about: 'list commands and keys', isImmediate: true, run: help },
  { name: 'model', argument: '[NAME]', about: 'choose another model, or keep this one', run: model },
  { name: 'tools', about: 'list the tools of the model, and which ask for permission', isImmediate: true, run: tools },
  {
    name: 'show',
    argument: '[N]',
    about: 'show a tool call in full; without a number the last one',
    isImmediate: true,
    run: show,
  },
  { name: 'allow', argument: 'RULE', about: 'allow these calls without asking: edit_file(src/**)', run: allow },
  {
    name: 'steer',
    argument: 'TEXT',
    about: 'send a message to the model before its next step',
    isImmediate: true,
    run: steer,
  },
  { name: 'cost', about: 'show what this session has used', isImmediate: true, run: cost },
  { name: 'compact', about: 'summarise older messages to make room', run: compact },
  { name: 'resume', argument: '[ID]', about: 'continue another session', run: resume },
  { name: 'fork', about: 'continue in a copy of this session', run: fork },
  {
    name: 'changes',
    argument: '[N]',
    about: 'list what tools have written in this chat; with a number show the diff',
    isImmediate: true,
    run: changes,
  },
  { name: 'undo', argument: '[N]', about: 'undo the last change, or the change of this number', run: undo },
  {
    name: 'run',
    argument: 'COMMAND',
    about: 'run a command yourself, as !COMMAND; its output goes to the model',
    run: ownCommand,
  },
  { name: 'export', argument: '[FILE]', about: 'write the session to a new file, .md or .json', run: exportTo },
  { name: 'new', about: 'start a new session', run: startAnew },
  { name: 'exit', about: 'leave', isImmediate: true, run: () => Promise.resolve('leave') },
]

const ALIASES: ReadonlyMap<string, string> = new Map([
  ['?', 'help'],
  ['quit', 'exit'],
  ['q', 'exit'],
  ['clear', 'new'],
])

/** Parses a command: `/model main`, or `!ls` for `/run ls`. `undefined` for a message, which may begin with a path. */
export function slashOf(text: string): { readonly name: string; readonly argument: string } | undefined {
  // Only a single line: a pasted text with more lines is not run.
  const [, command] = /^!(?!\s*$)([^\n]+)$/.exec(text.trim()) ?? []
  if (command !== undefined) return { name: 'run', argument: command.trim() }
  const [, name, argument = ''] = /^\/([a-z?][\w-]*)(?:\s+([^]*))?$/i.exec(text.trim()) ?? []
  return name === undefined ? undefined : { name: ALIASES.get(name) ?? name, argument: argument.trim() }
}

/** Returns whether a line is a command that may run during a turn. */
export function isImmediate(text: string): boolean {
  const name = slashOf(text)?.name
  return SLASH_COMMANDS.some((command) => command.name === name && command.isImmediate === true)
}

/** Runs a command. @throws ConfigurationError for an unknown command, with a suggestion. */
export async function runSlash(text: string, ctx: SlashContext): Promise<'leave' | void> {
  const { name, argument } = slashOf(text) ?? { name: '', argument: '' }
  const command = SLASH_COMMANDS.find((each) => each.name === name)
  if (command !== undefined) return command.run(argument, ctx)
  const names = SLASH_COMMANDS.map((each) => each.name)
  const close = nearest(name, names)
  throw new ConfigurationError(
    `There is no command /${name.slice(0, 60)}.${close === undefined ? '' : ` Did you mean /${close}?`}`,
    { hint: 'See: /help' },
  )
}

const KEYS = [
  ['!COMMAND', 'run a command yourself'],
  ['Enter', 'send; during a turn: send after it (/steer sends at once)'],
  ['\\ Enter, Alt-Enter, Ctrl-J', 'a new line'],
  ['@FILE', 'send this file with the message: text, image or PDF'],
  ['Tab', 'complete a command or a path'],
  ['Up, Down', 'earlier messages'],
  ['Esc', 'stop the turn; the session continues'],
  ['Ctrl-C', 'the same, or clear the line; twice: leave'],
  ['Ctrl-D', 'leave'],
  ['Ctrl-R', 'search earlier messages'],
  ['Ctrl-O', 'show the last tool call in full'],
] as const

/** Returns the maximum cells per line: unlimited without a user at a terminal. */
function roomOn({ canAsk, columns }: Front): number {
  return canAsk ? columns : Infinity
}

async function help(_: string, { front }: SlashContext): Promise<void> {
  const rows = SLASH_COMMANDS.map(({ name, argument = '', about }) => [`/${name} ${argument}`.trimEnd(), about])
  await front.print(`${table(rows, [], roomOn(front))}\n${table(KEYS, [], roomOn(front))}`)
}

async function model(given: string, ctx: SlashContext): Promise<void> {
  const { conversation, front, loaded } = ctx
  const name = given === '' && front.canAsk ? await chosenModel(ctx) : given
  if (name === undefined) return
  if (name !== '') await conversation.switchModel(name)
  const { model: ref, window } = conversation.status
  const size = window === null ? '' : ` (${formatTokens(window)} of context)`
  await front.note(`${name === '' ? 'the model is' : 'continuing with'} ${ref}${size}.`)
  const named = Object.entries(loaded.config.models ?? {}).map(([pointer, target]) => `${pointer} = ${target}`)
  if (name === '' && named.length > 0) await front.note(`model aliases: ${named.join(', ')}`)
}

/** Models offered per provider. */
const MOST_OFFERED = 100

/** Offers the models of the configuration and of the providers. Resolves to an empty text for the current model, `undefined` without a choice. */
async function chosenModel({ conversation, front, loaded, io }: SlashContext): Promise<string | undefined> {
  const { config } = loaded
  const { modelsOnOffer } = await import('../../app/providers.ts')
  const refs = await front.busy((signal) => modelsOnOffer({ env: io.env, config }, signal, MOST_OFFERED))
  const others = [...new Set(refs)].filter((ref) => ref !== conversation.model)
  const offered = [
    { name: '', label: `${conversation.model} (current)` },
    ...Object.entries(config.models ?? {}).map(([name, target]) => ({ name, label: `${name} = ${target}` })),
    ...others.map((ref) => ({ name: ref, label: ref })),
    { name: undefined, label: 'another model: type its name' },
  ]
  const labels = offered.map(({ label }) => visibleLine(label))
  const chosen = await front.choose('Which model?', numbered(labels), { initial: 0 })
  if (chosen === undefined || offered[chosen]?.name !== undefined) return offered[chosen ?? -1]?.name
  const typed = (await front.ask('Its name, provider/model:'))?.trim() ?? ''
  return typed === '' ? undefined : typed
}

const STATES: Readonly<Record<EditState, string>> = { left: '', changed: 'changed since', undone: 'undone' }

async function changes(argument: string, { conversation, front }: SlashContext): Promise<void> {
  const { edits } = conversation
  if (argument !== '') return front.print(`${exactText(edits.find(Number(argument)).diff).trimEnd()}\n`)
  if (edits.all.length === 0) return front.note('no tool has written a file in this chat. Changes by commands are not listed.')
  const rows = edits.all.map(async ({ number, name, added, removed, isNew }) => [
    String(number),
    visibleLine(name),
    `${isNew ? 'new, ' : ''}${plural(added, 'line')} added, ${removed} removed`,
    STATES[await edits.stateOf(number)],
  ])
  await front.print(table(await Promise.all(rows), [0], roomOn(front)))
}

async function undo(argument: string, { conversation, front }: SlashContext): Promise<void> {
  const { edits } = conversation
  const number = argument === '' ? edits.last : Number(argument)
  if (number === undefined)
    throw new CriaError('not_found', 'There is no change to undo.', { hint: '/changes lists the changes of this chat.' })
  const { name, isNew } = await edits.undo(number)
  await front.note(isNew ? `${name} is removed again.` : `${name} is as it was before edit ${number}.`)
}

/** Maximum output lines that are shown. */
const MOST_OUTPUT = 100

async function ownCommand(command: string, { conversation, front, io }: SlashContext): Promise<void> {
  if (!front.canAsk)
    throw new ConfigurationError('Commands can only be run from a terminal, because input from a pipe may not be your own.')
  if (command === '') throw new ConfigurationError('Name a command: !git status')
  const { runOwnCommand } = await import('../../app/user-programs.ts')
  const surroundings = { env: io.env, cwd: conversation.folder }
  const { text, exitCode } = await front.busy((signal) => runOwnCommand(command, surroundings, signal))
  const lines = text === '' ? [] : visibleText(text).split('\n')
  const left = lines.length - MOST_OUTPUT
  if (lines.length > 0) await front.print(`${lines.slice(0, MOST_OUTPUT).join('\n')}\n`)
  const more = left > 0 ? `${plural(left, 'more line')}. ` : ''
  const ending = exitCode === null ? 'It was stopped. ' : exitCode === 0 ? '' : `It ended with exit code ${exitCode}. `
  await front.note(`${more}${ending}The output is sent to the model with your next message.`)
  const output = `${text}\n[exit code ${exitCode ?? 'none: it was stopped'}]`
  conversation.handOver(output, `output of the user's own command: ${command}`)
}

async function tools(_: string, { conversation, front }: SlashContext): Promise<void> {
  const rows = conversation.tools.map(({ name, description, needsPermission = true }) => {
    const sometimes = needsPermission === false ? 'free' : 'asks sometimes'
    const asks = conversation.isSafe || needsPermission === true ? 'asks' : sometimes
    return [name, asks, visibleLine(description.split(/(?<=[.:;])\s/)[0] ?? '')]
  })
  await front.print(table(rows, [], roomOn(front)))
  for (const rule of conversation.allowed) await front.note(`allowed in this chat: ${rule}`)
}

async function show(argument: string, { conversation, front }: SlashContext): Promise<void> {
  const { calls } = conversation
  const call = argument === '' ? calls.last : calls.find(Number(argument))
  if (call === undefined) {
    const missing = argument === '' ? 'There are no tool calls yet.' : `There is no tool call ${argument.slice(0, 20)}.`
    throw new CriaError('not_found', missing)
  }
  const input = exactText(JSON.stringify(call.input, undefined, 2))
  const content = visibleText(call.content.trimEnd())
  await front.print(`${front.style('bold', foldedLine(call))}\n${front.style('dim', input)}\n${content}\n`)
}

async function allow(rule: string, { conversation, front }: SlashContext): Promise<void> {
  if (rule === '') throw new ConfigurationError('Name a rule: /allow edit_file(src/**) or /allow run_command(npm test)')
  conversation.allow(rule)
  await front.note(`allowed in this chat: ${rule}`)
}

async function cost(_: string, { conversation, front }: SlashContext): Promise<void> {
  const { spent, sessionId, journal } = conversation
  const { turns } = sessionId === undefined ? { turns: [] } : await journal.read.turns({ sessionId, limit: 10 })
  const rows = turns
    .toReversed()
    .map(({ usage, costUsd, latencyMs, model: ref, question }) => [
      formatTokens((usage.inputTokens ?? 0) + (usage.outputTokens ?? 0)),
      formatCost(costUsd),
      formatMs(latencyMs),
      visibleLine(ref),
      visibleLine(question.slice(0, 40)),
    ])
  const lines = table(rows, [0, 1, 2]).split('\n')
  await front.print(lines.map((line) => fit(line, roomOn(front))).join('\n'))
  const tokens = `${formatTokens(spent.inputTokens)} in, ${formatTokens(spent.outputTokens)} out`
  const where = sessionId === undefined ? '' : ` in session ${sessionId}`
  await front.note(`${plural(spent.turns, 'turn')}, ${tokens}, ${costOf(spent)}${where}`)
}

async function steer(text: string, { conversation, front }: SlashContext): Promise<void> {
  if (text === '') throw new ConfigurationError('The message is empty: write /steer TEXT.')
  conversation.steering.steer(text)
  await front.note('sent to the model before its next step.')
}

async function compact(_: string, { conversation, front }: SlashContext): Promise<void> {
  await front.follow((signal) => conversation.compact(signal), conversation.calls)
}

async function fork(_: string, { conversation, front }: SlashContext): Promise<void> {
  const before = conversation.sessionId
  const title = `Fork of ${before ?? 'a session'}`
  if ((await front.follow((signal) => conversation.fork(signal, title), conversation.calls)) !== 0) return
  await front.note(`continuing in ${conversation.sessionId ?? ''}; ${before ?? ''} is unchanged.`)
}

async function resume(id: string, { conversation, front }: SlashContext): Promise<void> {
  const { journal, folder } = conversation
  const chosen = id === '' ? await chooseSession(journal, front, folder) : id
  if (chosen === undefined) return
  await continueSession(chosen, conversation, front)
  const [session] = await journal.sessions({ sessionId: chosen, limit: 1 })
  const before = session?.settings?.['model']
  if (typeof before === 'string' && before !== conversation.model) {
    await conversation.switchModel(before)
    await front.note(`the model is ${conversation.model}, as before in this session.`)
  }
  if (session?.folder != null && session.folder !== folder)
    await front.note(
      `this session was started in ${session.folder}; tools work in ${folder}. To work there: cria chat --resume ${chosen}`,
    )
}

async function startAnew(_: string, { conversation, front }: SlashContext): Promise<void> {
  conversation.begin()
  await front.note('your next message starts a new session; /resume returns to this one.')
}

async function exportTo(argument: string, { conversation, front, io }: SlashContext): Promise<void> {
  const { sessionId } = conversation
  if (sessionId === undefined) throw new ConfigurationError('This session has no messages yet.')
  const file = resolve(io.cwd, argument === '' ? `cria-${sessionId}.md` : argument)
  const text = exportText(await conversation.journal.read.history(sessionId), sessionId, file.endsWith('.json'))
  try {
    // An existing file is never overwritten.
    await writeFile(file, text, { flag: 'wx', mode: 0o600 })
  } catch (cause) {
    throw new CriaError('store_failed', `${file} cannot be written: ${reason(cause)}.`, { cause })
  }
  await front.note(`written to ${file}`)
}

export function exportText(messages: readonly Message[], sessionId: string, isJson: boolean): string {
  if (isJson) return `${JSON.stringify({ sessionId, messages }, undefined, 2)}\n`
  return `# Session ${sessionId}\n\n${messages.map(section).join('\n')}`
}

function section({ role, content, parts, toolCalls = [] }: Message): string {
  if (role === 'tool') {
    const results = parts.flatMap((part) => (part.type === 'tool-result' ? [`**${part.name}**\n\n${fenced(part.content)}`] : []))
    return results.join('\n')
  }
  const calls = toolCalls.map(({ name, input }) => `\`${name}\`\n\n${fenced(JSON.stringify(input, undefined, 2), 'json')}`)
  const title = role === 'user' ? 'User' : role === 'assistant' ? 'Assistant' : role
  return [`## ${title}\n`, ...(content.trim() === '' ? [] : [`${content.trimEnd()}\n`]), ...calls].join('\n')
}

/** Puts a text into a code block, with a fence longer than any in the text. */
function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text.trimEnd()}\n${fence}\n`
}
