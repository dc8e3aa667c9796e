/** The first `length` UTF-16 units of a text, or one less where that would part a character. */
export function beginningOf(text: string, length: number): string {
  const last = text.charCodeAt(length - 1)
  const partsPair = length < text.length && last >= 0xd800 && last <= 0xdbff
  return text.slice(0, Math.max(0, partsPair ? length - 1 : length))
}
