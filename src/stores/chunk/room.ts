/** What is left of a chunk that begins with headings of this length; headings that fill half a chunk get no consideration. */
export function room(max: number, prefix: number): number {
  return prefix < max / 2 ? max - prefix : max
}
