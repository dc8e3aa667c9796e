/** Tests the quoting model through a bot and a store, over small documents of every format. */

import { describe, expect, test } from 'vitest'
import { MemoryDocumentStore, QueryBot } from '../../index.ts'
import type { BotAnswer, DocumentFormat } from '../../index.ts'
import { answerFromPassages } from './answer.ts'

const GUIDE = `# Kiln

Kiln builds packages from recipes.

## Installing kiln

Install kiln with your package manager:

\`\`\`sh
brew install kiln
\`\`\`

On Windows, use \`winget install kiln\`.

## Building packages

A *recipe* is a file that tells kiln how to build a package. Run {cmd}\`kiln build\` in the folder of the recipe.

> Builds are cached. Pass \`--no-cache\` to build everything again.

:::{note}
Recipes are read from top to bottom.
:::

### Signing packages

<!-- a comment for writers -->
To sign a package, pass the name of a key:

\`\`\`sh
kiln build --sign release-key
\`\`\`

It fails when the key has expired.

## Options

| Option | Meaning |
| --- | --- |
| \`--jobs\` | number of builds at a time, 4 by default |
| \`--verbose\` | prints each command before it runs |
| \`--offline\` | uses nothing but the cache |

## Common errors

\`\`\`text
error: recipe has no source
\`\`\`

The recipe lacks a \`source\` line. Add the URL of an archive.

## Steps of a release

1. Write the changelog.
2. Tag the commit.
3. Publish with \`kiln publish\`.
`

const CODE = `"""Reading recipes."""


class RecipeError(Exception):
    """Raised when a recipe cannot be read."""


class Recipe:
    """A recipe that was read."""

    def load_plugins(self, folder):
        """Imports every module of a folder and registers its hooks."""
        for path in sorted(folder.glob('*.py')):
            self.register(path)

    def register(self, path):
        self.hooks.append(path)


def parse_recipe(text: str, strict: bool = True) -> Recipe:
    """Parses the text of a recipe.

    :param strict: refuses unknown keys.
    """
    return Recipe()
`

const PRICES = 'plan,seats,price_eur\nsmall,5,20\nmedium,20,60\nlarge,100,240\n'
const FORMATS: Readonly<Record<string, DocumentFormat>> = { md: 'markdown', py: 'code', csv: 'csv', json: 'json' }

async function ask(
  question: string,
  documents: Readonly<Record<string, string>> = { 'guide.md': GUIDE, 'recipe.py': CODE, 'plans.csv': PRICES },
): Promise<BotAnswer> {
  const store = new MemoryDocumentStore()
  await store.extend(
    Object.entries(documents).map(([source, text]) => ({
      source,
      text,
      format: FORMATS[source.split('.').at(-1) ?? ''] ?? 'text',
    })),
  )
  const bot = new QueryBot({ docstore: store, model: 'builtin/extractive', recorder: false, streamTarget: 'none' })
  return await bot.ask(question)
}

const firstBlock = ({ content }: BotAnswer): string => content.split(/\[\d+\](?:\n\n|$)/)[0] ?? ''

describe('QRY-RAG-022 the first block contains the answer with its context', () => {
  test.each([
    ['How do I install kiln?', ['Installing kiln', 'brew install kiln']],
    ['How do I sign a package?', ['Signing packages', 'kiln build --sign release-key']],
    ['Which option prints each command?', ['| Option | Meaning |', '--verbose']],
    ['error: recipe has no source', ['error: recipe has no source', 'Add the URL of an archive']],
    ['What are the steps of a release?', ['1. Write the changelog.', '3. **Publish with `kiln publish`.**']],
    ['Which function loads plugins?', ['def load_plugins(self, folder):', 'Imports every module']],
    [
      'What does parse_recipe do?',
      ['def parse_recipe(text: str, strict: bool = True) -> Recipe:', 'Parses the text of a recipe'],
    ],
    ['When is RecipeError raised?', ['class RecipeError(Exception):', 'cannot be read']],
    ['What is the price of the medium plan?', ['| plan | seats | price_eur |', '| medium | 20 | 60 |']],
    ['What does --no-cache do?', ['Pass `--no-cache` to build everything again']],
  ])('%j', async (question, parts) => {
    const answer = await ask(question)
    expect(answer.abstained).toBe(false)
    for (const part of parts) expect(firstBlock(answer).replaceAll('**', '')).toContain(part.replaceAll('**', ''))
  })
})

test('QRY-RAG-022 a block has source and headings above it, its marker at the end, and a short quote', async () => {
  const answer = await ask('How do I sign a package?')
  expect(answer.content).toMatch(/^\*\*Building packages › Signing packages\*\* · `guide\.md`\n\n/)
  const [citation] = answer.citations ?? []
  expect(citation).toMatchObject({ marker: '1', source: 'guide.md', supported: true, kind: 'verbatim' })
  expect(GUIDE.slice(citation?.start, citation?.end)).toBe(citation?.quote)
  expect(citation?.quote.split(/\s+/).length).toBeLessThanOrEqual(40)
  expect(answer.content.slice(citation?.claim?.start, citation?.claim?.end)).toMatch(/^\*\*Building[^]*\[1\]$/)
})

test('QRY-RAG-022 markup of the source is removed, and code keeps its layout', async () => {
  const { content } = await ask('How do I sign a package, and how are builds cached?')
  expect(content).not.toMatch(/<!--|\{cmd\}|^>|:::/m)
  expect(content).toContain('```sh\nkiln build --sign release-key\n```')
})

test('QRY-RAG-022 the decisive words are in bold', async () => {
  const { content } = await ask('What is a recipe?', { 'guide.md': GUIDE })
  expect(content).toMatch(/\*\*A \*?recipe\*? is a file that tells kiln how to build a package\.[^*]*\*\*/)
})

test('QRY-RAG-022 two questions in one get a block each', async () => {
  const { content } = await ask('How do I sign a package, and which option uses nothing but the cache?')
  expect(content).toContain('kiln build --sign release-key')
  expect(content).toContain('--offline')
})

test('QRY-RAG-022 a question about a difference gets a block for each side', async () => {
  const { content } = await ask('What is the difference between load_plugins and parse_recipe?')
  expect(content).toContain('def load_plugins')
  expect(content).toContain('def parse_recipe')
})

test('QRY-RAG-014 a misspelt word is searched as the documents spell it', async () => {
  const answer = await ask('how do i instal kiln with a pakage manager')
  expect(answer.content).toContain('brew install kiln')
})

test('QRY-RAG-022 abstains if the documents have no answer, and shows the nearest places, each document once', async () => {
  const answer = await ask('Which database does the telemetry server of Acme use?')
  expect(answer.abstained).toBe(true)
  expect(answer.content).toMatch(/^The documents do not contain the answer to this question\./)
  expect(answer.citations).toEqual([])
  expect(answer.content.match(/^- (?:\*\*.+?\*\*, ){1,2}\*\*.+?\*\* · `.+`$/gm)).toHaveLength(1)
})

test('QRY-RAG-022 brackets in a document are not read as markers', async () => {
  const { content, citations } = await ask('What did the survey of mills find?', {
    'a.md': 'The survey of mills found 12 wheels [7].',
  })
  expect(citations?.map(({ marker }) => marker)).toEqual(['1'])
  expect(content).toContain(String.raw`12 wheels \[7]`)
})

test('QRY-RAG-022 rows of a table are recognised when the header is in another chunk', async () => {
  const rows = Array.from({ length: 150 }, (_, at) => `| svc-${String.fromCodePoint(97 + (at % 26))}${at} | ${8000 + at} |`)
  const { content } = await ask('What port does svc-n143 use?', {
    'a.md': `# Ports\n\n| service | port |\n| --- | --- |\n${rows.join('\n')}\n`,
  })
  expect(content).toMatch(/\| service \| port \|\n\|( --- \|)+\n(?:\|.*\n)*\| svc-n143 \| 8143 \|/)
})

test('QRY-RAG-022 a long sentence is quoted around the words of the question', async () => {
  const rooms = Array.from({ length: 26 }, (_, at) => `${String.fromCodePoint(65 + at)}da works in room ${at}`).join(', ')
  const { citations } = await ask('In which room does Zda work?', { 'a.md': `${rooms}.` })
  expect(citations?.[0]?.quote).toContain('Zda works in room 25')
})

test('reads only the beginning of a question of a megabyte', () => {
  const passage = { marker: '1', source: 'a.md', text: 'Sheep graze on the hill.', score: 1 }
  for (const question of ['x'.repeat(1_000_000), 'sheep '.repeat(200_000)]) {
    expect(answerFromPassages(question, [passage]).blocks.length).toBeLessThanOrEqual(3)
  }
})

test.each([
  ['one line without an end', 'word '.repeat(200_000)],
  ['nothing but signs', '`*_[({<|'.repeat(30_000)],
  ['a hundred thousand short lines', '- x\n'.repeat(100_000)],
  ['brackets that are never closed', '[('.repeat(100_000)],
  ['lone surrogates', `\uD800${'word \uDC00'.repeat(1000)}`],
])('%s: never throws, and blocks stay short', (_, text) => {
  for (const source of ['a.md', 'a.py', 'a.csv', 'a.json']) {
    const { blocks } = answerFromPassages('Which word has no end?', [{ marker: '1', source, text, score: 1 }])
    for (const block of blocks) expect(block.text.length).toBeLessThan(20_000)
  }
})
