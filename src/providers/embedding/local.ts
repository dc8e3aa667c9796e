/** Runs embedding models in this process, in ONNX format, through an optional package. */

import type { EmbeddingModel } from '../../core/retrieval-models.ts'
import { ConfigurationError, CriaError } from '../../core/error.ts'

/** The optional package that runs local models; not a dependency. */
export const PACKAGE: string = '@huggingface/transformers'

/** Imports the optional package. It has native parts, so the comments tell bundlers not to resolve it. */
export function loadTransformers(): Promise<unknown> {
  return import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ PACKAGE)
}

/** The members of the package that are used. */
interface Transformers {
  pipeline(task: 'feature-extraction', model: string): Promise<Extractor>
}

type Extractor = (
  texts: readonly string[],
  options: { readonly pooling: 'mean'; readonly normalize: true },
) => Promise<{ readonly dims: readonly number[]; readonly data: ArrayLike<number> }>

/**
 * @param name of a model with ONNX weights, such as `Xenova/all-MiniLM-L6-v2`; the package downloads and caches it on first use.
 * @param load for tests: replaces the `import()` of the package.
 */
export function createLocalEmbeddingModel(name: string, load: () => Promise<unknown> = loadTransformers): EmbeddingModel {
  const open = localModel<Transformers, Extractor>(name, load, (transformers) =>
    transformers.pipeline('feature-extraction', name),
  )
  return {
    ref: `local/${name}`,
    parallel: false,
    async embed(texts, { signal } = {}) {
      signal?.throwIfAborted()
      const extract = await open()
      signal?.throwIfAborted()
      const { dims, data } = await extract(texts, { pooling: 'mean', normalize: true })
      const size = dims.at(-1) ?? 0
      return texts.map((_, at) => Float32Array.from({ length: size }, (_value, index) => data[at * size + index] ?? 0))
    },
  }
}

/**
 * Returns a function that loads the optional package, and a model with it, on its first call; a call after a failure tries again.
 *
 * @throws ConfigurationError when the package is not installed; CriaError `model_unavailable` when the model cannot be loaded.
 */
export function localModel<P, M>(name: string, load: () => Promise<unknown>, model: (loaded: P) => Promise<M>): () => Promise<M> {
  let opened: Promise<M> | undefined
  const open = async (): Promise<M> => {
    const loaded = await load().catch((cause: unknown) => {
      throw new ConfigurationError(`A local model needs the package ${PACKAGE}, which is not installed.`, {
        hint: `Install it with: npm install ${PACKAGE}`,
        cause,
      })
    })
    try {
      return await model(loaded as P)
    } catch (cause) {
      const said = cause instanceof Error ? cause.message : String(cause)
      throw new CriaError('model_unavailable', `The local model ${name} could not be loaded: ${said}`, { cause })
    }
  }
  return () =>
    (opened ??= open().catch((error: unknown) => {
      opened = undefined
      throw error
    }))
}
