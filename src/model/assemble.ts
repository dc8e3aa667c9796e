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
  /** Absent when the stream ended without saying how: it was interrupted. */
  readonly finishReason: FinishReason | undefined
  readonly rawReason: string | undefined
  readonly abstained: boolean
  /** What a model that quotes says of its quotes. */
  readonly citations: readonly QuotedPassage[] | undefined
  readonly responseId: string | undefined
  readonly responseModel: string | undefined
}

export class Assembler {
  readonly #model: string | undefined
  #parts: Part[] = []
  #text = ''
  #textData: ProviderData | undefined
  #thinking = ''
  #usage: Usage = UNKNOWN_USAGE
  #finish: Extract<ModelPart, { type: 'finish' }> | undefined
  #response: Extract<ModelPart, { type: 'response' }> | undefined

  /** @param model `provider/model`, noted on its thinking. */
  constructor(model?: string) {
    this.#model = model
  }

  add(part: ModelPart): void {
    switch (part.type) {
      case 'text':
        this.#endThinking(undefined)
        this.#text += part.text
        this.#textData = part.providerData ?? this.#textData
        break
      case 'thinking':
        this.#endText()
        this.#thinking += part.text
        break
      case 'thinking-end':
        this.#endText()
        this.#endThinking(part.providerData)
        break
      case 'tool-call':
        this.#endBlocks()
        this.#parts.push({
          type: 'tool-call',
          id: part.id,
          name: part.name,
          // No arguments at all mean none are needed.
          input: part.input === null || (part.input === '' && part.invalid === undefined) ? {} : part.input,
          ...defined({ invalid: part.invalid, providerData: part.providerData }),
        })
        break
      case 'opaque':
        this.#endBlocks()
        this.#parts.push({ type: 'opaque', kind: part.kind, providerData: part.providerData })
        break
      case 'usage':
        this.#usage = part.usage
        break
      case 'finish':
        this.#finish = part
        break
      case 'response':
        this.#response = { ...this.#response, ...part }
        break
      case 'restart':
        this.#forget()
        break
      default:
      // `tool-input` is for those who show a call as it is written; unknown kinds are no error.
    }
  }

  get finished(): boolean {
    return this.#finish !== undefined
  }

  result(): Assembled {
    this.#endBlocks()
    return {
      parts: this.#parts,
      usage: withTotal(this.#usage),
      finishReason: this.#finish?.reason,
      rawReason: this.#finish?.rawReason,
      abstained: this.#finish?.abstained === true,
      citations: this.#finish?.citations,
      responseId: this.#response?.id,
      responseModel: this.#response?.model,
    }
  }

  #forget(): void {
    this.#parts = []
    this.#text = ''
    this.#textData = undefined
    this.#thinking = ''
    this.#usage = UNKNOWN_USAGE
    this.#finish = undefined
    this.#response = undefined
  }

  #endBlocks(): void {
    this.#endText()
    this.#endThinking(undefined)
  }

  #endText(): void {
    if (this.#text === '' && this.#textData === undefined) return
    this.#parts.push({
      type: 'text',
      text: this.#text,
      ...(this.#textData === undefined ? {} : { providerData: this.#textData }),
    })
    this.#text = ''
    this.#textData = undefined
  }

  #endThinking(providerData: ProviderData | undefined): void {
    if (this.#thinking === '' && providerData === undefined) return
    this.#parts.push({
      type: 'thinking',
      text: this.#thinking,
      ...defined({ model: this.#model, providerData }),
    })
    this.#thinking = ''
  }
}

/** More than this many tokens of output were not for lack of room. */
const NO_OUTPUT = 1

/** The error that the provider should have sent; `undefined` when the answer was not ended before it began. */
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
