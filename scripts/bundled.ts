/**
 * Lists the packages that users do not install: the build contains the needed parts of their code or types. They are devDependencies.
 * Reasons: docs/decisions/0028-one-build-with-everything.md.
 */

/** Maps a package to the folders that may import it, and the reason why it is not installed. */
export const NOT_INSTALLED: Readonly<Record<string, { readonly under: string; readonly because: 'bundled' | 'types only' }>> = {
  '@cfworker/json-schema': { under: 'src/', because: 'bundled' },
  'eventsource-parser': { under: 'src/', because: 'bundled' },
  'gpt-tokenizer': { under: 'src/', because: 'bundled' },
  ignore: { under: 'src/', because: 'bundled' },
  mammoth: { under: 'src/', because: 'bundled' },
  unpdf: { under: 'src/', because: 'bundled' },
  '@mdream/js': { under: 'src/', because: 'bundled' },
  markdansi: { under: 'src/cli/', because: 'bundled' },
  '@opentelemetry/api': { under: 'src/recorders/otel/', because: 'types only' },
  '@ai-sdk/provider': { under: 'src/', because: 'types only' },
}
