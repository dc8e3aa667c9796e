/** Names of tools as providers take them, and back. */

/** What all of OpenAI, Anthropic and Google accept: the strictest of each. */
const ACCEPTED = /^[A-Za-z_][\w-]{0,63}$/
const MAX_LENGTH = 64

export class ToolNames {
  readonly #out = new Map<string, string>()
  readonly #back = new Map<string, string>()

  /** @param offered names of the tools of this request; no two of them become one. */
  constructor(offered: readonly string[]) {
    // Names that need no change go first, so that a changed one never takes their place.
    for (const name of offered) if (ACCEPTED.test(name)) this.#add(name, name)
    for (const name of offered) if (!ACCEPTED.test(name)) this.out(name)
  }

  /** As the provider is told; also for calls of tools that are not offered any more. */
  out(name: string): string {
    const known = this.#out.get(name)
    if (known !== undefined) return known
    const plain = accepted(name)
    let free = plain
    for (let number = 2; this.#back.has(free); number++)
      free = `${plain.slice(0, MAX_LENGTH - 1 - String(number).length)}_${number}`
    this.#add(name, free)
    return free
  }

  /** As we know it. */
  back(name: string): string {
    return this.#back.get(name) ?? name
  }

  #add(name: string, told: string): void {
    this.#out.set(name, told)
    this.#back.set(told, name)
  }
}

function accepted(name: string): string {
  if (ACCEPTED.test(name)) return name
  const letters = name.replaceAll(/[^\w-]/g, '_')
  return (/^[A-Za-z_]/.test(letters) ? letters : `_${letters}`).slice(0, MAX_LENGTH)
}
