/** Types what a command in a sandbox can reach, and its limits. */

export interface Walls {
  /** Real path of the folder that the command works in; written. */
  readonly root: string
  /** Real paths beside it that are written. */
  readonly writable: readonly string[]
  /** Real paths inside what is written that are only read. */
  readonly readOnly: readonly string[]
  /** Real paths of folders that cannot be moved: something in them is hidden or read-only by its place. */
  readonly pinned: readonly string[]
  /** Real paths of files that read as empty, and of folders that are empty. */
  readonly hiddenFiles: readonly string[]
  readonly hiddenFolders: readonly string[]
  /** Folders of programs that are to be read although they lie in `/tmp`. */
  readonly programs: readonly string[]
  /** A private folder outside, which is `/tmp` inside. */
  readonly temporary: string
  readonly network: boolean
  /** Where the command starts; default `root`. */
  readonly cwd?: string
}

/** Bounds of each process of a command. */
export interface CommandLimits {
  /** Processes and threads of the user; not counted for root. Default 4096. */
  readonly processes?: number
  /** Megabytes of memory that a process may write; default 16,384. */
  readonly memory?: number
  /** Megabytes of a file that is written; default 10,240. */
  readonly fileSize?: number
}

/** Sets the limits, then becomes the program behind them. Where a limit cannot be set, a lower one is in force already. */
export function limited(
  { processes = 4096, memory = 16_384, fileSize = 10_240 }: CommandLimits,
  words: readonly string[],
): readonly string[] {
  const script = `ulimit -c 0; ulimit -f ${fileSize * 2048}; ulimit -d ${memory * 1024}; ulimit -u ${processes} || ulimit -p ${processes}; exec "$@"`
  return ['/bin/sh', '-c', `{ ${script.replace('; exec "$@"', '')}; } 2>/dev/null; exec "$@"`, 'sh', ...words]
}
