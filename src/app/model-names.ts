/** Names of models as people type them, from other libraries and from memory, brought to `provider/model`. */

import { ConfigurationError } from '../core/error.ts'
import { EXTRACTIVE_REF } from '../providers/extractive/model.ts'
import { definitionOf, PROVIDER_NAMES } from '../providers/registry.ts'
import { nearest } from '../util/nearest.ts'

/** Names of our providers in other libraries. */
const ALIASES: Readonly<Record<string, string>> = {
  gemini: 'google',
  claude: 'anthropic',
  ollama_chat: 'ollama',
  together_ai: 'together',
  togetherai: 'together',
  fireworks_ai: 'fireworks',
  mistralai: 'mistral',
  moonshotai: 'moonshot',
  grok: 'xai',
  'x-ai': 'xai',
  azure_openai: 'azure',
  openai_compatible: 'openai-compatible',
  openai_like: 'openai-compatible',
  custom_openai: 'openai-compatible',
  hosted_vllm: 'openai-compatible',
  litellm_proxy: 'openai-compatible',
  lm_studio: 'openai-compatible',
  lmstudio: 'openai-compatible',
  vllm: 'openai-compatible',
}

/** Names that say by themselves whose model it is. The open models of OpenAI are served by others. */
const BARE: readonly (readonly [RegExp, string])[] = [
  [/^(?:gpt-(?!oss)|chatgpt-|o\d(?:-|$))/, 'openai'],
  [/^claude-/, 'anthropic'],
  [/^gemini-/, 'google'],
  [/^(?:mistral|ministral|codestral|devstral|magistral|pixtral)-[a-z]+/, 'mistral'],
  [/^deepseek-(?:chat|reasoner|v\d)/, 'deepseek'],
  [/^grok-/, 'xai'],
  [/^sonar(?:-|$)/, 'perplexity'],
  [/^kimi-/, 'moonshot'],
]

const OF_A_PACKAGE = (name: string): string =>
  `cria does not speak its API: pass a model of the package ${name} as \`model\`, or name one of another provider.`

/** Providers of other libraries that are not reached by name here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  bedrock: OF_A_PACKAGE('@ai-sdk/amazon-bedrock'),
  sagemaker: OF_A_PACKAGE('@ai-sdk/amazon-bedrock'),
  vertex_ai: `The same models are google/…, with a key of Google AI Studio. For Vertex itself pass a model of the package @ai-sdk/google-vertex.`,
  cohere: OF_A_PACKAGE('@ai-sdk/cohere'),
  cohere_chat: OF_A_PACKAGE('@ai-sdk/cohere'),
  replicate: OF_A_PACKAGE('@ai-sdk/replicate'),
  huggingface: 'Use openai-compatible/… with OPENAI_COMPATIBLE_BASE_URL=https://router.huggingface.co/v1.',
  'text-completion-openai': 'Models that only complete texts are not supported: name a chat model, openai/… for example.',
}

/**
 * The name as it works: `gpt-4o` is `openai/gpt-4o`, `gemini/gemini-2.5-flash` is `google/gemini-2.5-flash`. A name that works already stays as it is.
 *
 * @throws ConfigurationError for a name that nobody knows, with names that would work.
 */
export function knownName(name: string): string {
  const slash = name.indexOf('/')
  const provider = name.slice(0, Math.max(0, slash))
  const known = [...PROVIDER_NAMES, 'builtin']
  if (slash === name.length - 1 || slash === 0) throw malformed(name)
  if (slash < 0) {
    const lower = name.toLowerCase()
    const owner = BARE.find(([pattern]) => pattern.test(lower))?.[1]
    if (owner !== undefined) return `${owner}/${lower}`
    const [first = '', ...rest] = name.split(':')
    const named = Object.hasOwn(ALIASES, first.toLowerCase()) ? ALIASES[first.toLowerCase()] : first.toLowerCase()
    if (named !== undefined && known.includes(named) && named !== 'builtin') {
      if (rest.join(':') !== '') return `${named}/${rest.join(':')}`
      const example = definitionOf(named).suggested
      throw new ConfigurationError(
        `A model is named provider/model, and ${JSON.stringify(name)} is a provider: ${named}/${example ?? '…'}, for example. \`cria models\` lists the models.`,
      )
    }
    if (name === '' || /\s/.test(name)) throw malformed(name)
    const shown = name.slice(0, 100)
    throw new ConfigurationError(
      `A model is named provider/model, and ${JSON.stringify(shown)} does not say whose it is. Use ollama/${shown} for one on this machine; groq/…, openrouter/… or together/… for one that is hosted.`,
    )
  }
  if (provider === 'builtin' && name !== EXTRACTIVE_REF)
    throw new ConfigurationError(`The only builtin model is ${EXTRACTIVE_REF}, but this is ${JSON.stringify(name)}.`)
  if (known.includes(provider)) return name
  const alias = Object.hasOwn(ALIASES, provider) ? ALIASES[provider] : undefined
  if (alias !== undefined) return `${alias}${name.slice(slash)}`
  const advice = Object.hasOwn(ELSEWHERE, provider) ? ELSEWHERE[provider] : undefined
  if (advice !== undefined) throw new ConfigurationError(`There is no provider ${JSON.stringify(provider)}. ${advice}`)
  const close = nearest(provider, known)
  const meant =
    close === undefined
      ? `. The providers are ${known.join(', ')}. Any other server with Chat Completions is openai-compatible${name.slice(slash, 100)}, with OPENAI_COMPATIBLE_BASE_URL.`
      : `; did you mean ${JSON.stringify(`${close}${name.slice(slash)}`)}?`
  throw new ConfigurationError(`There is no provider ${JSON.stringify(provider.slice(0, 100))}${meant}`)
}

function malformed(name: string): ConfigurationError {
  return new ConfigurationError(
    `A model is named provider/model, like openai/gpt-5-mini, but this is ${JSON.stringify(name.slice(0, 100))}.`,
  )
}
