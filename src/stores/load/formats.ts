/** Guesses the kind of a file from its name. Content has the last word: see `load-file.ts`. */

import { basename, extname } from 'node:path'
import type { DocumentFormat } from '../../core/store.ts'
import { CODE_EXTENSIONS } from '../../util/code-extensions.ts'

/** How the text is taken out of the bytes: `text` as it stands, the others by a reader of their own. */
export type Extractor = 'text' | 'html' | 'pdf' | 'docx' | 'notebook'

export interface FileKind {
  readonly extractor: Extractor
  readonly format: DocumentFormat
}

/** `unsupported`: not worth opening. */
export type Promised = FileKind | { readonly unsupported: string }

const MARKDOWN = 'md markdown mdown mkd mkdn mdx qmd rmd'
const PLAIN = 'txt text log rst adoc asciidoc org tex textile srt vtt me nfo'
const JSON_LIKE = 'json jsonl ndjson json5 jsonc geojson webmanifest har avsc'
const TABLES = 'csv tsv tab psv'
/** Binary formats by what they are, so that the reason for skipping them says something. */
const BINARY: Readonly<Record<string, string>> = {
  image: 'svg png jpg jpeg gif webp avif bmp ico icns tif tiff heic psd ai eps raw cr2 xcf',
  audio: 'mp3 wav flac ogg oga m4a aac opus wma mid midi',
  video: 'mp4 mkv mov avi webm wmv flv m4v mpg mpeg',
  archive: 'zip gz tgz bz2 xz zst 7z rar tar jar war ear whl egg gem crate nupkg deb rpm apk dmg iso cab br lz4',
  font: 'ttf otf woff woff2 eot',
  binary: 'bin',
  program: 'exe dll so dylib a o obj lib class pyc pyo wasm node pdb elc beam',
  database:
    'db sqlite sqlite3 db-wal db-shm mdb accdb parquet arrow feather avro orc npy npz h5 hdf5 pkl pickle rds rdata mat lmdb',
  model: 'gguf safetensors onnx pt pth ckpt tflite pb',
  'Office document other than .docx':
    'doc xls xlsx xlsb ppt pptx odt ods odp rtf pages numbers key epub mobi azw3 one vsdx msg pst',
}

/** Source code that is known by its whole name. */
const CODE_NAMES =
  '/makefile /gnumakefile /dockerfile /containerfile /jenkinsfile /vagrantfile /rakefile /gemfile /procfile /justfile /cmakelists.txt /go.mod'

/** By extension; by name where it begins with `/`. */
const KINDS = new Map<string, Promised>()
for (const [names, kind] of [
  [MARKDOWN, { extractor: 'text', format: 'markdown' }],
  [PLAIN, { extractor: 'text', format: 'text' }],
  [CODE_EXTENSIONS, { extractor: 'text', format: 'code' }],
  [JSON_LIKE, { extractor: 'text', format: 'json' }],
  [TABLES, { extractor: 'text', format: 'csv' }],
  ['html htm xhtml', { extractor: 'html', format: 'markdown' }],
  ['pdf', { extractor: 'pdf', format: 'text' }],
  ['docx docm', { extractor: 'docx', format: 'markdown' }],
  ['ipynb', { extractor: 'notebook', format: 'markdown' }],
  [CODE_NAMES, { extractor: 'text', format: 'code' }],
  ['/license', { extractor: 'text', format: 'text' }],
  ['/readme', { extractor: 'text', format: 'markdown' }],
  ...Object.entries(BINARY).map(([what, names]) => [names, { unsupported: `${what} file` }] as const),
] as readonly (readonly [string, Promised])[]) {
  for (const name of names.split(' ')) KINDS.set(name, kind)
}

/** The kind that a name promises; `undefined` when only the content can tell. */
export function promisedKind(path: string): Promised | undefined {
  const name = basename(path).toLowerCase()
  return KINDS.get(`/${name}`) ?? KINDS.get(extname(name).slice(1))
}

const GENERATED = /(?:\.min\.(?:js|mjs|css)|\.(?:js|css|mjs|cjs)\.map|\.d\.ts\.map)$/
const LOCK_FILES = new Set(
  'package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock composer.lock cargo.lock poetry.lock pipfile.lock uv.lock gemfile.lock go.sum flake.lock'.split(
    ' ',
  ),
)

/** Whether a tool wrote this file for tools: it would only crowd out what people wrote. */
export function isGenerated(path: string): boolean {
  const name = basename(path).toLowerCase()
  return LOCK_FILES.has(name) || GENERATED.test(name)
}
