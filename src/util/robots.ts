/** Parses robots.txt (RFC 9309): the paths that a site lets programs fetch. */

import { matchesGlob } from './glob.ts'

export interface Robots {
  /** @param path with the query, as requested: `/guide/?page=2`. */
  readonly allows: (path: string) => boolean
  /** Milliseconds between two requests that the site asks for; default 0. */
  readonly delayMs: number
}

/** Larger files are read up to this length. */
const MOST_CHARACTERS = 500_000

export const ALLOW_ALL: Robots = { allows: () => true, delayMs: 0 }
export const ALLOW_NOTHING: Robots = { allows: () => false, delayMs: 0 }

interface Rule {
  readonly allow: boolean
  readonly pattern: string
}

interface Group {
  readonly agents: string[]
  readonly rules: Rule[]
  delay: number
}

/** @param agent lower case; the groups that name it apply, otherwise those for all agents. */
export function readRobots(text: string, agent: string): Robots {
  const groups: Group[] = []
  let open: Group | undefined
  for (const line of text.slice(0, MOST_CHARACTERS).split(/\r\n?|\n/)) {
    const [, name = '', value = ''] = /^\s*([a-z-]+)\s*:\s*([^#]*)/i.exec(line) ?? []
    const field = name.toLowerCase()
    const said = value.trim()
    if (field === 'user-agent') {
      if (open === undefined || open.rules.length > 0 || open.delay > 0) groups.push((open = { agents: [], rules: [], delay: 0 }))
      open.agents.push(said.toLowerCase())
    } else if (field === 'allow' || field === 'disallow') {
      // An empty path does not forbid anything.
      if (said !== '') open?.rules.push({ allow: field === 'allow', pattern: said })
    } else if (field === 'crawl-delay' && open !== undefined) {
      open.delay = Math.max(0, Number.parseFloat(said) || 0)
    }
  }
  const named = groups.filter(({ agents }) => agents.includes(agent))
  const meant = named.length > 0 ? named : groups.filter(({ agents }) => agents.includes('*'))
  const rules = meant.flatMap((group) => group.rules)
  return {
    delayMs: Math.max(0, ...meant.map(({ delay }) => delay)) * 1000,
    allows(path) {
      const matching = rules.filter(({ pattern }) => matches(pattern, path))
      const longest = Math.max(0, ...matching.map(({ pattern }) => pattern.length))
      const decisive = matching.filter(({ pattern }) => pattern.length === longest)
      return decisive.length === 0 || decisive.some(({ allow }) => allow)
    },
  }
}

/** Matches a pattern: `*` matches anything, a final `$` the end. */
function matches(pattern: string, path: string): boolean {
  return matchesGlob(pattern.endsWith('$') ? pattern.slice(0, -1) : `${pattern}*`, path)
}
