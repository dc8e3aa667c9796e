import { chooseStore, realPaths } from '../../app/store-choice.ts'
import { ConfigurationError } from '../../core/error.ts'
import { defineCommand } from '../command.ts'
import type { Command } from '../command.ts'
import { formatMs } from '../format.ts'
import { indexWithProgress, summary, tellSkipped } from '../index-progress.ts'
import { toJsonLine } from '../io.ts'
import { readConfig } from '../prepare-store.ts'

export const index: Command = defineCommand({
  name: 'index',
  arguments: [{ name: 'path', about: 'files and folders to read', many: true, required: false }],
  options: {
    store: { type: 'text', value: 'NAME', about: 'the store to add to; it is made when it is not there', default: 'default' },
    'dry-run': { type: 'flag', about: 'only say what would be done' },
    json: {
      type: 'flag',
      about:
        'print one JSON object: { store, files, chunks, added, changed, moved, removed, unchanged, skipped: [{ path, reason }], ms }',
    },
  },
  details: `Only what has changed since the last time is read again, and files that are gone are removed. What .gitignore
names is left out. A file that cannot be read is skipped with a reason and does not stop the rest.
Interrupted, it goes on where it was the next time.`,
  examples: ['cria index docs README.md', 'cria index ~/handbook --store handbook', 'cria index docs --dry-run'],
  async run({ arguments: given, options }, io) {
    const { config, paths } = await readConfig(io)
    const choice = chooseStore({ store: options.store }, config, paths, io.cwd)
    const documents = given.length > 0 ? given : (config.stores?.[choice.name]?.paths ?? [])
    if (documents.length === 0) {
      throw new ConfigurationError('Say what to index: cria index <path…>', {
        hint: `Or list the paths of the store under "stores" in config.json: { "stores": { "${choice.name}": { "paths": ["docs"] } } }`,
      })
    }
    const report = await indexWithProgress(choice, realPaths(documents, io.cwd), { dryRun: options['dry-run'], home: paths }, io)
    if (options.json) {
      await io.stdout.write(toJsonLine(report))
    } else {
      await tellSkipped(report, io)
      const would = options['dry-run'] ? 'would be: ' : ''
      await io.stdout.write(`${choice.name}: ${would}${summary(report)} (${formatMs(report.ms)})\n`)
    }
    return 0
  },
})
