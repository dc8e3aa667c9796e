/** Programs that deal with keys and with what other processes hold. */

import type { Programs } from './risk.ts'

export const KEY_TOOLS: readonly Programs[] = [
  {
    programs: 'openssl',
    // Engines and providers are libraries of code, and settings load them; `-out` and `-keyout` write.
    word: /^(?:engine$|--?(?:engine|provider|provider-path|config|out|keyout)$)/,
  },
  {
    programs: 'gpg',
    // Programs, folders of programs, and files of options that name them.
    runs: '--exec-path --photo-viewer --agent-program --dirmngr-program --keyserver-options --options --homedir',
    writes: '--output -o --log-file --logger-file --status-file --attribute-file',
    reads: '--export-secret-keys --export-secret-subkeys',
  },
  // A library for keys on a card, or for a security key, is loaded.
  { programs: 'ssh-keygen', runs: '-D -w' },
  { programs: 'ssh-add', runs: '-s -S' },
  // Without a dash the letter shows the environment of every process.
  { programs: 'ps', word: /^[a-zA-Z]*e/ },
]
