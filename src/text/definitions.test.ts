import { expect, test } from 'vitest'
import { definedName } from './definitions.ts'

test.each([
  ['class Reader(Base):', 'Reader'],
  ['def read_all(self) -> list[str]:', 'read_all'],
  ['async def fetch(url):', 'fetch'],
  ['export async function loadDocuments(paths: string[]) {', 'loadDocuments'],
  ['export default class Store<T> {', 'Store'],
  ['const parse = (text: string): Node => {', 'parse'],
  ['  '.trimStart() + 'private async read(id: string): Promise<Row> {', 'read'],
  ['pub fn open(path: &Path) -> Result<File> {', 'open'],
  ['impl Display for Point {', 'Display'],
  ['func (r *Reader) Read(p []byte) (int, error) {', 'Read'],
  ['public static void main(String[] args) {', 'main'],
  ['interface Props {', 'Props'],
])('%s defines %s', (line, name) => {
  expect(definedName(line)).toBe(name)
})

test.each([
  'if (ready) {',
  'return read(path)',
  'for (const x of y) {',
  '// class Reader',
  'reader.read(path)',
  'import { a } from "b"',
  '',
])('%s defines nothing', (line) => {
  expect(definedName(line)).toBeUndefined()
})
