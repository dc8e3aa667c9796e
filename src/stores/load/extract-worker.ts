/** The program of a thread: extracts the text of PDF and Word files, one after the other, and limits the memory that they take. */

import { parentPort } from 'node:worker_threads'
import type { Extracted } from './unreadable.ts'
import { failureOf } from './unreadable.ts'

export interface ExtractJob {
  readonly extractor: 'pdf' | 'docx'
  readonly bytes: Uint8Array
}

export type ExtractAnswer = { readonly extracted: Extracted } | { readonly unreadable: string }

const MEGABYTE = 1024 * 1024
const LARGEST_ARRAY = 128 * MEGABYTE

let tooLarge = false

/**
 * Limits the size of arrays, because the heap limit does not cover them. pdf.js inflates a stream into a single array, however it is packed: twice,
 * as text, or encrypted, so that its size shows nowhere else.
 */
globalThis.Uint8Array = new Proxy(Uint8Array, {
  construct(target, args: unknown[], newTarget) {
    const [size] = args
    if (typeof size === 'number' && size > LARGEST_ARRAY) {
      tooLarge = true
      throw new RangeError(`An array of ${size} bytes is larger than the limit.`)
    }
    return Reflect.construct(target, args, newTarget) as object
  },
})

async function extract({ extractor, bytes }: ExtractJob): Promise<ExtractAnswer> {
  tooLarge = false
  let answer: ExtractAnswer
  try {
    answer = { extracted: await read(extractor, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) }
  } catch (error) {
    answer = { unreadable: failureOf(error).skipped }
  }
  // Also if text was returned: pdf.js continues without the parts that it cannot read.
  return tooLarge ? { unreadable: `content of more than ${LARGEST_ARRAY / MEGABYTE} MB when it is unpacked (a bomb?)` } : answer
}

async function read(extractor: ExtractJob['extractor'], bytes: Buffer): Promise<Extracted> {
  if (extractor === 'pdf') {
    const { extractPdf } = await import('./extract-pdf.ts')
    return extractPdf(bytes)
  }
  const { extractDocx } = await import('./extract-docx.ts')
  return extractDocx(bytes)
}

parentPort?.on('message', (job: ExtractJob) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
  void extract(job).then((answer) => parentPort?.postMessage(answer))
})
