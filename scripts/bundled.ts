/**
 * Packages that users do not install: what is needed of their code, or of their types, is part of the build. They are devDependencies.
 * Reasons: docs/decisions/0023-what-is-bundled.md.
 */

/** Modules of packages that the library loads, each as one file `dist/vendor/NAME.js` with these exports. */
export const VENDORED: Readonly<Record<string, { readonly name: string; readonly exports: readonly string[] }>> = {
  'gpt-tokenizer/encoding/o200k_base': { name: 'o200k-base', exports: ['countTokens'] },
  mammoth: { name: 'mammoth', exports: ['default'] },
  '@mdream/js': { name: 'mdream', exports: ['htmlToMarkdown', 'streamHtmlToMarkdown'] },
}

/** The package → who may import it, and why it is not installed. */
export const NOT_INSTALLED: Readonly<Record<string, { readonly under: string; readonly because: 'bundled' | 'types only' }>> = {
  'gpt-tokenizer': { under: 'src/', because: 'bundled' },
  mammoth: { under: 'src/', because: 'bundled' },
  '@mdream/js': { under: 'src/', because: 'bundled' },
  markdansi: { under: 'src/cli/', because: 'bundled' },
  '@ai-sdk/provider': { under: 'src/', because: 'types only' },
}
