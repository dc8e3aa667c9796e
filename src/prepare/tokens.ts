/**
 * Estimates the tokens of a text, on the high side: one token for three and a half bytes of UTF-8. English prose has about four, Chinese about three
 * bytes a token. Good enough to tell what is far from a limit.
 */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text, 'utf8') / 3.5)
}
