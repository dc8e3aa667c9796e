/** Finds weights by gradient ascent with the Adam optimiser (Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2015). */

const STEPS = 250
const STEP_SIZE = 0.1
const MEAN_MEMORY = 0.9
const SQUARE_MEMORY = 0.999

/**
 * @param penalty L2 penalty: half the square of each weight times this is subtracted from the objective.
 * @param addGradient adds the gradient at `weights` to `gradient`.
 */
export function ascend(
  size: number,
  penalty: number,
  addGradient: (weights: Float64Array, gradient: Float64Array) => void,
): Float64Array {
  const weights = new Float64Array(size)
  const mean = new Float64Array(size)
  const square = new Float64Array(size)
  for (let step = 1; step <= STEPS; step++) {
    const gradient = weights.map((weight) => -penalty * weight)
    addGradient(weights, gradient)
    for (let k = 0; k < size; k++) {
      const slope = gradient[k] ?? 0
      mean[k] = MEAN_MEMORY * (mean[k] ?? 0) + (1 - MEAN_MEMORY) * slope
      square[k] = SQUARE_MEMORY * (square[k] ?? 0) + (1 - SQUARE_MEMORY) * slope * slope
      const unbiasedMean = (mean[k] ?? 0) / (1 - MEAN_MEMORY ** step)
      const unbiasedSquare = (square[k] ?? 0) / (1 - SQUARE_MEMORY ** step)
      weights[k] = (weights[k] ?? 0) + (STEP_SIZE * unbiasedMean) / (Math.sqrt(unbiasedSquare) + 1e-8)
    }
  }
  return weights
}
