/** Declares `cria trust`, which shows, gives and withdraws the trust in the configuration and the instructions of a project. */

import { readProjectConfig } from '../../app/config.ts'
import type { CriaConfig } from '../../app/config-schema.ts'
import { findProjectFiles } from '../../app/context/built-in.ts'
import type { ProjectFiles } from '../../app/context/built-in.ts'
import { homePaths } from '../../app/paths.ts'
import type { HomePaths } from '../../app/paths.ts'
import {
  approvalsFor,
  findProjectConfig,
  forgetApproval,
  revokeInstructions,
  revokeTrust,
  trust,
  trustedInstructions,
  trustInstructions,
  trustState,
} from '../../app/trust.ts'
import type { ProjectConfig, TrustState } from '../../app/trust.ts'
import { CriaError } from '../../core/error.ts'
import { visibleText } from '../../util/terminal.ts'
import { defineCommand, jsonOption } from '../command.ts'
import type { Command } from '../command.ts'
import { formatTime } from '../format.ts'
import { note, printJson } from '../io.ts'
import type { Io } from '../io.ts'

export const trustFolder: Command = defineCommand({
  name: 'trust',
  options: {
    revoke: { type: 'flag', about: 'withdraw the trust' },
    forget: { type: 'text', value: 'RULE', about: 'remove a rule that was kept by answering "always"' },
    show: { type: 'flag', about: 'only show the files and whether they are trusted' },
    json: jsonOption('{ folder, file, sha256, trust, config, instructions, approvals }'),
  },
  details: `A project's .cria/config.json can name models, base URLs, rules and programs to start (MCP servers), so it is ignored until
you trust it. AGENTS.md and similar files, from the root of the repository down to this folder, are sent to the model as
data until you trust them, then as instructions. Trust is bound to this folder and to the content of each file: a changed
file has to be trusted again. --show also lists the rules that were kept by answering "always" in a chat.`,
  examples: ['cria trust --show', 'cria trust', 'cria trust --revoke'],
  async run({ options }, io) {
    const paths = homePaths(io)
    const project = findProjectConfig(io.cwd, paths)
    const found = await findProjectFiles(io.cwd)
    if (options.forget !== undefined) return forget(options.forget, paths, io)
    if (options.revoke) {
      const folder = project?.folder ?? io.cwd
      const wasTrusted = [revokeTrust(folder, paths), revokeInstructions(found.root, paths)].includes(true)
      if (options.json) return printJson(io, viewOf(project, found, null, io))
      return note(io, wasTrusted ? `${folder} is no longer trusted.` : `${folder} was not trusted.`)
    }

    const whole = found.files.filter(({ isCut }) => !isCut)
    if (project === undefined && whole.length === 0) {
      const nothing = `There is nothing to trust: no .cria/config.json or AGENTS.md in ${io.cwd}, nor above it in its repository.`
      if (!options.show) throw new CriaError('not_found', nothing)
      if (!options.json) await note(io, nothing)
    }
    const config = project === undefined ? null : readProjectConfig(project)
    if (!options.show) {
      if (project !== undefined) trust(project, paths)
      if (whole.length > 0) trustInstructions(found.root, whole, paths)
    }
    const view = viewOf(project, found, config, io)
    if (options.json) await printJson(io, view)
    else await show(view, found, io)
  },
})

async function forget(rule: string, paths: HomePaths, io: Io): Promise<void> {
  if (forgetApproval(rule, io.cwd, paths)) return note(io, `${rule} is removed.`)
  const rules = approvalsFor(io.cwd, paths).map((approval) => approval.rule)
  const hint = rules.length === 0 ? {} : { hint: `Kept rules: ${rules.join(', ')}.` }
  throw new CriaError('not_found', `There is no kept rule ${JSON.stringify(rule)} for ${io.cwd} or for all folders.`, hint)
}

type TrustView = ReturnType<typeof viewOf>

/** Builds the object that `--json` prints. @param config `null` if it was not read */
function viewOf(project: ProjectConfig | undefined, found: ProjectFiles, config: CriaConfig | null, io: Io) {
  const paths = homePaths(io)
  const trusted = trustedInstructions(found.root, paths)
  const stateOf = (name: string, hash: string): TrustState => {
    const known = trusted.get(name)
    if (known === undefined) return 'untrusted'
    return known === hash ? 'trusted' : 'changed'
  }
  const instructions = found.files.map(({ name, hash }) => ({ file: name, sha256: hash, trust: stateOf(name, hash) }))
  const all = instructions.length > 0 && instructions.every((one) => one.trust === 'trusted') ? 'trusted' : 'untrusted'
  return {
    folder: project?.folder ?? (found.files.length > 0 ? found.root : io.cwd),
    file: project?.file ?? null,
    sha256: project?.hash ?? null,
    // State of the configuration; without a configuration, of all instruction files.
    trust: project === undefined ? all : trustState(project, paths),
    config,
    instructions,
    // Rules kept by answering "always"; `folder` is `null` for rules that apply everywhere.
    approvals: approvalsFor(io.cwd, paths),
  }
}

/** Prints rules, configuration and instruction files in full, so that the user sees everything that is trusted. */
async function show(view: TrustView, found: ProjectFiles, io: Io): Promise<void> {
  const { file, config, instructions, approvals } = view
  for (const { rule, folder, at } of approvals)
    await note(io, `allowed ${folder === null ? 'everywhere' : `in ${folder}`} since ${formatTime(Date.parse(at))}: ${rule}`)
  if (config !== null) {
    await io.stdout.write(`${visibleText(JSON.stringify(config, undefined, 2))}\n`)
    await note(io, view.trust === 'trusted' ? `${file} is used from now on.` : `${file} is ignored (${view.trust}).`)
  }
  for (const [index, { name, text, isCut }] of found.files.entries()) {
    const state = instructions[index]?.trust ?? 'untrusted'
    await io.stdout.write(`${visibleText(text.trimEnd())}\n`)
    if (isCut) await note(io, `${name} is sent to the model as data: it is larger than 1 MB.`)
    else if (state === 'trusted') await note(io, `${name} is sent to the model as instructions from now on.`)
    else await note(io, `${name} is sent to the model as data (${state}).`)
  }
}
