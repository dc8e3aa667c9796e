/** Ids of tool calls as an API takes them. */

import { sha256 } from '../../util/hash.ts'

const MAX_STEM = 23
const HASH = 16

/**
 * The id itself where it is accepted, else one of letters, digits, `_` and `-` that is made of it alone: the same in the call and in its
 * result, and in every request. At most 40 characters, which is what the strictest API takes.
 */
export function acceptedId(id: string, accepted: RegExp): string {
  if (accepted.test(id)) return id
  return `${id.replaceAll(/[^\w-]/g, '_').slice(0, MAX_STEM)}_${sha256(id).slice(0, HASH)}`
}
