/**
 * Builds atoms of nested formats (code by indentation, JSON by brackets): a block that fits into a chunk becomes one atom when it closes, a
 * longer block stays in parts. One pass without recursion, at any depth.
 */

import { BORDER } from './atoms.ts'
import type { Atom } from './atoms.ts'
import type { Range } from '../../util/range.ts'

/** Blocks nested deeper get the path of their parents. */
const MOST_NAMES = 4
/** Neighbours in one block that together stay below this share of a chunk become one atom, which bounds the number of atoms. */
const TINY_SHARE = 0.03

interface Block {
  /** Index of the block's first atom. */
  readonly mark: number
  readonly path: readonly string[]
  /** Path of nested blocks. */
  inner: readonly string[]
}

export class Nest {
  readonly #max: number
  readonly #root: readonly string[]
  readonly #open: Block[] = []
  #atoms: Atom[] = []

  /** @param root Path of the outermost blocks. */
  constructor(max: number, root: readonly string[] = []) {
    this.#max = max
    this.#root = root
  }

  get depth(): number {
    return this.#open.length
  }

  open(): void {
    const path = this.#open.at(-1)?.inner ?? this.#root
    this.#open.push({ mark: this.#atoms.length, path, inner: path })
  }

  /** Names the blocks nested in the current block from here on. */
  name(label: string): void {
    const block = this.#open.at(-1)
    if (block !== undefined && label !== '' && block.path.length - this.#root.length < MOST_NAMES)
      block.inner = [...block.path, label]
  }

  /** Adds a range to the current block. */
  add(range: Range, border: number): void {
    this.#atoms.push({ start: range.start, end: range.end, border, path: this.#open.at(-1)?.path ?? this.#root })
  }

  /** Adds a range to the previous atom, which is extended if possible. */
  append(range: Range): void {
    const last = this.#atoms.at(-1)
    if (last === undefined || range.end - last.start > this.#max) this.add(range, BORDER.never)
    else this.#atoms[this.#atoms.length - 1] = { ...last, end: range.end }
  }

  close(): void {
    const block = this.#open.pop()
    const first = block === undefined ? undefined : this.#atoms[block.mark]
    const last = this.#atoms.at(-1)
    if (block === undefined || first === undefined || last === undefined || last.end - first.start > this.#max) return
    this.#atoms.length = block.mark
    const atom = { start: first.start, end: last.end, border: first.border, path: block.path }
    const before = this.#atoms.at(-1)
    const joins =
      before !== undefined &&
      before.path === atom.path &&
      atom.border < BORDER.paragraph &&
      atom.end - before.start <= this.#max * TINY_SHARE
    if (joins) this.append(atom)
    else this.#atoms.push(atom)
  }

  /** Returns the finished atoms and removes them; call it only between outermost blocks. */
  take(): Atom[] {
    const atoms = this.#atoms
    this.#atoms = []
    return atoms
  }
}
