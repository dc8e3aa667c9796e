import { randomUUID } from 'node:crypto'

const names = new WeakMap<object, string>()

/** A name for an object that nothing else has, in this process or another. */
export function nameOfObject(object: object): string {
  let name = names.get(object)
  if (name === undefined) {
    name = randomUUID()
    names.set(object, name)
  }
  return name
}
