/** Programs that speak to other machines. */

import type { Programs } from './risk.ts'

export const NETWORK_TOOLS: readonly Programs[] = [
  {
    programs: 'curl',
    // Any option from a file; a library of code.
    runs: '--config -K --engine',
    writes:
      '--output -o --output-dir --remote-name -O --remote-name-all -J --dump-header -D --cookie-jar -c --trace --trace-ascii --libcurl ' +
      '--stderr --etag-save --hsts --alt-svc',
    reads:
      // What is sent may be a file.
      '--data -d --form -F --json --upload-file -T --url-query --variable --expand ' +
      // Passwords and keys.
      '--netrc -n --netrc-file --netrc-optional --cert -E --key',
    // Sockets of this machine, and commands to a server: what listens there may obey. Another protocol for an address without one.
    elsewhere: '--unix-socket --abstract-unix-socket --quote -Q --proto-default',
    // Another protocol than HTTP; a file as the value of an option (`-d@x`, `--header=@x`), or written by `--write-out`.
    word: /^(?!https?:)[a-z][a-z\d+.-]*:\/\/|^file:|^(?:-\w*|--[\w-]+=)?@|%output\{/i,
  },
  {
    programs: 'wget',
    // A line of its settings, a file of them, a program that asks for a password.
    runs: '--execute -e --config --use-askpass',
    writes:
      '--output-document -O --output-file -o --append-output -a --directory-prefix -P --save-cookies --hsts-file --rejected-log --warc ' +
      // The name where the address has none; or the server, or a page, chooses the names and their number.
      '--default-page --recursive -r --mirror -m --force-directories -x --no-host-directories --content-disposition --trust-server-names',
    // Addresses, or what is sent, from a file.
    reads: '--input-file -i --post-file --body-file --post-data --body-data',
    // Follows links to any machine.
    elsewhere: '-H',
  },
  // Scripts in Lua, a shell in old versions; all of `-oN`, `-oX`, … write.
  { programs: 'nmap', runs: '--script --interactive', word: /^-o/ },
  // The command runs when a file is full.
  { programs: 'tcpdump', runs: '-z', writes: '-w' },
  // Another place that gets the signed requests; keys and settings.
  { programs: 'aws', elsewhere: '--endpoint-url', from: /^configure$/ },
  { programs: 'gcloud', from: /^(?:ssh|scp)$/ },
  // The file says how to log in: by a command.
  { programs: 'helm', runs: '--post-renderer --kubeconfig', from: /^plugin$/ },
  { programs: 'terraform tofu', word: /^--?(?:plugin-dir|chdir)/ },
]
