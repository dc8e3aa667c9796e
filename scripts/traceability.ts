/**
 * Maps requirements to the tests that prove them: reads docs/requirements.md and all test titles, writes docs/traceability.md.
 *
 *     npm run traceability              writes the page
 *     npm run traceability -- --check   changes nothing, fails when page, tests and requirements disagree
 *
 * A title names its requirements literally (`QRY-RAG-011 memory chunks follow document chunks`), in `test`, `it` or
 * `describe`. Skipped tests prove nothing.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, Visitor, type ESTree } from 'rolldown/utils'
import { projectFiles, ROOT } from './files.ts'

const REQUIREMENTS = 'docs/requirements.md'
const PAGE = 'docs/traceability.md'
const ID = /\b[A-Z]{2,}-[A-Z]{2,}-\d{3}\b/g

export interface Requirement {
  readonly id: string
  readonly status: 'planned' | 'done'
}

export interface Proof {
  readonly id: string
  readonly file: string
  readonly title: string
}

/** Parses rows `| ID | status | text |`. @throws Error for a status other than `planned` and `done`, and for a repeated ID. */
export function readRequirements(text: string): Requirement[] {
  const found: Requirement[] = []
  for (const row of text.matchAll(/^\|\s*([A-Z]+-[A-Z]+-\d{3})\s*\|\s*([^|]*?)\s*\|/gm)) {
    const [, id = '', status] = row
    if (status !== 'planned' && status !== 'done') {
      throw new Error(`${REQUIREMENTS}: ${id} has the status "${status}", expected "planned" or "done"`)
    }
    if (found.some((requirement) => requirement.id === id)) throw new Error(`${REQUIREMENTS}: ${id} occurs twice`)
    found.push({ id, status })
  }
  return found
}

/** Returns the requirements that the test titles of a file name. */
export function readProofs(file: string, text: string): Proof[] {
  // Searching the text first is cheaper than parsing: most files name no requirement.
  if (!/[A-Z]-\d{3}/.test(text)) return []
  const proofs: Proof[] = []
  new Visitor({
    CallExpression: (call) => {
      const names = calleeNames(call.callee)
      if (!['test', 'it', 'describe', 'suite'].includes(names[0] ?? '')) return
      if (names.includes('skip') || names.includes('todo')) return
      const title = literalText(call.arguments[0])
      for (const [id] of title.matchAll(ID)) proofs.push({ id, file, title })
    },
  }).visit(parseSync(file, text).program)
  return proofs
}

/** `test.each(table)` → `['test', 'each']` */
function calleeNames(node: ESTree.Node): string[] {
  switch (node.type) {
    case 'Identifier':
      return [node.name]
    case 'MemberExpression':
      return [...calleeNames(node.object), ...(node.property.type === 'Identifier' ? [node.property.name] : [])]
    case 'CallExpression':
      return calleeNames(node.callee)
    case 'TaggedTemplateExpression':
      return calleeNames(node.tag)
    default:
      return []
  }
}

function literalText(node: ESTree.Node | undefined): string {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value
  if (node?.type === 'TemplateLiteral') return node.quasis.map(({ value }) => value.cooked ?? '').join('…')
  return ''
}

export function problems(requirements: readonly Requirement[], proofs: readonly Proof[]): string[] {
  const known = new Set(requirements.map(({ id }) => id))
  const proven = new Set(proofs.map(({ id }) => id))
  return [
    ...requirements
      .filter(({ id, status }) => status === 'done' && !proven.has(id))
      .map(({ id }) => `${id} is done, but no test names it`),
    ...proofs
      .filter(({ id }) => !known.has(id))
      .map(({ id, file, title }) => `${file}: "${title}" names ${id}, which is not in ${REQUIREMENTS}`),
  ]
}

export function renderPage(requirements: readonly Requirement[], proofs: readonly Proof[]): string {
  const done = requirements.filter(({ status }) => status === 'done').length
  const lines = requirements.map(({ id, status }) => {
    const mine = proofs.filter((proof) => proof.id === id).map(({ file, title }) => `${inCell(title)} (\`${file}\`)`)
    return `| ${id} | ${status} | ${[...new Set(mine)].toSorted().join('<br>')} |`
  })
  return [
    '# Traceability',
    '',
    `Generated from the titles of the tests by \`npm run traceability\`: do not edit. ${done} of ${requirements.length} [requirements](requirements.md) are done.`,
    '',
    '| ID | Status | Tests |',
    '|---|---|---|',
    ...lines,
    '',
  ].join('\n')
}

function inCell(title: string): string {
  return title.replaceAll('|', '\\|').replaceAll('<', '&lt;')
}

if (import.meta.main) {
  const requirements = readRequirements(readFileSync(join(ROOT, REQUIREMENTS), 'utf8'))
  const proofs = projectFiles()
    .filter((path) => /^(src|test)\/.*\.ts$/.test(path))
    .flatMap((path) => readProofs(path, readFileSync(join(ROOT, path), 'utf8')))
  const found = problems(requirements, proofs)

  const page = renderPage(requirements, proofs)
  const target = join(ROOT, PAGE)
  const isStale = !existsSync(target) || readFileSync(target, 'utf8') !== page
  if (!process.argv.includes('--check')) writeFileSync(target, page)
  else if (isStale) found.push(`${PAGE} is stale: run \`npm run traceability\` and commit it`)

  for (const problem of found) console.error(problem)
  console.log(`${requirements.length} requirements, ${new Set(proofs.map(({ id }) => id)).size} named by tests`)
  if (found.length > 0) process.exitCode = 1
}
