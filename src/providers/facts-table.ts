/**
 * Lists output limits and unsupported settings of models, from the providers' documentation. The first match counts.
 * Patterns match anywhere in a name, since gateways prepend their own (`openai/gpt-4o`) and names may end in a date.
 */

import type { ModelFacts } from '../core/model.ts'

export const OUTPUT_LIMITS: readonly { readonly models: RegExp; readonly tokens: number }[] = [
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

/** Lowest reasoning effort that OpenAI's models accept; for models that are not listed it is `none`. */
export const LEAST_EFFORT: readonly { readonly models: RegExp; readonly effort: string }[] = [
  { models: /\bgpt-6-(?:luna|sol)|\bgpt-6\.1-terra|\bgpt-5\.\d/, effort: 'none' },
  { models: /\bgpt-6|\bgpt-5-codex|\bo\d(?:-|$)/, effort: 'low' },
  { models: /\bgpt-5-pro/, effort: 'high' },
  { models: /\bgpt-5(?:-|$)/, effort: 'minimal' },
]

/** Models that accept sampling settings if the effort is `none`. */
export const SAMPLES_WITHOUT_EFFORT: RegExp = /\bgpt-5\.\d/

/** Anthropic's models with adaptive thinking, which take an effort instead of a budget. */
export const ADAPTIVE_THINKING: RegExp = /\bclaude-(?:opus|sonnet)-4-[6-9]|\bclaude-(?:opus|sonnet|haiku|fable)-5/

/** Models whose thinking cannot be switched off, with the value sent instead; `null` sends the lowest effort and leaves `thinking` out. */
export const CANNOT_BE_SWITCHED_OFF: readonly { readonly models: RegExp; readonly thinking: string | null }[] = [
  { models: /\bclaude-sonnet-5-5/, thinking: 'between_tools' },
  { models: /\bclaude-opus-5-5|\bclaude-fable-5/, thinking: null },
]

/** Anthropic's models that refuse a forced tool call. */
export const NO_FORCED_CALLS: RegExp = /\bclaude-(?:opus|sonnet)-5-5|\bclaude-fable-5-[12]/

/** Anthropic's models that refuse sampling settings such as a temperature. */
export const NO_SAMPLING: RegExp = /\bclaude-opus-4-[78]|\bclaude-(?:opus|sonnet|haiku|fable)-5/

const CHATTING = { tools: true, structuredOutput: true, images: true, thinking: false } as const
const REASONING = { ...CHATTING, thinking: true } as const

export const SPECIAL_CASES: readonly { readonly models: RegExp; readonly facts: Partial<ModelFacts> }[] = [
  {
    models: /\bo1-(?:preview|mini)/,
    facts: {
      systemRole: false,
      fixedTemperature: 1,
      sampling: 'never',
      streaming: false,
      tools: false,
      structuredOutput: false,
      thinking: true,
    },
  },
  { models: /\bo[134](?:-|$)/, facts: { sampling: 'never', tools: true, structuredOutput: true, thinking: true } },
  { models: /\bgpt-5(?:\.\d+)?-chat/, facts: { ...CHATTING, tools: false, structuredOutput: false } },
  { models: SAMPLES_WITHOUT_EFFORT, facts: { ...REASONING, sampling: 'thinking-off' } },
  { models: /\bgpt-[56]/, facts: { ...REASONING, sampling: 'never' } },
  { models: /\bgpt-4o|\bgpt-4\.1/, facts: CHATTING },
  { models: /\bgpt-4-turbo/, facts: { ...CHATTING, structuredOutput: false } },
  { models: /\bgpt-3\.5|\bgpt-4(?:-|$)/, facts: { ...CHATTING, structuredOutput: false, images: false } },
  { models: /\bclaude-3-(?:5|haiku|opus|sonnet)/, facts: { ...CHATTING, structuredOutput: false } },
  {
    models: /\bclaude-(?:opus|sonnet)-4-(?:0|2025)|\bclaude-3-7/,
    facts: { ...REASONING, structuredOutput: false, sampling: 'unless-thinking' },
  },
  { models: NO_SAMPLING, facts: { ...REASONING, sampling: 'never' } },
  { models: /\bclaude-/, facts: { ...REASONING, sampling: 'unless-thinking' } },
  { models: /\bgemma-/, facts: { systemRole: false } },
  // Gemini refuses tools together with JSON output before version 3.
  { models: /\bgemini-2\.5(?!.*(?:image|tts|audio|live))/, facts: { ...REASONING, structuredOutputWithTools: false } },
  { models: /\bgemini-3(?!.*(?:image|tts|audio|live))/, facts: REASONING },
  { models: /\bgemini-(?:1\.5|2\.0)/, facts: { ...CHATTING, structuredOutputWithTools: false } },
]
