/**
 * Anthropic's package adds the budget for thinking to the limit of the output, and so sends a higher limit than it was given. A limit is one of both
 * together: budgets in tokens and money are kept by it.
 */

/** Anthropic takes no smaller budget for thinking. */
const LEAST_THINKING = 1024
/** What is left for the answer itself at least, as a part of the limit. */
const ANSWER_SHARE = 0.2

/** @param limit of the output, thinking included; `undefined`: the package's own. */
export function thinkWithin(limit: number | undefined, send: typeof fetch): typeof fetch {
  if (limit === undefined) return send
  return (url, init) => send(url, typeof init?.body === 'string' ? { ...init, body: limited(init.body, limit) } : init)
}

function limited(body: string, limit: number): string {
  if (!body.includes('"budget_tokens"')) return body
  const request = JSON.parse(body) as { max_tokens?: number; thinking?: { budget_tokens?: number } }
  const { thinking, ...rest } = request
  const asked = thinking?.budget_tokens
  if (asked === undefined || request.max_tokens === undefined || request.max_tokens <= limit) return body
  const budget = Math.min(asked, Math.floor(limit * (1 - ANSWER_SHARE)))
  // There is no room to think: the answer goes before.
  if (budget < LEAST_THINKING) return JSON.stringify({ ...rest, max_tokens: limit })
  return JSON.stringify({ ...rest, max_tokens: limit, thinking: { ...thinking, budget_tokens: budget } })
}
