/** Programs that find, pack and copy files. */

import { everything, options } from './risk.ts'
import type { Programs, Risk } from './risk.ts'

const archive = options({
  // At a checkpoint, for each member, to pack, at the end of a volume, to reach another machine: all are commands.
  // Options may stand among the names in a file.
  runs:
    '--checkpoint-action --to-command --use-compress-program -I --info-script --new-volume-script -F --rsh-command --rmt-command ' +
    '--files-from -T',
  // Members leave the folder: by their own names, or by new ones.
  writes: '--absolute-names -P --transform --xform --index-file',
  folder: '--directory -C --one-top-level',
})

/** The first word may be a bundle of letters without a dash. */
const tar: Risk = (words) => (/^[A-Za-z]*[IFPTC]/.test(words[0] ?? '') ? everything(words) : archive(words))

export const FILE_TOOLS: readonly Programs[] = [
  { programs: 'tar bsdtar gtar', risk: tar },
  // `-exec` and `-ok` run, `-delete` deletes, `-fprint` and `-fls` write; what follows belongs to them. What is no path in a file of paths is printed.
  { programs: 'find', from: /^-(?:exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls|files0-from)$/ },
  { programs: 'fd fdfind', runs: '--exec -x --exec-batch -X' },
  // `-T` tests the archive with the command of `-TT` (`--unzip-command`).
  { programs: 'zip', runs: '--test -T --unzip-command' },
  { programs: 'cpio', runs: '--rsh-command' },
  // The remote shell, what to run there, and the modules of a server.
  {
    programs: 'rsync',
    runs: '--rsh -e --rsync-path --config --daemon --remote-option -M',
    writes: '--log-file --write-batch --only-write-batch',
  },
  // The program of the connection, settings of ssh (`ProxyCommand`) by word or by file, a host to jump over, a server on this side.
  { programs: 'scp', runs: '-S -o -F -J -D' },
  { programs: 'install', runs: '--strip-program' },
  // The file is written; the places to write stand in the patch.
  { programs: 'tee dd patch', risk: everything },
  // Builds a preview, or is told by keys and by a socket what to run.
  { programs: 'fzf', runs: '--preview --bind --listen' },
  { programs: 'tree', writes: '--output -o', reads: '--fromfile --fromtabfile' },
]
