import { chooseStore, realPaths } from '../../app/store-choice.ts'
import { ConfigurationError, errorFromInfo } from '../../core/error.ts'
import { defineCommand } from '../command.ts'
import type { Command } from '../command.ts'
import { formatMs } from '../format.ts'
import { embeddingSummary, indexWithProgress, summary, tellGone, tellSkipped } from '../index-progress.ts'
import { toJsonLine } from '../io.ts'
import { readConfig } from '../prepare-store.ts'
import { asWrongUsage } from '../wrong-usage.ts'

export const index: Command = defineCommand({
  name: 'index',
  arguments: [{ name: 'path', about: 'files and folders to read', many: true, required: false }],
  options: {
    store: { type: 'text', value: 'NAME', about: 'the store to add to; it is made when it is not there', default: 'default' },
    embed: {
      type: 'text',
      value: 'MODEL',
      about: 'make vectors with this embedding model, in place of those of another; default: "embed" in config.json',
    },
    'dry-run': { type: 'flag', about: 'only say what would be done' },
    json: {
      type: 'flag',
      about:
        'print one JSON object: { store, files, chunks, added, changed, moved, removed, unchanged, skipped: [{ path, reason }], notes?: [{ path, note }], gone?: [{ path, removed }], ms, embeddings? }',
    },
  },
  details: `Only what has changed since the last time is read again, and files that are gone are removed, also a folder
that is named once more when it is gone as a whole. What .gitignore names is left out. A file that cannot be read is
skipped with a reason and does not stop the rest. Interrupted, it goes on where it was the next time.

With an embedding model (openai/…, google/…, ollama/…, openai-compatible/…, local/…) passages are found by what they mean as well.
A store that has vectors keeps them up to date. Without paths, --embed makes the vectors of a store that is there.`,
  examples: [
    'cria index docs README.md',
    'cria index ~/handbook --store handbook',
    'cria index docs --dry-run',
    'cria index docs --embed ollama/nomic-embed-text',
  ],
  async run({ arguments: given, options }, io) {
    const { config, paths } = await readConfig(io)
    const choice = chooseStore({ store: options.store }, config, paths, io.cwd)
    const documents = given.length > 0 ? given : (config.stores?.[choice.name]?.paths ?? [])
    if (documents.length === 0 && !(choice.exists && options.embed !== undefined)) {
      throw new ConfigurationError('Say what to index: cria index <path…>', {
        hint: `Or list the paths of the store under "stores" in config.json: { "stores": { "${choice.name}": { "paths": ["docs"] } } }`,
      })
    }
    const report = await indexWithProgress(
      choice,
      // What is not there may have been indexed into a store that is.
      choice.exists ? documents : realPaths(documents, io.cwd),
      {
        dryRun: options['dry-run'],
        home: paths,
        embeddings: { model: options.embed ?? config.embed, replace: options.embed !== undefined, config, env: io.env },
      },
      io,
    ).catch(asWrongUsage('not_found'))
    await tellGone(report, options['dry-run'], io)
    if (options.json) {
      await io.stdout.write(toJsonLine(report))
    } else {
      await tellSkipped(report, io)
      const would = options['dry-run'] ? 'would be: ' : ''
      await io.stdout.write(`${choice.name}: ${would}${summary(report)} (${formatMs(report.ms)})\n`)
      const embedded = embeddingSummary(report)
      if (embedded !== undefined) await io.stdout.write(`${choice.name}: ${embedded}\n`)
    }
    // The documents are there, and the next run goes on with their vectors.
    if (report.embeddings !== undefined && 'error' in report.embeddings) throw errorFromInfo(report.embeddings.error)
    return 0
  },
})
