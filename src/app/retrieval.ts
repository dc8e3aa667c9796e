/** Reads the public retrieval options; the model that ranks may come from the AI SDK. */

import type { RerankingModel } from '../core/reranking.ts'
import { checkObject } from '../engine/checks/values.ts'
import type { RerankChoice } from '../prepare/rerank.ts'
import type { RetrievalOptions } from '../prepare/retrieve.ts'
import { createRerankingModel } from '../providers/reranking/create.ts'
import type { AiSdkRerankingModel } from '../providers/reranking/create.ts'

/** A second ranking of what was found, by a model. */
export interface RerankSettings extends Omit<RerankChoice, 'model'> {
  /** Ranks passages against the question. */
  readonly model: RerankingModel | AiSdkRerankingModel
}

/** Where passages are looked for, and how they get into the request. */
export interface RetrieveOptions extends Omit<RetrievalOptions, 'rerank'> {
  /** Puts what the document store found in another order; a failure of the model keeps that of the store. Default nothing does. */
  readonly rerank?: RerankSettings
}

/** @throws ConfigurationError when what is to rank is no model. */
export function resolveRetrieval<Options extends Pick<RetrieveOptions, 'rerank'>>(
  options: Options,
): Omit<Options, 'rerank'> & Pick<RetrievalOptions, 'rerank'> {
  checkObject('`retrieve`', options)
  const { rerank, ...rest } = options
  // What is no object of options is for whoever checks these.
  if (rerank === undefined || typeof rerank !== 'object') return options as typeof rest
  return { ...rest, rerank: { ...rerank, model: createRerankingModel(rerank.model) } }
}
