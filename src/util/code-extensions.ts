/** Recognises names of source code and configuration files. */

/** Extensions without a dot, separated by spaces. */
export const CODE_EXTENSIONS: string =
  'ts mts cts tsx js mjs cjs jsx vue svelte astro py pyi pyx rb rake gemspec php phtml java kt kts groovy gradle scala sc clj cljs cljc edn ' +
  'c h cc cpp cxx hpp hh hxx ino m mm cs fs fsi fsx vb go rs zig nim d swift dart lua pl pm t r jl hs lhs ml mli elm ex exs erl hrl lisp lsp el scm rkt ' +
  'sh bash zsh fish ksh ps1 psm1 bat cmd awk sed sql psql graphql gql proto thrift capnp wgsl glsl vert frag hlsl cu cuh asm s v sv vhd vhdl ' +
  'css scss sass less styl tf hcl nix cmake mk make ninja bzl bazel star dockerfile yaml yml toml ini cfg conf properties env-example editorconfig ' +
  'xml xsd xsl xslt plist rng wsdl pom csproj sln f f77 f90 f95 for pas pp ada adb ads cob cbl tcl vim sol move cairo v8 jsonnet libsonnet cue rego dhall'

const EXTENSIONS: ReadonlySet<string> = new Set(CODE_EXTENSIONS.split(' '))

/** Returns whether a path or URL ends in the name of a code file. */
export function isCodeName(path: string): boolean {
  const extension = /\.([^./\\]+)$/.exec(path)?.[1]
  return extension !== undefined && EXTENSIONS.has(extension.toLowerCase())
}
