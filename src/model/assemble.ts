/** Folds the parts of one attempt into one assistant message. */

import type { FinishReason, LanguageModel, ModelPart, ModelRequest, QuotedPassage } from '../core/model.ts'
import type { Part, ProviderData } from '../core/part.ts'
import type { Usage } from '../core/usage.ts'
import { UNKNOWN_USAGE, withTotal } from '../core/usage.ts'
import { CriaError } from '../core/error.ts'
import { defined } from '../util/check.ts'

export interface Assembled {
  readonly parts: readonly Part[]
  readonly usage: Usage
  /** Absent if the stream was interrupted. */
  readonly finishReason: FinishReason | undefined
  readonly rawReason: string | undefined
  readonly abstained: boolean
  /** The quoted places, reported by models that quote. */
  readonly citations: readonly QuotedPassage[] | undefined
  readonly responseId: string | undefined
  readonly responseModel: string | undefined
}

/** The folded parts so far. */
interface Folded {
  readonly parts: Part[]
  text: string
  textData: ProviderData | undefined
  thinking: string
  usage: Usage
  finish?: Extract<ModelPart, { type: 'finish' }>
  response?: Extract<ModelPart, { type: 'response' }>
}

function nothing(): Folded {
  return { parts: [], text: '', textData: undefined, thinking: '', usage: UNKNOWN_USAGE }
}

export class Assembler {
  readonly #model: string | undefined
  #folded = nothing()

  /** @param model `provider/model`, stored in thinking parts. */
  constructor(model?: string) {
    this.#model = model
  }

  add(part: ModelPart): void {
    const folded = this.#folded
    switch (part.type) {
      case 'text':
        this.#endThinking(undefined)
        folded.text += part.text
        folded.textData = part.providerData ?? folded.textData
        break
      case 'thinking':
        this.#endText()
        folded.thinking += part.text
        break
      case 'thinking-end':
        this.#endText()
        this.#endThinking(part.providerData)
        break
      case 'tool-call': {
        this.#endBlocks()
        const { id, name, input, invalid, providerData } = part
        // Empty arguments stand for an empty object.
        const isEmpty = input === null || (input === '' && invalid === undefined)
        folded.parts.push({ type: 'tool-call', id, name, input: isEmpty ? {} : input, ...defined({ invalid, providerData }) })
        break
      }
      case 'opaque':
        this.#endBlocks()
        folded.parts.push({ type: 'opaque', kind: part.kind, providerData: part.providerData })
        break
      case 'usage':
        folded.usage = part.usage
        break
      case 'finish':
        folded.finish = part
        break
      case 'response':
        folded.response = { ...folded.response, ...part }
        break
      case 'restart':
        this.#folded = nothing()
        break
      default:
      // `tool-input` is only for display; unknown types are ignored.
    }
  }

  get finished(): boolean {
    return this.#folded.finish !== undefined
  }

  result(): Assembled {
    this.#endBlocks()
    const { parts, usage, finish, response } = this.#folded
    return {
      parts,
      usage: withTotal(usage),
      finishReason: finish?.reason,
      rawReason: finish?.rawReason,
      abstained: finish?.abstained === true,
      citations: finish?.citations,
      responseId: response?.id,
      responseModel: response?.model,
    }
  }

  #endBlocks(): void {
    this.#endText()
    this.#endThinking(undefined)
  }

  #endText(): void {
    const { parts, text, textData: providerData } = this.#folded
    if (text === '' && providerData === undefined) return
    parts.push({ type: 'text', text, ...defined({ providerData }) })
    this.#folded.text = ''
    this.#folded.textData = undefined
  }

  #endThinking(providerData: ProviderData | undefined): void {
    const { parts, thinking: text } = this.#folded
    if (text === '' && providerData === undefined) return
    parts.push({ type: 'thinking', text, ...defined({ model: this.#model, providerData }) })
    this.#folded.thinking = ''
  }
}

/** Maximum output tokens of an answer that ended for lack of room. */
const NO_OUTPUT = 1

/** Returns the error for an answer that had no room in the context window; `undefined` for other answers. */
export function windowFull(assembled: Assembled, request: ModelRequest, { ref }: LanguageModel): CriaError | undefined {
  const { finishReason, rawReason, parts, usage } = assembled
  if (finishReason !== 'length' || parts.some((part) => part.type !== 'thinking')) return undefined
  const says = rawReason !== undefined && /context|window/i.test(rawReason)
  const wanted = request.maxOutputTokens ?? Infinity
  const hadNoRoom = parts.length === 0 && (usage.outputTokens ?? Infinity) <= NO_OUTPUT && wanted > NO_OUTPUT
  if (!says && !hadNoRoom) return undefined
  return new CriaError('context_length', `${ref} had no room left for an answer: the request fills its context window.`, {
    details: { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens },
  })
}
