/**
 * Takes what a connection holds, whether its reader is ready for it or not.
 *
 * The `fetch` of Node 22 and 24 (undici 7) ends the process when a server closes a connection while nobody reads from it; undici 8 does not
 * (https://github.com/nodejs/undici/issues/5360). It happens where a length, or the end of the connection, is the end of the answer. An answer in
 * chunks, which is what nearly all are, has an end of its own, and is read ahead only so that what came before a connection broke is not lost: an
 * error empties the queue of the body that `fetch` gives.
 */

import { isAbort } from './network.ts'

/** More than this is not kept for a reader who is slow. */
const MOST_BYTES = 64 * 1024 * 1024
const MOST_CHUNKED_BYTES = 64 * 1024

export function bodyOf({ body, headers }: Response): ReadableStream<Uint8Array> | null {
  if (body === null) return body
  const isChunked = headers.get('transfer-encoding')?.toLowerCase().includes('chunked') === true
  const most = isChunked ? MOST_CHUNKED_BYTES : MOST_BYTES
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (thrown) {
          // What came before it is read first: an error empties the queue. This is asked again after each piece.
          if (isAbort(thrown) || controller.desiredSize === most) throw thrown
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: most }),
  )
}
