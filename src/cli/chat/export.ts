/** Writes a conversation to a file, for people or programs. Pure. */

import type { Message } from '../../core/message.ts'

export function exportText(messages: readonly Message[], sessionId: string, isJson: boolean): string {
  if (isJson) return `${JSON.stringify({ sessionId, messages }, undefined, 2)}\n`
  return `# Session ${sessionId}\n\n${messages.map(section).join('\n')}`
}

function section({ role, content, parts, toolCalls = [] }: Message): string {
  if (role === 'tool') {
    const results = parts.flatMap((part) => (part.type === 'tool-result' ? [`**${part.name}**\n\n${fenced(part.content)}`] : []))
    return results.join('\n')
  }
  const calls = toolCalls.map(({ name, input }) => `\`${name}\`\n\n${fenced(JSON.stringify(input, undefined, 2), 'json')}`)
  const title = role === 'user' ? 'User' : role === 'assistant' ? 'Assistant' : role
  return [`## ${title}\n`, ...(content.trim() === '' ? [] : [`${content.trimEnd()}\n`]), ...calls].join('\n')
}

/** With a fence that the text cannot close. */
function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text.trimEnd()}\n${fence}\n`
}
