/** Tests whether two systems differ on the same questions by more than chance, with paired tests over the differences of each question. */

export interface PairedTest {
  /** Mean of the differences. */
  readonly difference: number
  /** 95 % percentile bootstrap interval of it (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13). */
  readonly interval: readonly [low: number, high: number]
  /** Two-sided p of a paired randomisation test (Smucker, Allan and Carterette, CIKM 2007): signs are drawn at random. */
  readonly pRandomization: number
  /** Two-sided p of Student's paired t-test; 1 where all differences are 0. */
  readonly pT: number
  readonly wins: number
  readonly losses: number
  readonly ties: number
}

const DRAWS = 10_000
const EVEN = 1e-12

/** The same differences always give the same result. @param seed of the random draws. */
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

/** p-values of several tests at once, so that the chance of one false finding among them stays what it is (Holm, 1979). */
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

/** Two-sided tail of Student's t: the regularised incomplete beta function at df / (df + t²) (Abramowitz and Stegun, 26.7.1). */
export function studentTail(t: number, freedom: number): number {
  return incompleteBeta(freedom / 2, 0.5, freedom / (freedom + t * t))
}

/** By its continued fraction, evaluated with Lentz's method (Press et al., "Numerical Recipes", 6.4). */
function incompleteBeta(a: number, b: number, x: number): number {
  if (x <= 0) return 0
  if (x >= 1) return 1
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x))
  return x < (a + 1) / (a + b + 2) ? (front * betaFraction(a, b, x)) / a : 1 - (front * betaFraction(b, a, 1 - x)) / b
}

const TINY = 1e-300

function betaFraction(a: number, b: number, x: number): number {
  const away = (value: number): number => (Math.abs(value) < TINY ? TINY : value)
  let c = 1
  let d = 1 / away(1 - ((a + b) * x) / (a + 1))
  let result = d
  for (let m = 1; m <= 300; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    d = 1 / away(1 + even * d)
    c = away(1 + even / c)
    result *= d * c
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 / away(1 + odd * d)
    c = away(1 + odd / c)
    result *= d * c
    if (Math.abs(d * c - 1) < 1e-15) break
  }
  return result
}

/** Lanczos' approximation with g = 7 and nine terms. */
function logGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x)
  const terms = [
    676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905, -0.13857109526572012,
    9.9843695780195716e-6, 1.5056327351493116e-7,
  ]
  const sum = terms.reduce((total, term, index) => total + term / (x + index), 0.99999999999980993)
  const base = x + 6.5
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(base) - base + Math.log(sum)
}

/** Mulberry32: small, and the same everywhere. */
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
