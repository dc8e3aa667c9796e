import { expect, test } from 'vitest'
import { withoutMarkup } from './markdown-text.ts'

test.each([
  ['Run {cmd}`kiln build` now.', 'Run `kiln build` now.'],
  ['Use :func:`echo`.', 'Use `echo`.'],
  ['See the [guide](../guide.md#top) first.', 'See the guide first.'],
  ['See [the page](https://example.org/a).', 'See [the page](https://example.org/a).'],
  ['A <!-- note to writers -->B', 'A B'],
  ['<b>Bold</b> text', 'Bold text'],
  ['![A picture](a.png){: style="width:10px"} below', ' below'],
  ['![logo][logo] below', ' below'],
  ['[](https://example.org)[](b)', ''],
  ['> quoted\n> lines', 'quoted\nlines'],
  ['=== "Windows"', '**Windows**'],
  ['!!! warning "Take care"', ''],
  ['Stop.[^1]', 'Stop.'],
  ['found 12 [7]', String.raw`found 12 \[7]`],
  ['Replace {name} in `<name>` and [x].', 'Replace {name} in `<name>` and [x].'],
  ['a < b and c > d', 'a < b and c > d'],
])('%j reads %j', (text, expected) => {
  expect(withoutMarkup(text)).toBe(expected)
})
