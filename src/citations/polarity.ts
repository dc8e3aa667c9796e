import type { Claim, Mismatch } from './mismatch.ts'
export function polarityMismatch(_claim: Claim): Mismatch | undefined { return undefined }
