/**
 * Generates a program that exports the result of every function, method and getter of the library. Its declarations can be emitted only if
 * every result type has a name that can be imported.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** JavaScript that prints a function per line for every function, method and getter; `entry0` is the first entry. */
export function listing(entries: readonly string[]): string {
  return `
    const membersOf = (object) => Object.entries(Object.getOwnPropertyDescriptors(object)).filter(([name]) => name !== 'constructor')
    const isClass = (value) => /^class\\b/.test(Function.prototype.toString.call(value))
    const print = (type, member, isCalled) => {
      const args = isCalled ? ', ...args: Parameters<' + type + '["' + member + '"]>' : ''
      console.log('(it: ' + type + args + ') => it.' + member + (isCalled ? '(...args)' : ''))
    }
    for (const [index, entry] of ${JSON.stringify(entries)}.entries()) {
      for (const [name, value] of Object.entries(await import(entry))) {
        const path = 'entry' + index + '.' + name
        if (typeof value !== 'function') continue
        if (!isClass(value)) console.log('(...args: Parameters<typeof ' + path + '>) => ' + path + '(...args)')
        else for (const [member, { get }] of membersOf(value.prototype)) print(path, member, get === undefined)
      }
    }
    const journal = await (await import(${JSON.stringify(entries[0])})).openRecorder({ path: ':memory:' })
    for (const [member, { value }] of membersOf(journal)) {
      if (typeof value === 'function') print('Journal', member, true)
    }
    journal.close()`
}

/** @param library the folder of the declarations; members that are protected there are left out. */
export function resultsOf(entries: readonly string[], listed: string, library: string): string {
  const declarations = readdirSync(library, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.d.ts'))
  const hidden = new Set(
    declarations.flatMap((path) =>
      [...readFileSync(join(library, path), 'utf8').matchAll(/^ +protected (?:get )?(\w+)/gm)].map(([, name]) => name),
    ),
  )
  const shown = listed.split('\n').filter((line) => line !== '' && !hidden.has(/\bit\.(\w+)/.exec(line)?.[1]))
  return [
    ...entries.map((entry, index) => `import * as entry${index} from '${entry}'`),
    'type Journal = Awaited<ReturnType<typeof entry0.openRecorder>>',
    ...shown.map((line, index) => `export const result${index} = ${line}`),
  ].join('\n')
}
