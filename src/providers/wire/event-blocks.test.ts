import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EventBlocks, EventTooLargeError } from './event-blocks.ts'

/** All that comes out, and what is left over. */
function run(pieces: readonly Uint8Array[]): { blocks: Buffer[]; rest: Buffer } {
  const cutter = new EventBlocks()
  const blocks = pieces.map((piece) => cutter.push(piece)).filter((block) => block !== undefined)
  return { blocks, rest: cutter.rest() }
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)
  let from = 0
  return [...ends, bytes.length].map((end) => bytes.subarray(from, (from = end)))
}

const lineEnds = fc.constantFrom('\n', '\r', '\r\n')
const lines = fc.array(fc.tuple(fc.constantFrom('', 'data: x', 'data:é漢😀', ': note', 'event: a'), lineEnds), { maxLength: 30 })

describe('ENG-STREAM-002 blocks of whole events', () => {
  it('are the same wherever the bytes are cut, with any line ends', () => {
    fc.assert(
      fc.property(lines, fc.array(fc.nat(400), { maxLength: 40 }), (parts, places) => {
        const bytes = Buffer.from(parts.map(([line, end]) => line + end).join(''))
        const expected = parts
          .map(([line, end]) => line + end)
          .join('')
          .replaceAll(/\r\n|\r/g, '\n')
        const { blocks, rest } = run(cut(bytes, places))
        expect(Buffer.concat([...blocks, rest]).toString()).toBe(expected)
        for (const block of blocks) expect(block.toString().endsWith('\n') && !block.toString().includes('�')).toBe(true)
        expect(rest.includes('\n\n')).toBe(false)
      }),
    )
  })

  it('come out as soon as they are complete, one byte at a time', () => {
    const cutter = new EventBlocks()
    const seen = [...Buffer.from('data: 1\r\n\r\ndata: 2\r\n\r\n')].map((byte) => cutter.push(Buffer.from([byte]))?.toString())
    expect(seen.filter((block) => block !== undefined && block !== '\n')).toEqual(['data: 1\n\n', 'data: 2\n\n'])
    expect(seen[9]).toBe('data: 1\n\n')
  })

  it('hold back an event that is not closed', () => {
    const { blocks, rest } = run([Buffer.from('data: 1\n\ndata: 2')])
    expect([blocks.join('|'), rest.toString()]).toEqual(['data: 1\n\n', 'data: 2'])
  })

  it('refuse an event that has no end', () => {
    const cutter = new EventBlocks(1000)
    expect(() => {
      for (let i = 0; i < 20; i++) cutter.push(Buffer.alloc(100, 'x'))
    }).toThrow(EventTooLargeError)
    expect(cutter.rest()).toHaveLength(0)
  })

  it('take linear time for one event of 10 MB in small pieces', () => {
    const cutter = new EventBlocks()
    const piece = Buffer.alloc(1024, 'x')
    for (let i = 0; i < 10 * 1024; i++) cutter.push(piece)
    expect(cutter.push(Buffer.from('\n\n'))).toHaveLength(10 * 1024 * 1024 + 2)
  })
})
