import { describe, expect, test } from 'vitest'
import { defineCommand } from './command.ts'
import { parseCommandLine } from './parse.ts'

const ask = defineCommand({
  name: 'ask',
  arguments: [{ name: 'question', about: 'what to answer' }],
  options: {
    docs: { type: 'texts', value: 'PATH', about: '' },
    fallback: { type: 'texts', value: 'MODEL', about: '' },
    store: { type: 'text', value: 'NAME', about: '' },
    results: { type: 'integer', short: 'n', value: 'N', about: '', min: 1, max: 1000 },
    'max-cost': { type: 'number', value: 'USD', about: '', min: 0 },
    status: { type: 'text', value: 'STATUS', about: '', choices: ['open', 'done'] },
    json: { type: 'flag', about: '' },
  },
  examples: [],
  run: async () => 0,
})

const chat = defineCommand({
  name: 'chat',
  options: {
    resume: { type: 'optional', value: 'ID', about: '' },
    safe: { type: 'flag', about: '' },
    model: { type: 'text', short: 'm', value: 'MODEL', about: '' },
  },
  examples: [],
  run: async () => 0,
})

const index = defineCommand({
  name: 'index',
  arguments: [{ name: 'path', about: 'what to read', many: true }],
  options: { store: { type: 'text', value: 'NAME', about: '' } },
  examples: [],
  run: async () => 0,
})

const rate = defineCommand({
  name: 'logs rate',
  arguments: [
    { name: 'id', about: 'a turn' },
    { name: 'rating', about: 'a number' },
  ],
  options: {},
  examples: [],
  run: async () => 0,
})

const NOTHING = { docs: [], fallback: [], json: false }

describe('valid command lines', () => {
  test.each([
    ['a question', ['why?'], ['why?'], {}],
    ['options on both sides', ['--json', 'why?', '--store', 'x'], ['why?'], { json: true, store: 'x' }],
    ['short options', ['-n', '5', 'why?'], ['why?'], { results: 5 }],
    ['a short option with its value', ['-n5', 'why?'], ['why?'], { results: 5 }],
    ['values after an equals sign', ['--store=x', 'why?'], ['why?'], { store: 'x' }],
    ['a list', ['why?', '--docs', 'a', 'b'], ['why?'], { docs: ['a', 'b'] }],
    ['a list before the question', ['--docs', 'a', 'why?'], ['why?'], { docs: ['a'] }],
    ['a longer list before the question', ['--docs', 'a', 'b', 'why?'], ['why?'], { docs: ['a', 'b'] }],
    ['a list that is ended by an option', ['--docs', 'a', 'b', '--json', 'why?'], ['why?'], { docs: ['a', 'b'], json: true }],
    ['a list that is named twice', ['--docs', 'a', '--docs', 'b', 'why?'], ['why?'], { docs: ['a', 'b'] }],
    ['two lists', ['why?', '--docs', 'a', 'b', '--fallback', 'm', 'n'], ['why?'], { docs: ['a', 'b'], fallback: ['m', 'n'] }],
    ['a list with an equals sign takes one', ['--docs=a', 'why?'], ['why?'], { docs: ['a'] }],
    ['what follows --', ['--docs', 'a', '--', '--json'], ['--json'], { docs: ['a'] }],
    ['standard input', ['-'], ['-'], {}],
    ['a number with decimals', ['why?', '--max-cost', '0.25'], ['why?'], { 'max-cost': 0.25 }],
    ['one of some words', ['why?', '--status', 'done'], ['why?'], { status: 'done' }],
  ])('%s', (_what, words, expectedArguments, options) => {
    expect(parseCommandLine(ask, words)).toEqual({ arguments: expectedArguments, options: { ...NOTHING, ...options } })
  })

  test('many arguments', () => {
    expect(parseCommandLine(index, ['a', 'b', '--store', 's', 'c']).arguments).toEqual(['a', 'b', 'c'])
  })

  test('a negative number is an argument', () => {
    expect(parseCommandLine(rate, ['last', '-1']).arguments).toEqual(['last', '-1'])
  })
})

describe('invalid command lines', () => {
  test.each([
    [['why?', '--jsno'], /There is no option --jsno here\. Did you mean --json\?/],
    [['why?', '--zzzzzzz'], /There is no option --zzzzzzz here\.$/],
    [['why?', '-x'], /no option -x/],
    [[], /<question> is missing: what to answer/],
    [['why', 'not'], /Unexpected argument "not"\. Put an argument of several words in quotes/],
    [['why?', '--store'], /--store needs a value: --store NAME/],
    [['why?', '--store='], /--store needs a value/],
    [['why?', '--store', '--json'], /--store needs a value.*but --json follows.*--store=--json/],
    [['why?', '--store', 'a', '--store', 'b'], /--store is given twice/],
    [['why?', '--json=yes'], /--json is a switch and takes no value, but got "yes"/],
    [['why?', '-n', '0'], /-n must be a whole number from 1 to 1000, but is "0"/],
    [['why?', '-n', '1.5'], /-n must be a whole number from 1 to 1000/],
    [['why?', '-n', '1e400'], /-n must be a whole number/],
    [['why?', '-n', 'many'], /-n must be a whole number/],
    [['why?', '-n', '0x10'], /-n must be a whole number/],
    [['why?', '--max-cost', '-1'], /--max-cost must be a number of at least 0, but is "-1"/],
    [['why?', '--status', 'finished'], /--status must be one of open, done, but is "finished"/],
  ])('%j', (words, message) => {
    expect(() => parseCommandLine(ask, words)).toThrow(message)
  })
})

describe('an option with an optional value', () => {
  test.each([
    [[], undefined],
    [['--resume'], ''],
    [['--resume', 'ses_1'], 'ses_1'],
    [['--resume=ses_1', '--safe'], 'ses_1'],
    [['--resume', '-m', 'a/b'], ''],
    [['--safe', '--resume', '--'], ''],
  ])('%j', (words, resume) => {
    expect(parseCommandLine(chat, words).options['resume']).toBe(resume)
  })

  test('an unexpected word is reported, and a second one too', () => {
    expect(() => parseCommandLine(chat, ['ses_1'])).toThrow('Unexpected argument "ses_1"')
    expect(() => parseCommandLine(chat, ['--resume', 'a', 'b'])).toThrow('Unexpected argument "b"')
    expect(() => parseCommandLine(chat, ['--resume', 'a', '--resume'])).toThrow('twice')
  })
})
