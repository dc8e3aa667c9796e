/**
 * Limits of the output, and what some models cannot take. From the providers' documentation of their models; the first match counts.
 * Names are matched wherever they stand, since gateways put their own in front (`openai/gpt-4o`) and dates behind.
 */

import type { ModelFacts } from '../core/model.ts'

export interface OutputLimit {
  readonly models: RegExp
  readonly tokens: number
}

export const OUTPUT_LIMITS: readonly OutputLimit[] = [
  // OpenAI
  { models: /\bgpt-5(?:\.\d+)?-chat/, tokens: 16_384 },
  { models: /\bgpt-5-pro/, tokens: 272_000 },
  { models: /\bgpt-[56]/, tokens: 128_000 },
  { models: /\bgpt-4\.1/, tokens: 32_768 },
  { models: /\bgpt-4o-2024-05-13/, tokens: 4096 },
  { models: /\bgpt-4o|\bchatgpt-4o/, tokens: 16_384 },
  { models: /\bo1-preview/, tokens: 32_768 },
  { models: /\bo1-mini/, tokens: 65_536 },
  { models: /\bo[134](?:-|$)/, tokens: 100_000 },
  { models: /\bgpt-4-turbo|\bgpt-4-1106|\bgpt-4-0125|\bgpt-3\.5/, tokens: 4096 },
  { models: /\bgpt-4(?:-|$)/, tokens: 8192 },
  // Anthropic
  { models: /\bclaude-(?:opus|sonnet|haiku|fable)-5|\bclaude-(?:opus|sonnet)-4-[6-9]/, tokens: 128_000 },
  { models: /\bclaude-(?:opus|sonnet|haiku)-4-5|\bclaude-sonnet-4|\bclaude-3-7-sonnet/, tokens: 64_000 },
  { models: /\bclaude-opus-4/, tokens: 32_000 },
  { models: /\bclaude-3-5/, tokens: 8192 },
  { models: /\bclaude-3/, tokens: 4096 },
  // Google
  { models: /\bgemini-(?:2\.5|3)[\w.]*-(?:pro|flash)(?!.*(?:image|tts|audio|live))/, tokens: 65_536 },
  { models: /\bgemini-(?:1\.5|2\.0)/, tokens: 8192 },
]

export interface SpecialCase {
  readonly models: RegExp
  readonly facts: Partial<ModelFacts>
}

/** These always reason; the least they can be asked for is `low`. */
export const ALWAYS_THINKS: RegExp = /\bo[134](?:-|$)/

export const SPECIAL_CASES: readonly SpecialCase[] = [
  {
    models: /\bo1-(?:preview|mini)/,
    facts: { systemRole: false, fixedTemperature: 1, streaming: false, tools: false, structuredOutput: false, thinking: true },
  },
  { models: /\bo[134](?:-|$)/, facts: { fixedTemperature: 1, tools: true, structuredOutput: true, thinking: true } },
  { models: /\bgpt-5(?:\.\d+)?-chat/, facts: { tools: false, structuredOutput: false, images: true, thinking: false } },
  { models: /\bgpt-[56]/, facts: { tools: true, structuredOutput: true, images: true, thinking: true } },
  { models: /\bgpt-4o|\bgpt-4\.1/, facts: { tools: true, structuredOutput: true, images: true, thinking: false } },
  { models: /\bgpt-4-turbo/, facts: { tools: true, structuredOutput: false, images: true, thinking: false } },
  { models: /\bgpt-3\.5|\bgpt-4(?:-|$)/, facts: { tools: true, structuredOutput: false, images: false, thinking: false } },
  {
    models: /\bclaude-3-(?:5|haiku|opus|sonnet)/,
    facts: { tools: true, structuredOutput: false, images: true, thinking: false },
  },
  {
    models: /\bclaude-(?:opus|sonnet)-4-(?:0|2025)|\bclaude-3-7/,
    facts: { tools: true, structuredOutput: false, images: true, thinking: true },
  },
  { models: /\bclaude-/, facts: { tools: true, structuredOutput: true, images: true, thinking: true } },
  // Before its third generation Gemini refuses function calling together with JSON.
  {
    models: /\bgemini-2\.5(?!.*(?:image|tts|audio|live))/,
    facts: { tools: true, structuredOutput: true, structuredOutputWithTools: false, images: true, thinking: true },
  },
  {
    models: /\bgemini-3(?!.*(?:image|tts|audio|live))/,
    facts: { tools: true, structuredOutput: true, images: true, thinking: true },
  },
  {
    models: /\bgemini-(?:1\.5|2\.0)/,
    facts: { tools: true, structuredOutput: true, structuredOutputWithTools: false, images: true, thinking: false },
  },
]
