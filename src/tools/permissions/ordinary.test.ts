/** Ordinary commands under ordinary rules, and refusals that suggest a rule. */

import { describe, expect, it } from 'vitest'
import { shellTool } from '../../../test/support/shell-tool.ts'
import { ORDINARY, SENSIBLE_RULES } from '../../../test/support/ordinary-commands.ts'
import { decide, exactRule } from './decide.ts'
import { readRules } from './rule-book.ts'
import { subjectsOf } from './subject.ts'

const shell = shellTool('run_command')

describe('ordinary commands', () => {
  it('are at least 150', () => expect(new Set(ORDINARY).size).toBeGreaterThanOrEqual(150))

  it('ENG-TOOL-005 at most 2 % of them are refused in a sandbox', async () => {
    const { rules, root } = await readRules({ allow: SENSIBLE_RULES })
    const refused: string[] = []
    for (const command of ORDINARY) {
      const subjects = await subjectsOf(shell, { command }, root)
      if (decide(rules, 'run_command', subjects, { confined: true })?.verdict !== 'allow') refused.push(command)
    }
    expect(refused.length / ORDINARY.length).toBeLessThanOrEqual(0.02)
    expect(refused).toEqual([])
  })

  it('ENG-TOOL-005 the rule that a refusal suggests lets any command run', async () => {
    for (const command of [...ORDINARY, '  ls  ', "echo 'a)b'", 'f() { ls; }; f', 'cat <<< x', 'cat *']) {
      const rule = exactRule('run_command', await subjectsOf(shell, { command }, '/'))
      const { rules, root } = await readRules({ allow: [rule ?? ''], deny: ['read_file(private/**)'] })
      const verdict = decide(rules, 'run_command', await subjectsOf(shell, { command }, root), {
        confined: false,
        exposed: '.env',
      })
      expect([command, verdict?.verdict]).toEqual([command, 'allow'])
    }
  })

  it.each([
    ['cd evil && ./build.sh', './build.sh'],
    ['cd evil && npm test', 'npm test'],
  ])('%s does not match the rule %s', async (command, rule) => {
    const { rules, root } = await readRules({ allow: [`run_command(${rule})`, 'run_command(cd *)'] })
    const subjects = await subjectsOf(shell, { command }, root)
    expect(decide(rules, 'run_command', subjects)?.verdict).not.toBe('allow')
    const confined = decide(rules, 'run_command', subjects, { confined: true })?.verdict
    expect(confined === 'allow').toBe(!rule.startsWith('.'))
  })
})
