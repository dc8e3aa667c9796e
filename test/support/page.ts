/** Provides a writable stream that keeps its output. */

import { Writable } from 'node:stream'

export class Page extends Writable {
  text = ''
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString('utf8')
    done()
  }
}
