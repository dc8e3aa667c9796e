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
    expect(parseCommandLine(line).opaque).toBeUndefined()
    expect(texts(line)).toEqual(commands)
  })

  it.each<[line: string, commands: string[][]]>([
    ['echo $HOME', [['echo', '$HOME']]],
    ['echo "$?"', [['echo', '$?']]],
    ['echo ${HOME:-x}', [['echo', '${HOME:-x}']]],
    ['echo $((1 + 1))', [['echo', '$((1 + 1))']]],
    [
      'echo $(rm -rf x)',
      [
        ['rm', '-rf', 'x'],
        ['echo', '$()'],
      ],
    ],
    [
      'echo "$(rm -rf x)"',
      [
        ['rm', '-rf', 'x'],
        ['echo', '$()'],
      ],
    ],
    [
      'echo `rm -rf x`',
      [
        ['rm', '-rf', 'x'],
        ['echo', '$()'],
      ],
    ],
    [
      'echo "a `rm x` b"',
      [
        ['rm', 'x'],
        ['echo', 'a $() b'],
      ],
    ],
    [
      'echo $(echo $(rm x))',
      [
        ['rm', 'x'],
        ['echo', '$()'],
        ['echo', '$()'],
      ],
    ],
    ['a $(b; c | d) e', [['b'], ['c'], ['d'], ['a', '$()', 'e']]],
    ['(rm x)', [['rm', 'x']]],
    ['(cd a && ls) | cat', [['cd', 'a'], ['ls'], ['cat']]],
    ['{ rm x; }', [['rm', 'x']]],
    ['! rm x', [['rm', 'x']]],
    ['if true; then rm x; fi', [['true'], ['rm', 'x']]],
    ['if a; then b; elif c; then d; else e; fi', [['a'], ['b'], ['c'], ['d'], ['e']]],
    ['while true; do rm x; done', [['true'], ['rm', 'x']]],
    ['for f in a b; do rm "$f"; done', [['rm', '$f']]],
    ['for f in $(ls); do cat $f; done', [['ls'], ['cat', '$f']]],
    ['for f\ndo\n  rm x\ndone', [['rm', 'x']]],
    [
      '[ -f x ] && cat x',
      [
        ['[', '-f', 'x', ']'],
        ['cat', 'x'],
      ],
    ],
    ['time rm x', [['time', 'rm', 'x']]],
    ['echo for x in rm', [['echo', 'for', 'x', 'in', 'rm']]],
    ['git show HEAD@{1} stash@{0}', [['git', 'show', 'HEAD@{1}', 'stash@{0}']]],
  ])('understands %j, with words that are known only at run time', (line, commands) => {
    const read = parseCommandLine(line)
    expect([read.opaque, read.more]).toEqual([undefined, undefined])
    expect(texts(line)).toEqual(commands)
  })

  it.each<[line: string, more: RegExp, commands: string[][]]>([
    ['rm x > out', /redirects/, [['rm', 'x']]],
    [`rm x > ${'a'.repeat(200)}`, /redirects/, [['rm', 'x']]],
    ['echo a>out', /redirects/, [['echo', 'a']]],
    ['echo a >> ~/.bashrc', /redirects/, [['echo', 'a']]],
    ['echo a >& out', /redirects/, [['echo', 'a']]],
    ['echo a >| out', /redirects/, [['echo', 'a']]],
    ['echo a > /dev/null2', /redirects/, [['echo', 'a']]],
    ['echo a > "/dev/null"x', /redirects/, [['echo', 'a']]],
    ['cat < in', /redirects/, [['cat']]],
    ['cat < $(ls)', /redirects/, [['ls'], ['cat']]],
    ['cat `ls > out`', /redirects/, [['ls'], ['cat', '$()']]],
    ['cat "`PORT=1 ls`"', /sets variables/, [['ls'], ['cat', '$()']]],
    ['cat <<EOF\nrm x\nEOF', /document/, [['cat']]],
    ["cat <<'EOF' | sh\n$(rm x)\nEOF\nls", /document/, [['cat'], ['sh'], ['ls']]],
    ['cat <<-EOF\n\tx\n\tEOF\nls', /document/, [['cat'], ['ls']]],
    ['cat <<A <<B\na\nA\nb\nB\nls', /document/, [['cat'], ['ls']]],
    [
      'cat <(rm x)',
      /process substitution/,
      [
        ['rm', 'x'],
        ['cat', '<()'],
      ],
    ],
    ['FOO=bar rm x', /sets variables/, [['rm', 'x']]],
    ['FOO="a b" rm x', /sets variables/, [['rm', 'x']]],
    ['x=$(ls)', /sets variables/, [['ls']]],
  ])('understands %j, which has further effects', (line, more, commands) => {
    const read = parseCommandLine(line)
    expect(read.opaque).toBeUndefined()
    expect(read.more).toMatch(more)
    expect(texts(line)).toEqual(commands)
  })

  it.each<[line: string, reason: RegExp]>([
    ['', /empty/],
    ['   # only a note', /empty/],
    [`echo $'a'`, /quotes/],
    ['echo $"a"', /quotes/],
    ['echo ${X:-$(rm x)}', /expansion that cannot be read/],
    ['echo $(( $(rm x) ))', /expansion that cannot be read/],
    ['echo `echo \\`rm x\\``', /cannot be read/],
    ['echo a &> out', /not every shell/],
    ['cat <<< text', /not every shell/],
    ['a |& b', /not every shell/],
    ['cat <<EOF\n$(rm x)\nEOF', /may run commands/],
    ['cat <<EOF\nx', /not closed/],
    ['cat <<EOF', /not closed/],
    ['f() { rm x; }', /groups/],
    ['f () ls', /groups/],
    ['{rm,x}', /disguised/],
    ['PATH=/tmp ls', /sets PATH/],
    ['LD_PRELOAD=x ls', /sets LD_PRELOAD/],
    ['IFS=x ls', /sets IFS/],
    ['"x="/../rm ls', /disguised/],
    ['$x ls', /disguised/],
    ['$(echo rm) x', /disguised/],
    [String.raw`g\it status`, /disguised/],
    [`'git' status`, /disguised/],
    [`g""it status`, /disguised/],
    ['gi? status', /disguised/],
    ['gít status', /disguised/],
    ['[[ -f x ]]', /"\[\["/],
    ['case x in esac', /"case"/],
    ['done x', /words follow/],
    ['(ls) x', /words follow/],
    ['ls )', /closes nothing/],
    ['(ls', /not closed/],
    ['a;; b', /branches/],
    ['a > ', /nowhere/],
    ['&& a', /joins nothing/],
    ['a &&', /not complete/],
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
    ['ls \ud800', /cannot be seen/],
    ['ls \u{e0041}', /cannot be seen/],
    [`echo ${'a'.repeat(20_000)}`, /too long/],
  ])('does not understand %j', (line, reason) => {
    expect(parseCommandLine(line).opaque).toMatch(reason)
  })

  it('ends for any text, in time linear in its length', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...Array.from('$()`"\'\\ \n;&|<>{}#*ab=-!')), maxLength: 400 }), (line) => {
        const { commands, opaque, more } = parseCommandLine(line)
        expect(commands.length > 0 || opaque !== undefined || more !== undefined).toBe(true)
      }),
      { numRuns: 2000 },
    )
    const elapsed = stopwatch()
    for (const piece of ['$(', '`', '"$(', '((', '<(', "'", '\\', '${', '&&', '>'])
      parseCommandLine(piece.repeat(9000 / piece.length))
    expect(elapsed()).toBeLessThan(1000)
  })

  it('restores quoted words', () => {
    const word = fc.string({ unit: fc.constantFrom(...Array.from('ab \t$`"\'\\;|&<>*?[]{}()#~=-')), minLength: 1 })
    fc.assert(
      fc.property(fc.array(word), (words) => {
        const line = ['run', ...words.map((each) => `'${each.replaceAll("'", String.raw`'\''`)}'`)].join(' ')
        expect(parseCommandLine(line).opaque).toBeUndefined()
        expect(texts(line)).toEqual([['run', ...words]])
      }),
    )
  })

  // The shell itself is the authority: `run` prints its arguments, and nothing else can run.
  it.runIf(process.platform !== 'win32').each(['sh', 'bash'])('parses transparent lines as %s does', (shell) => {
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
        const { commands, opaque, more } = parseCommandLine(line)
        // After an escaped ampersand, the next ampersand runs the command in the background, in no fixed order.
        return (
          !line.includes('\\&') &&
          opaque === undefined &&
          more === undefined &&
          commands.every((words) => words[0]?.text === 'run' && !words.some(({ unknown }) => unknown))
        )
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
