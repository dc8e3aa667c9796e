/** Bundles programs that use the package and runs them in an empty folder, as in a deployment without `node_modules`. */

import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { build } from 'vite'
import { docx, pdf } from '../test/support/document-files.ts'
import { ROOT } from './files.ts'

/** The JSON output of each program of test/bundles. */
const PROGRAMS: Readonly<Record<string, unknown>> = {
  questions: { quoted: true, asked: 'A cria [1].', citations: 1, turns: 2, price: 0.25 },
  agent: [
    'llamas.md:1:A young llama is called a cria.',
    'error: The arguments do not fit the schema of weigh:',
    'A cria weighs ten kilograms.',
  ],
  files: {
    read: ['files/a.md: true', 'files/b.pdf: true', 'files/c.docx: true', 'files/d.html: true'],
    skipped: [],
    chunks: 4,
    answer: true,
  },
}

/** Bundles the file `entry` with its imports into the empty folder `out`; returns the file to run. */
type Bundler = (entry: string, out: string) => Promise<string>

interface Esbuild {
  build(options: Readonly<Record<string, unknown>>): Promise<{ readonly warnings: readonly { readonly text: string }[] }>
}

/** @param tools the folder where `esbuild` is installed. */
export async function bundlersIn(tools: string): Promise<Readonly<Record<string, Bundler>>> {
  const esbuild = (await import(pathToFileURL(join(tools, 'node_modules/esbuild/lib/main.js')).href)) as { default: Esbuild }
  const settings = { bundle: true, platform: 'node', target: 'node22', logLevel: 'error' }
  return {
    async esbuild(entry, out) {
      const file = { splitting: true, format: 'esm', outdir: out, outExtension: { '.js': '.mjs' } }
      await esbuild.default.build({ ...settings, ...file, entryPoints: { main: entry } })
      return 'main.mjs'
    },
    async 'esbuild (one file)'(entry, out) {
      await esbuild.default.build({ ...settings, format: 'esm', entryPoints: [entry], outfile: join(out, 'main.mjs') })
      return 'main.mjs'
    },
    async rolldown(entry, out) {
      const bundle = await rolldown({ input: { main: entry }, platform: 'node', onwarn: unresolvedPeer })
      await bundle.write({ dir: out, entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' })
      await bundle.close()
      return 'main.mjs'
    },
    async 'Vite SSR'(entry, out) {
      await build({
        root: join(entry, '..'),
        logLevel: 'error',
        build: { ssr: entry, outDir: out, emptyOutDir: false, rollupOptions: { output: { entryFileNames: 'main.mjs' } } },
        ssr: { noExternal: true },
      })
      return 'main.mjs'
    },
  }
}

/** Keeps imports of optional packages that are not installed: the library handles their absence. */
function unresolvedPeer(warning: { readonly code?: string }, warn: (warning: never) => void): void {
  if (warning.code !== 'UNRESOLVED_IMPORT') warn(warning as never)
}

/**
 * @param project where the package is installed; `run` runs Node in a folder.
 * @throws Error when the output of a bundled program differs from its output with `node_modules`.
 */
export async function checkBundles(
  project: string,
  bundlers: Readonly<Record<string, Bundler>>,
  run: (file: string, folder: string) => string,
): Promise<string> {
  const sources = join(project, 'programs')
  mkdirSync(sources)
  for (const program of Object.keys(PROGRAMS))
    copyFileSync(join(ROOT, `test/bundles/${program}.ts`), join(sources, `${program}.ts`))
  for (const [name, bundler] of Object.entries(bundlers)) {
    for (const [program, expected] of Object.entries(PROGRAMS)) {
      const folder = join(project, '..', `${basename(project)}-${program}`)
      mkdirSync(folder)
      try {
        const file = await bundler(join(sources, `${program}.ts`), folder)
        if (program === 'files') writeFiles(join(folder, 'files'))
        const printed: unknown = JSON.parse(run(file, folder).trim().split('\n').at(-1) ?? '')
        if (JSON.stringify(printed) !== JSON.stringify(expected))
          throw new Error(
            `${program}, bundled by ${name}, printed ${JSON.stringify(printed)} and not ${JSON.stringify(expected)}`,
          )
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    }
  }
  return `${Object.keys(PROGRAMS).join(', ')} by ${Object.keys(bundlers).join(', ')}`
}

function writeFiles(folder: string): void {
  mkdirSync(folder)
  const text = 'A young llama is called a cria.'
  const files = { 'a.md': text, 'b.pdf': pdf([[text]]), 'c.docx': docx([text]), 'd.html': `<p>${text}</p>` }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
}
