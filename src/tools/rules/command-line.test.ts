import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stopwatch } from '../../../test/support/stopwatch.ts'
import { parseCommandLine } from './command-line.ts'

const texts = (line: string): string[][] => parseCommandLine(line).commands.map((command) => command.map(({ text }) => text))

describe('parseCommandLine', () => {
  it.each<[line: string, commands: string[][]]>([
    ['git status', [['git', 'status']]],
    ['  git \t status  ', [['git', 'status']]],
    [`git commit -m 'a b' "c d"`, [['git', 'commit', '-m', 'a b', 'c d']]],
    [String.raw`echo a\ b "c\"d" 'e\f'`, [['echo', 'a b', 'c"d', 'e\\f']]],
    ['echo "a\\nb"', [['echo', 'a\\nb']]],
    [`echo ''`, [['echo', '']]],
    [`echo a''b"c"`, [['echo', 'abc']]],
    ['a && b || c; d | e & f', [['a'], ['b'], ['c'], ['d'], ['e'], ['f']]],
    ['a\nb\n\nc', [['a'], ['b'], ['c']]],
    ['a |& b', [['a'], ['b']]],
    ['ls \\\n  -la', [['ls', '-la']]],
    ['# a note\nls # another\npwd', [['ls'], ['pwd']]],
    ['echo a#b', [['echo', 'a#b']]],
    ['make 2>&1', [['make']]],
    ['make >/dev/null 2>&1 </dev/null', [['make']]],
    ['make > /dev/null | cat', [['make'], ['cat']]],
    ['echo costs 5$', [['echo', 'costs', '5$']]],
    ['echo "5$"', [['echo', '5$']]],
    ['ls *.ts src/*.js', [['ls', '*.ts', 'src/*.js']]],
  ])('understands %j', (line, commands) => {
    expect(parseCommandLine(line).obscure).toBeUndefined()
    expect(texts(line)).toEqual(commands)
  })

  it.each<[line: string, reason: RegExp, commands?: string[][]]>([
    ['', /empty/],
    ['   # only a note', /empty/],
    ['echo $HOME', /variables/],
    ['echo ${HOME}', /variables/],
    [`echo $'a'`, /variables/],
    ['echo $"a"', /variables/],
    [
      'echo $(rm -rf x)',
      /inside another/,
      [
        ['rm', '-rf', 'x'],
        ['echo', '$()'],
      ],
    ],
    [
      'echo "$(rm -rf x)"',
      /inside another/,
      [
        ['rm', '-rf', 'x'],
        ['echo', '$()'],
      ],
    ],
    [
      'echo `rm -rf x`',
      /inside another/,
      [
        ['rm', '-rf', 'x'],
        ['echo', '$()'],
      ],
    ],
    [
      'echo "a `rm x` b"',
      /inside another/,
      [
        ['rm', 'x'],
        ['echo', 'a $() b'],
      ],
    ],
    ['echo $((1 + 1))', /inside another/],
    ['cat <(rm x)', /redirects/, [['cat'], ['rm', 'x']]],
    ['tee >(rm x)', /redirects/, [['tee'], ['rm', 'x']]],
    ['rm x > out', /redirects/, [['rm', 'x', 'out']]],
    ['echo a>out', /redirects/],
    ['echo a >> ~/.bashrc', /redirects/],
    ['echo a &> out', /redirects/],
    ['echo a >& out', /redirects/],
    ['echo a >| out', /redirects/],
    ['echo a > /dev/null2', /redirects/],
    ['echo a > /dev/sda', /redirects/],
    ['echo a > "/dev/null"x', /redirects/],
    ['cat < in', /redirects/],
    ['cat <<EOF\nrm x\nEOF', /redirects/, [['cat']]],
    ['cat <<< text', /redirects/],
    ['(rm x)', /groups/, [['rm', 'x']]],
    ['{ rm x; }', /braces|"\{"/, [['rm', 'x']]],
    ['{rm,x}', /braces/],
    ['if true; then rm x; fi', /"if"/, [['true'], ['rm', 'x']]],
    ['while true; do rm x; done', /"while"/, [['true'], ['rm', 'x']]],
    ['! rm x', /"!"/, [['rm', 'x']]],
    ['time rm x', /"time"/, [['rm', 'x']]],
    ['f() { rm x; }', /groups/],
    ['FOO=bar rm x', /sets variables/, [['rm', 'x']]],
    ['PATH=/tmp', /sets variables/],
    ['a[0]=1 ls', /sets variables|disguised/],
    [String.raw`g\it status`, /disguised/, [['git', 'status']]],
    [`'git' status`, /disguised/, [['git', 'status']]],
    [`g""it status`, /disguised/, [['git', 'status']]],
    ['gi? status', /disguised/],
    ['[ -f x ]', /disguised/],
    ['gít status', /disguised/],
    ['case x in esac', /"case"/],
    ['a;; b', /branches/],
    [`echo 'a`, /not closed/],
    ['echo "a', /not closed/],
    ['echo a\\', /backslash/],
    ['ls\u00a0-la', /cannot be seen/],
    ['ls\u2003-la', /cannot be seen/],
    ['ls\u200b -la', /cannot be seen/],
    ['ls \u202egpj.exe', /cannot be seen/],
    ['ls\r\nrm x', /cannot be seen/],
    ['ls\u0000', /cannot be seen/],
    ['ls \u001b[2K', /cannot be seen/],
    ['ls\u2028rm x', /cannot be seen/],
    ['ls\u3000x', /cannot be seen/],
    ['ls \u{e0041}', /cannot be seen/],
    ['ls \ud800', /cannot be seen/],
    [`echo ${'a'.repeat(30_000)}`, /too long/],
  ])('does not understand %j', (line, reason, commands) => {
    expect(parseCommandLine(line).obscure).toMatch(reason)
    if (commands !== undefined) expect(texts(line)).toEqual(commands)
  })

  it('comes to an end for any text, in time that grows with its length', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...Array.from('$()`"\'\\ \n;&|<>{}#*ab=-!')), maxLength: 400 }), (line) => {
        const { commands, obscure } = parseCommandLine(line)
        expect(commands.length > 0 || obscure !== undefined).toBe(true)
      }),
      { numRuns: 2000 },
    )
    const elapsed = stopwatch()
    for (const piece of ['$(', '`', '"$(', '((', '<(', "'", '\\', '${', '&&', '>'])
      parseCommandLine(piece.repeat(9000 / piece.length))
    expect(elapsed()).toBeLessThan(1000)
  })

  it('reads quoted words back as they were', () => {
    const word = fc.string({ unit: fc.constantFrom(...Array.from('ab \t$`"\'\\;|&<>*?[]{}()#~=-')), minLength: 1 })
    fc.assert(
      fc.property(fc.array(word), (words) => {
        const line = ['run', ...words.map((each) => `'${each.replaceAll("'", String.raw`'\''`)}'`)].join(' ')
        expect(parseCommandLine(line).obscure).toBeUndefined()
        expect(texts(line)).toEqual([['run', ...words]])
      }),
    )
  })

  // The shell itself is the authority: `run` prints its arguments, and nothing else can run.
  it.runIf(process.platform !== 'win32').each(['sh', 'bash'])('reads what it understands as %s does', (shell) => {
    const piece = fc.constantFrom(
      ...Array.from('ab \t\n$\'"\\;#*?=-'),
      '&&',
      '\\\n',
      ' run ',
      ';run ',
      "'a b'",
      '"a\\"b"',
      '2>&1',
      '>/dev/null',
      ' #',
    )
    const lines = fc
      .sample(fc.array(piece, { maxLength: 14 }), 3000)
      .map((pieces) => `run ${pieces.join('')}`)
      .filter((line) => {
        const { commands, obscure } = parseCommandLine(line)
        // After an escaped ampersand the other one sends to the background, and the order is gone.
        return !line.includes('\\&') && obscure === undefined && commands.every(([name]) => name?.text === 'run')
      })
    expect(lines.length).toBeGreaterThan(300)
    const script = lines.map((line) => `${line}\nmark\n`).join('')
    const head = `set -f\nrun() { printf '%s\\0' "$#" "$@" >&3; }\nmark() { printf 'mark\\0' >&3; }\n`
    const { output, stderr } = spawnSync(shell, ['-s'], {
      input: head + script,
      encoding: 'utf8',
      env: {},
      stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
      maxBuffer: 1e8,
    })
    expect(stderr).toBe('')
    const heard = (output[3] ?? '').split('mark\0').slice(0, -1)
    const read = lines.map((line) =>
      texts(line)
        .map(([, ...words]) => [String(words.length), ...words].map((word) => `${word}\0`).join(''))
        .join(''),
    )
    expect(heard.length).toBe(lines.length)
    for (const [index, line] of lines.entries()) expect([line, heard[index]]).toEqual([line, read[index]])
  })
})
