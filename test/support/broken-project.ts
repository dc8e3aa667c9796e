/** Defines a project with one mistake, and the steps of an agent that fixes it. */

export const BROKEN = 'export const add = (a, b) => a - b\n'
export const FIXED = 'export const add = (a, b) => a + b\n'
const TEST = `import { add } from './add.mjs'
if (add(2, 2) !== 4) { console.error('2 + 2 is not 4'); process.exit(1) }
console.log('passed')
`

export const BROKEN_PROJECT: Readonly<Record<string, string>> = { 'add.mjs': BROKEN, 'add.test.mjs': TEST }

interface Call {
  readonly name: string
  readonly input: object
}

export const READ: Call = { name: 'read_file', input: { path: 'add.mjs' } }
export const EDIT: Call = { name: 'edit_file', input: { path: 'add.mjs', old_string: 'a - b', new_string: 'a + b' } }
export const RUN_TEST: Call = { name: 'run_command', input: { command: 'node add.test.mjs' } }
