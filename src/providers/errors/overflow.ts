/** Every known way of saying that the input does not fit the model's context window: one table. */

const WORDINGS: readonly RegExp[] = [
  // Anthropic
  /prompt is too long/i,
  /input length and `?max_tokens`? exceed context limit/i,
  // OpenAI and servers that copy its words: vLLM, DeepSeek, Azure, OpenRouter, Together, Mistral
  /context[ _]length[ _]exceeded/i,
  /maximum context length/i,
  /exceeds? (?:the|this|its|your) (?:model'?s? )?(?:maximum )?context (?:window|length|size)/i,
  /input tokens exceed the configured limit/i,
  /string too long\. expected a string with maximum length/i,
  /context length is only \d|longer than the maximum model length/i,
  // Hugging Face's server
  /`?inputs`? (?:tokens \+ `?max_new_tokens`? must be <=|must have less than \d+ tokens)/i,
  // Google
  /input token count .{0,40}exceeds the maximum/i,
  // Amazon Bedrock
  /input is too long/i,
  /expected maxLength: \d+/i,
  // Groq
  /reduce the length of the (?:messages|prompt|input)/i,
  /request too large for model/i,
  /please reduce your message size/i,
  // xAI
  /maximum prompt length is \d+/i,
  // llama.cpp, Ollama, LM Studio
  /exceed_context_size|exceeds the available context size/i,
  /exceeded (?:max )?context length/i,
  /(?:greater|longer|larger) than the (?:model'?s )?context (?:length|window|size)/i,
  /context (?:window|size|length) (?:has been |is |was )?(?:exceeded|exceeds|full)/i,
  /exceed(?:s|ed)? (?:the )?(?:model'?s )?context (?:window|limit|size|length)/i,
  /when context (?:the )?overflows/i,
  // Alibaba
  /range of input length should be|input length \d+ exceeds/i,
  // Moonshot, MiniMax, Zhipu, watsonx, NVIDIA, Cohere and others
  /exceeded model token limit/i,
  /context window exceeds limit/i,
  /number of input tokens .{0,60}(?:exceed|limit)/i,
  /too many tokens:/i,
  /token limit exceeded|exceeds? the (?:maximum )?(?:number of )?(?:input )?tokens? (?:limit|allowed)/i,
  /total (?:number of )?tokens .{0,60}exceed|tokens in request more than max tokens allowed/i,
  /(?:prompt|input tokens)(?: \([^)]{1,20}\))? exceeds? the (?:maximum number of tokens|model limit)/i,
  /(?:prompt|input) (?:is |was )?(?:too long|too large)/i,
  /model_context_window_exceeded/i,
]

/** The same words about how much was asked for in a time. */
const ABOUT_RATE = /per[ -](?:minute|min|day|hour|second)|\b[TR]P[MD]\b|throttl|rate.?limit|please wait/i

/** @param status 413 is never about a rate, whatever it says. */
export function isOverflow(message: string, status?: number): boolean {
  if (status !== 413 && ABOUT_RATE.test(message)) return false
  return WORDINGS.some((wording) => wording.test(message))
}
