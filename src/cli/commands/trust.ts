import { readProjectConfig } from '../../app/config.ts'
import { homePaths } from '../../app/paths.ts'
import { findProjectConfig, revokeTrust, trust, trustState } from '../../app/trust.ts'
import { CriaError } from '../../core/error.ts'
import { visibleText } from '../../util/terminal.ts'
import { defineCommand } from '../command.ts'
import type { Command } from '../command.ts'
import { note, toJsonLine } from '../io.ts'

export const trustFolder: Command = defineCommand({
  name: 'trust',
  options: {
    revoke: { type: 'flag', about: 'take the trust back' },
    show: { type: 'flag', about: 'only say what would count, and whether it does' },
    json: { type: 'flag', about: 'print one JSON object: { folder, file, sha256, trust }' },
  },
  details: `A project's .cria/config.json can name models, base URLs and rules, so it does not count before you say so.
Trust is bound to this folder and to the content of the file: when it changes, cria asks again.`,
  examples: ['cria trust --show', 'cria trust', 'cria trust --revoke'],
  async run({ options }, io) {
    const paths = homePaths(io)
    const project = findProjectConfig(io.cwd, paths)

    if (options.revoke) {
      const folder = project?.folder ?? io.cwd
      const wasTrusted = revokeTrust(folder, paths)
      if (options.json)
        await io.stdout.write(
          toJsonLine({ folder, file: project?.file ?? null, sha256: project?.hash ?? null, trust: 'untrusted' }),
        )
      else await note(io, wasTrusted ? `${folder} is no longer trusted.` : `${folder} was not trusted.`)
      return 0
    }

    if (project === undefined) {
      if (options.json && options.show) {
        await io.stdout.write(toJsonLine({ folder: io.cwd, file: null, sha256: null, trust: 'untrusted', config: null }))
        return 0
      }
      throw new CriaError(
        'not_found',
        `There is no .cria/config.json in ${io.cwd}, nor above it in its repository: there is nothing to trust.`,
      )
    }
    const config = readProjectConfig(project)
    if (!options.show) trust(project, paths)
    const state = trustState(project, paths)
    if (options.json) {
      await io.stdout.write(
        toJsonLine({ folder: project.folder, file: project.file, sha256: project.hash, trust: state, config }),
      )
      return 0
    }
    await io.stdout.write(`${visibleText(JSON.stringify(config, undefined, 2))}\n`)
    await note(io, state === 'trusted' ? `${project.file} counts from now on.` : `${project.file} does not count (${state}).`)
    return 0
  },
})
