import { expect, test } from 'vitest'
import { definedName } from './definitions.ts'

test.each(
  Object.entries({
    Reader: 'class Reader(Base):',
    read_all: 'def read_all(self) -> list[str]:',
    fetch: 'async def fetch(url):',
    loadDocuments: 'export async function loadDocuments(paths: string[]) {',
    Store: 'export default class Store<T> {',
    parse: 'const parse = (text: string): Node => {',
    read: 'private async read(id: string): Promise<Row> {',
    open: 'pub fn open(path: &Path) -> Result<File> {',
    Display: 'impl Display for Point {',
    Read: 'func (r *Reader) Read(p []byte) (int, error) {',
    main: 'public static void main(String[] args) {',
    Props: 'interface Props {',
  }),
)('%s is defined by %s', (name, line) => {
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
