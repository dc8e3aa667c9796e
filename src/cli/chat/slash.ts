/** Carries out slash commands. */

import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { reason } from '../../app/paths.ts'
import { ConfigurationError, CriaError } from '../../core/error.ts'
import type { LoadedConfig } from '../../app/config.ts'
import { nearest } from '../../util/nearest.ts'
import { exactText, visibleLine, visibleText } from '../../util/terminal.ts'
import { fit } from '../../util/cells.ts'
import { formatCost, formatMs, plural, table } from '../format.ts'
import type { Io } from '../io.ts'
import type { Conversation } from './conversation.ts'
import { foldedLine } from './fold.ts'
import type { Front } from './front.ts'
import { exportText } from './export.ts'
import { chooseSession, takeUp } from './sessions.ts'
import { slashOf } from './slash-names.ts'
import type { SlashName } from './slash-names.ts'
import { costOf, formatTokens } from './status.ts'

export interface SlashContext {
  readonly conversation: Conversation
  readonly front: Front
  readonly loaded: LoadedConfig
  readonly io: Io
  /** Shows the events of a turn that asks nothing. */
  readonly follow: (make: (signal: AbortSignal) => ReturnType<Conversation['compact']>) => Promise<number>
}

export interface SlashCommand {
  readonly name: SlashName
  readonly argument?: string
  readonly about: string
  /** Changes nothing, so it need not wait until a turn is over. */
  readonly isImmediate?: boolean
  /** `leave`: the chat is over. */
  run(argument: string, ctx: SlashContext): Promise<'leave' | void>
}

export const SLASH_COMMANDS: readonly SlashCommand[] = [
  { name: 'help', about: 'what can be typed here', isImmediate: true, run: (_, { front }) => front.tell(help(roomOn(front))) },
  { name: 'model', argument: '[NAME]', about: 'show the model, or go on with another one', run: model },
  { name: 'tools', about: 'what the model may use, and what is asked about', isImmediate: true, run: tools },
  { name: 'show', argument: '[N]', about: 'a tool call in full; without a number the last one', isImmediate: true, run: show },
  { name: 'allow', argument: 'RULE', about: 'ask no more about these calls: edit_file(src/**)', run: allow },
  {
    name: 'steer',
    argument: 'TEXT',
    about: 'tell the model while it works: it reads this before its next step',
    isImmediate: true,
    run: steer,
  },
  { name: 'cost', about: 'what this session has used', isImmediate: true, run: cost },
  { name: 'compact', about: 'summarise what was said, so that there is room again', run: compact },
  { name: 'resume', argument: '[ID]', about: 'go on with another session', run: resume },
  { name: 'fork', about: 'go on in a session of its own; this one stays as it is', run: fork },
  { name: 'export', argument: '[FILE]', about: 'write the conversation to a new file, .md or .json', run: exportTo },
  { name: 'new', about: 'begin a new session', run: startAnew },
  { name: 'exit', about: 'leave', isImmediate: true, run: () => Promise.resolve('leave') },
]

export function findSlash(name: string): SlashCommand | undefined {
  return SLASH_COMMANDS.find((command) => command.name === name)
}

/** @throws ConfigurationError for a command that is not there, with the one that may have been meant. */
export async function runSlash(text: string, ctx: SlashContext): Promise<'leave' | void> {
  const { name, argument } = slashOf(text) ?? { name: '', argument: '' }
  const command = findSlash(name)
  if (command !== undefined) return command.run(argument, ctx)
  const close = nearest(
    name,
    SLASH_COMMANDS.map((each) => each.name),
  )
  throw new ConfigurationError(
    `There is no command /${name.slice(0, 60)}.${close === undefined ? '' : ` Did you mean /${close}?`}`,
    { hint: 'See: /help' },
  )
}

function help(room: number): string {
  const rows = SLASH_COMMANDS.map(({ name, argument = '', about }) => [`/${name} ${argument}`.trimEnd(), about] as const)
  const keys = [
    ['Enter', 'send; while the model works: say it after the turn (/steer tells it at once)'],
    ['\\ Enter, Alt-Enter, Ctrl-J', 'a new line'],
    ['Tab', 'complete a command or a path'],
    ['Up, Down', 'what was typed before'],
    ['Esc', 'stop what is going on; the session goes on'],
    ['Ctrl-C', 'the same, or clear the line; twice: leave'],
    ['Ctrl-D', 'leave'],
    ['Ctrl-R', 'look back through what was typed'],
    ['Ctrl-O', 'the last tool call in full'],
  ] as const
  return `${table(rows, [], room)}\n${table(keys, [], room)}`
}

/** Cells of a line; where nobody can be asked, nobody reads at a terminal. */
function roomOn({ canAsk, columns }: SlashContext['front']): number {
  return canAsk ? columns : Infinity
}

async function model(name: string, { conversation, front, loaded }: SlashContext): Promise<void> {
  if (name !== '') await conversation.switchModel(name)
  const { model: ref, window } = conversation.status
  await front.note(
    `${name === '' ? 'the model is' : 'going on with'} ${ref}${window === null ? '' : ` (${formatTokens(window)} of context)`}.`,
  )
  const named = Object.entries(loaded.config.models ?? {}).map(([pointer, target]) => `${pointer} = ${target}`)
  if (name === '' && named.length > 0) await front.note(`names for models: ${named.join(', ')}`)
}

async function tools(_: string, { conversation, front }: SlashContext): Promise<void> {
  const rows = conversation.tools.map(({ name, description, needsPermission }) => [
    name,
    conversation.isSafe || needsPermission === undefined || needsPermission === true
      ? 'asks'
      : needsPermission === false
        ? 'free'
        : 'asks sometimes',
    visibleLine(description.split(/(?<=[.:;])\s/)[0] ?? ''),
  ])
  await front.tell(table(rows, [], roomOn(front)))
  for (const rule of conversation.allowed) await front.note(`allowed in this chat: ${rule}`)
}

async function show(argument: string, { conversation, front }: SlashContext): Promise<void> {
  const { calls } = conversation
  const call = argument === '' ? calls.last : calls.find(Number(argument))
  if (call === undefined) {
    throw new CriaError(
      'not_found',
      argument === '' ? 'No tool was called yet.' : `There is no tool call ${argument.slice(0, 20)}.`,
    )
  }
  const input = exactText(JSON.stringify(call.input, undefined, 2))
  const content = visibleText(call.content.trimEnd())
  await front.tell(`${front.style('bold', foldedLine(call))}\n${front.style('dim', input)}\n${content}\n`)
}

async function allow(rule: string, { conversation, front }: SlashContext): Promise<void> {
  if (rule === '') throw new ConfigurationError('Name a rule: /allow edit_file(src/**) or /allow run_command(npm test)')
  conversation.allow(rule)
  await front.note(`allowed in this chat: ${rule}`)
}

async function cost(_: string, { conversation, front }: SlashContext): Promise<void> {
  const { spent, sessionId } = conversation
  const { turns } = sessionId === undefined ? { turns: [] } : await conversation.journal.read.turns({ sessionId, limit: 10 })
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
  await front.tell(lines.map((line) => fit(line, roomOn(front))).join('\n'))
  const { inputTokens, outputTokens } = spent
  await front.note(
    `${plural(spent.turns, 'turn')}, ${formatTokens(inputTokens)} in, ${formatTokens(outputTokens)} out, ${costOf(spent)}${sessionId === undefined ? '' : ` in session ${sessionId}`}`,
  )
}

async function steer(text: string, { conversation, front }: SlashContext): Promise<void> {
  if (text === '') throw new ConfigurationError('Nothing to tell the model: write /steer and what it should know.')
  conversation.steering.steer(text)
  await front.note('the model is told before its next step.')
}

async function compact(_: string, { conversation, follow }: SlashContext): Promise<void> {
  await follow((signal) => conversation.compact(signal))
}

async function fork(_: string, { conversation, follow, front }: SlashContext): Promise<void> {
  const before = conversation.sessionId
  if ((await follow((signal) => conversation.fork(signal, `Fork of ${before ?? 'a session'}`))) !== 0) return
  await front.note(`going on in ${conversation.sessionId ?? ''}; ${before ?? ''} stays as it is.`)
}

async function resume(id: string, { conversation, front }: SlashContext): Promise<void> {
  const chosen = id === '' ? await chooseSession(conversation.journal, front) : id
  if (chosen !== undefined) await takeUp(chosen, conversation, front)
}

async function startAnew(_: string, { conversation, front }: SlashContext): Promise<void> {
  conversation.begin()
  await front.note('a new session; /resume goes back.')
}

async function exportTo(argument: string, { conversation, front, io }: SlashContext): Promise<void> {
  const { sessionId } = conversation
  if (sessionId === undefined) throw new ConfigurationError('Nothing has been said in this session yet.')
  const file = resolve(io.cwd, argument === '' ? `cria-${sessionId}.md` : argument)
  const text = exportText(await conversation.journal.read.history(sessionId), sessionId, file.endsWith('.json'))
  try {
    // Never over something that is there.
    await writeFile(file, text, { flag: 'wx', mode: 0o600 })
  } catch (cause) {
    throw new CriaError('store_failed', `${file} cannot be written: ${reason(cause)}.`, { cause })
  }
  await front.note(`written to ${file}`)
}
