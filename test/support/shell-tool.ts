/** Provides a tool whose input is a command line, for tests of rules. */

import type { Tool } from '../../src/core/tool.ts'

export function shellTool(name: string): Tool<{ command: string }> {
  return {
    name,
    description: 'Runs a command line.',
    inputSchema: { type: 'object' },
    subjects: ({ command }) => [{ kind: 'command', command }],
    call: () => 'ok',
  }
}
