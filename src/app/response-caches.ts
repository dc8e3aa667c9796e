/** Chooses the response cache: in this process, in the file of the journal, or the caller's own. */

import { ConfigurationError } from '../core/error.ts'
import type { Recorder } from '../core/recorder.ts'
import { ResponseCache } from '../model/response-cache.ts'

/**
 * `true`: the one of this process (100 answers, 5 minutes). `'journal'`: the same in the file of the recorder, for all processes that share it.
 * Or one of your own.
 */
export type CacheChoice = boolean | 'journal' | ResponseCache

let shared: ResponseCache | undefined
/** One for each recorder of this process, so that equal questions that come at the same time meet. */
const kept = new WeakMap<Recorder, ResponseCache>()

/** @throws ConfigurationError for anything else, and where the journal that is meant keeps no answers. */
export function chooseCache(choice: CacheChoice | undefined, recorder: Recorder | undefined): ResponseCache | undefined {
  if (choice === undefined || choice === false) return undefined
  if (choice === true) return (shared ??= new ResponseCache())
  if (choice instanceof ResponseCache) return choice
  if (choice === 'journal') return keptIn(recorder)
  throw new ConfigurationError(`\`cache\` must be true, false, 'journal' or a ResponseCache, but is ${JSON.stringify(choice)}.`)
}

function keptIn(recorder: Recorder | undefined): ResponseCache {
  if (recorder?.cache === undefined) {
    throw new ConfigurationError(
      recorder === undefined
        ? "`cache: 'journal'` needs a `recorder`: without a journal there is no file to keep answers in."
        : "`cache: 'journal'` cannot be used: this recorder keeps no answers. Take `cache: true`.",
    )
  }
  let cache = kept.get(recorder)
  if (cache === undefined) {
    cache = new ResponseCache({ store: recorder.cache })
    kept.set(recorder, cache)
  }
  return cache
}
