/** Words around numbers: that they only come near, or were told before. */

/** Before a number that only comes near, and before a count of what was told before. */
export const NEARLY: RegExp =
  /(?:about|around|nearly|almost|roughly|approximately|some|circa|ca\.|close to|etwa|rund|fast|knapp|gut|ungefähr|unos|unas|casi|cerca de|alrededor de|aproximadamente|environ|presque|près de|около|почти|примерно|约|大约|近|ประมาณ|เกือบ|حوالي|نحو|قرابة)[ \u00a0]?$/iu
export const TOLD_BEFORE: RegExp =
  /(?:these|those|the other|the remaining|the last|the first|both|diese[rnm]?|die anderen|estos|estas|los otros|las otras|ces|эти|этих|这)[ \u00a0]?$/iu

/** A number that only comes near is rounded to its first digit where that is all it has, else to the twentieth part. */
export function halfStep(value: number): number {
  const magnitude = 10 ** Math.floor(Math.log10(Math.max(1, value)))
  return value % magnitude === 0 ? magnitude / 2 : value / 20
}
