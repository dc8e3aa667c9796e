/** Tests whether two systems differ significantly: paired tests over the same questions, confidence intervals, and tests of shares. */

/** The result of `pairedTest`. */
export interface PairedTest {
  /** Mean of the differences. */
  readonly difference: number
  /** 95 % percentile bootstrap interval of the mean (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13). */
  readonly interval: readonly [low: number, high: number]
  /** Two-sided p of a paired randomisation test (Smucker, Allan and Carterette, CIKM 2007), which flips signs at random. */
  readonly pRandomization: number
  /** Two-sided p of Student's paired t-test; 1 where all differences are 0. */
  readonly pT: number
  readonly wins: number
  readonly losses: number
  readonly ties: number
}

const DRAWS = 10_000
const EVEN = 1e-12

/** Tests whether the mean of paired differences is 0. The same differences and seed return the same result. @param seed of the random draws. */
export function pairedTest(differences: readonly number[], seed = 12_345, draws: number = DRAWS): PairedTest {
  const count = differences.length
  const difference = mean(differences)
  const wins = differences.filter((value) => value > EVEN).length
  const losses = differences.filter((value) => value < -EVEN).length
  const tally = { wins, losses, ties: count - wins - losses }
  if (count === 0) return { difference: 0, interval: [0, 0], pRandomization: 1, pT: 1, ...tally }
  const sign = chanceOf(seed)
  const draw = chanceOf(seed + 1)
  const means = new Float64Array(draws)
  let extreme = 0
  for (let round = 0; round < draws; round++) {
    let flipped = 0
    let sampled = 0
    for (const value of differences) {
      flipped += sign() < 0.5 ? value : -value
      sampled += differences[Math.floor(draw() * count)] ?? 0
    }
    if (Math.abs(flipped / count) >= Math.abs(difference) - EVEN) extreme++
    means[round] = sampled / count
  }
  means.sort()
  const at = (share: number): number => means[Math.min(draws - 1, Math.max(0, Math.round(share * draws)))] ?? 0
  return {
    difference,
    interval: [at(0.025), at(0.975)],
    pRandomization: (extreme + 1) / (draws + 1),
    pT: pairedT(differences),
    ...tally,
  }
}

/** Corrects the p-values of several tests for multiple comparisons (Holm, 1979); returns them in the given order. */
export function holm(values: readonly number[]): number[] {
  const order = values.map((value, index) => ({ value, index })).sort((a, b) => a.value - b.value)
  const adjusted: number[] = []
  let highest = 0
  for (const [rank, { value, index }] of order.entries()) {
    highest = Math.max(highest, Math.min(1, value * (values.length - rank)))
    adjusted[index] = highest
  }
  return adjusted
}

function pairedT(differences: readonly number[]): number {
  const count = differences.length
  const average = mean(differences)
  const variance = differences.reduce((sum, value) => sum + (value - average) ** 2, 0) / (count - 1)
  if (count < 2 || variance < EVEN ** 2) return Math.abs(average) < EVEN || count < 2 ? 1 : 0
  return studentTail(average / Math.sqrt(variance / count), count - 1)
}

/**
 * Returns the two-sided tail of Student's t, by the finite series for whole degrees of freedom (Abramowitz and Stegun, "Handbook of Mathematical
 * Functions", 26.7.3 and 26.7.4).
 */
export function studentTail(t: number, freedom: number): number {
  const angle = Math.atan(Math.abs(t) / Math.sqrt(freedom))
  const isOdd = freedom % 2 === 1
  let term = isOdd ? Math.cos(angle) : 1
  let series = freedom === 1 ? 0 : term
  for (let power = isOdd ? 3 : 2; power < freedom; power += 2) {
    term *= ((power - 1) / power) * Math.cos(angle) ** 2
    series += term
  }
  const within = Math.sin(angle) * series
  return Math.max(0, 1 - (isOdd ? (2 / Math.PI) * (angle + within) : within))
}

/** Mulberry32: a small random number generator with the same results on every platform. */
function chanceOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}

/** 97.5 % quantile of the normal distribution. */
const Z = 1.959_963_984_540_054

/** Returns the 95 % score interval of a share (Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22, 1927). */
export function wilson(successes: number, trials: number): readonly [number, number] | null {
  if (trials === 0) return null
  const share = successes / trials
  const scale = 1 + Z ** 2 / trials
  const centre = (share + Z ** 2 / (2 * trials)) / scale
  const half = (Z / scale) * Math.sqrt((share * (1 - share)) / trials + Z ** 2 / (4 * trials ** 2))
  return [Math.max(0, centre - half), Math.min(1, centre + half)]
}

/** Returns the two-sided p of the exact sign test: the probability that a fair coin gives a count no more likely than this one. */
export function binomialP(successes: number, trials: number): number {
  const extreme = Math.max(successes, trials - successes)
  if (2 * extreme === trials) return 1
  // In logarithms: the factorial of a few hundred exceeds the range of numbers.
  let logarithm = -trials * Math.LN2
  let tail = 0
  for (let k = trials; k >= extreme; k--) {
    tail += Math.exp(logarithm)
    logarithm += Math.log(k) - Math.log(trials - k + 1)
  }
  return Math.min(1, 2 * tail)
}
