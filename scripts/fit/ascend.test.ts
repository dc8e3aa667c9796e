import { expect, test } from 'vitest'
import { ascend } from './ascend.ts'

/** Gradient of -(w0 - 3)^2 / 2 - (w1 + 1)^2 / 2. */
const towards = (weights: Float64Array, gradient: Float64Array): void => {
  gradient[0] = (gradient[0] ?? 0) + 3 - (weights[0] ?? 0)
  gradient[1] = (gradient[1] ?? 0) - 1 - (weights[1] ?? 0)
}

test('the top of a hill is found', () => {
  const [first, second] = ascend(2, 0, towards)
  expect(first).toBeCloseTo(3, 2)
  expect(second).toBeCloseTo(-1, 2)
})

test('a penalty pulls towards 0', () => {
  expect(ascend(2, 1, towards)[0]).toBeCloseTo(1.5, 2)
})
