/** Embedding models as the user has configured them. */

import type { EmbeddingModel } from '../core/embedding.ts'
import type { CriaConfig } from './config-schema.ts'
import type { Surroundings } from './paths.ts'

/** @throws ConfigurationError when there is no such provider, or it has no embeddings. */
export async function openEmbeddingModel(ref: string, config: CriaConfig, env: Surroundings['env']): Promise<EmbeddingModel> {
  const [{ createEmbeddingModel }, { providerOptions }] = await Promise.all([
    import('../providers/embedding/create.ts'),
    import('./open-model.ts'),
  ])
  return createEmbeddingModel(ref, { env, ...providerOptions(ref.slice(0, ref.indexOf('/')), config, env) })
}

/** The same, opened when it is first asked; what is wrong with it is found out then. */
export function embeddingModelOnDemand(ref: string, config: CriaConfig, env: Surroundings['env']): EmbeddingModel {
  let opened: Promise<EmbeddingModel> | undefined
  return {
    ref,
    async embed(texts, options) {
      opened ??= openEmbeddingModel(ref, config, env)
      return (await opened).embed(texts, options)
    },
  }
}
