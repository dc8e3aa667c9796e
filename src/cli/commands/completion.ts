import { ConfigurationError } from '../../core/error.ts'
import { defineCommand } from '../command.ts'
import type { Command } from '../command.ts'
import { completionScript, SHELLS } from '../completion.ts'

/** @param entries all commands: the table that holds this one cannot be imported here. */
export const completionOf = (entries: readonly { readonly summary: string; readonly load: () => Promise<Command> }[]): Command =>
  defineCommand({
    name: 'completion',
    arguments: [{ name: 'shell', about: 'bash, zsh or fish', offers: () => SHELLS }],
    options: {},
    details: `Put one line into the file that your shell reads when it starts:
bash, ~/.bashrc: source <(cria completion bash). zsh, ~/.zshrc: source <(cria completion zsh), after compinit.
fish, ~/.config/fish/config.fish: cria completion fish | source`,
    examples: ['cria completion bash', 'source <(cria completion bash)'],
    async run({ arguments: [shell = ''] }, io) {
      const known = SHELLS.find((each) => each === shell)
      if (known === undefined)
        throw new ConfigurationError(
          `There is no completion for ${JSON.stringify(shell.slice(0, 60))}. Expected ${SHELLS.join(', ')}.`,
        )
      const all = await Promise.all(entries.map(async ({ summary, load }) => ({ command: await load(), about: summary })))
      await io.stdout.write(completionScript(known, all))
    },
  })
