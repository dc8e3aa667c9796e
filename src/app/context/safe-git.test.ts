import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderForEach } from '../../../test/support/folder.ts'
import type { ContextPiece } from '../../core/injection.ts'
import type { Surroundings } from '../paths.ts'
import { loadGitStatus } from './built-in.ts'

let base: string
let repo: string
let canary: string
/** A program that writes the canary file; in a shell command, arguments may follow. */
let program: string

folderForEach((folder) => {
  base = folder
  repo = join(base, 'repo')
  canary = join(base, 'canary')
  program = join(base, 'program')
  mkdirSync(repo)
  writeFileSync(program, `#!/bin/sh\necho "$0 $@" >> '${canary}'\n`)
  chmodSync(program, 0o755)
  git('init', '-q', '-b', 'main')
  write('a.txt', 'one\n')
  git('add', '.')
  git('commit', '-q', '-m', 'first')
})

/** Runs git like an ordinary caller, but without this machine's own configuration. */
function git(...args: string[]): string {
  return gitIn(repo, ...args)
}

function gitIn(cwd: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'protocol.file.allow=always']
  return execFileSync('git', [...identity, ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 20_000,
    env: { ...bareEnv(), GIT_CONFIG_NOSYSTEM: '1' },
  })
}

function bareEnv(): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: base }
}

function write(path: string, text: string): void {
  writeFileSync(join(repo, path), text)
}

/** Changes the stat data of a file, so that git has to compare its content, through its filters. */
function touch(path: string): void {
  utimesSync(join(repo, path), new Date(), new Date(Date.now() - 5000))
}

interface StatusOptions extends Surroundings {
  readonly maxTokens: number
  readonly timeout: number
}

async function status(
  options: Partial<StatusOptions> = {},
): Promise<{ readonly pieces: readonly ContextPiece[]; readonly notices: readonly string[] }> {
  const notices: string[] = []
  const { signal = new AbortController().signal, maxTokens = 2000, timeout = 30_000, ...around } = options
  const request = { signal, maxTokens, reads: [], notice: (message: string) => notices.push(message) }
  const pieces = await loadGitStatus(request, { cwd: repo, env: bareEnv(), ...around }, timeout)
  return { pieces, notices }
}

const textOf = async (options: Partial<StatusOptions> = {}): Promise<string | undefined> =>
  (await status(options)).pieces[0]?.text

describe('git status', () => {
  it('ENG-CTX-003 reports branch, changes and new files, read anew each time', async () => {
    expect(await textOf()).toBe('## main\n(nothing to commit, working tree clean)')
    write('a.txt', 'two\n')
    write('neu ü.txt', '')
    expect(await textOf()).toBe('## main\n M a.txt\n?? "neu ü.txt"')
    git('add', '.')
    expect(await textOf()).toBe('## main\nM  a.txt\nA  "neu ü.txt"')
  })

  it('ENG-CTX-003 returns the same in a subfolder, and nothing outside of a repository', async () => {
    mkdirSync(join(repo, 'sub'))
    write('sub/b.txt', '')
    expect(await textOf({ cwd: join(repo, 'sub') })).toBe('## main\n?? sub/')
    expect(await status({ cwd: base })).toEqual({ pieces: [], notices: [] })
  })

  it('ENG-CTX-003 keeps whole lines of a long output and reports that it is cut', async () => {
    for (let index = 0; index < 300; index++) write(`file-${index}-${'x'.repeat(40)}.txt`, '')
    const [piece] = (await status({ maxTokens: 200 })).pieces
    expect(piece?.isCut).toBe(true)
    expect(piece?.text.length).toBeLessThanOrEqual(1600)
    expect(piece?.text.split('\n').slice(1)).toSatisfy((lines: string[]) =>
      lines.every((line) => /^\?\? file-\d+-x{40}\.txt$/.test(line)),
    )
  })

  it('ENG-CTX-003 changes nothing in the repository', async () => {
    touch('a.txt')
    const index = readFileSync(join(repo, '.git/index'))
    await status()
    expect(readFileSync(join(repo, '.git/index')).equals(index)).toBe(true)
  })

  it('ENG-CTX-003 stops a git that does not answer, and reports it', async () => {
    execFileSync('mkfifo', [join(base, 'pipe')])
    git('config', 'core.excludesFile', join(base, 'pipe'))
    const { pieces, notices } = await status({ timeout: 500 })
    expect(pieces).toEqual([])
    expect(notices).toEqual(['The state of the repository is left out: git did not answer within 500 ms.'])
  })

  it('ENG-CTX-003 stops when the turn is aborted', async () => {
    execFileSync('mkfifo', [join(base, 'pipe')])
    git('config', 'core.excludesFile', join(base, 'pipe'))
    const signal = AbortSignal.timeout(300)
    const loading = status({ signal, timeout: 3000 })
    await expect(loading).rejects.toThrow('aborted due to timeout')
    await expect(loading).rejects.toSatisfy((reason) => reason === signal.reason)
  })

  it('ENG-CTX-003 without git the state is left out, with a notice', async () => {
    const { pieces, notices } = await status({ env: { PATH: join(base, 'nowhere') } })
    expect(pieces).toEqual([])
    expect(notices).toEqual(['The state of the repository is left out: git is not installed.'])
  })
})

describe('git status in a repository that wants to run programs', () => {
  /** Repositories that try to run the program. Where `bites` is set, a plain `git status` runs it; the others are related cases. */
  const traps: readonly { readonly name: string; readonly bites: boolean; readonly set: () => void }[] = [
    { name: 'core.fsmonitor', bites: true, set: () => git('config', 'core.fsmonitor', program) },
    {
      name: 'core.fsmonitor of an included file',
      bites: true,
      set: () => {
        write('.git/more', `[core]\n\tfsmonitor = ${program}\n`)
        git('config', 'include.path', 'more')
      },
    },
    {
      name: 'core.fsmonitor of a conditionally included file',
      bites: true,
      set: () => {
        write('.git/more', `[core]\n\tfsmonitor = ${program}\n`)
        git('config', 'includeIf.onbranch:main.path', 'more')
      },
    },
    {
      name: 'core.fsmonitor of the work tree',
      bites: true,
      set: () => {
        git('config', 'extensions.worktreeConfig', 'true')
        git('config', '--worktree', 'core.fsmonitor', program)
      },
    },
    {
      name: 'a clean filter',
      bites: true,
      set: () => {
        git('config', 'filter.f.clean', program)
        write('.gitattributes', '*.txt filter=f\n')
        touch('a.txt')
      },
    },
    {
      name: 'a required clean filter in included files, of an odd name, by info/attributes',
      bites: true,
      set: () => {
        write('.git/more', `[filter "x=y.z:ü"]\n\tclean = ${program}\n\trequired = true\n`)
        git('config', 'include.path', 'more')
        mkdirSync(join(repo, '.git/info'), { recursive: true })
        write('.git/info/attributes', '*.txt filter=x=y.z:ü\n')
        touch('a.txt')
      },
    },
    {
      name: 'a clean filter without a name',
      bites: true,
      set: () => {
        write('.git/config', `${readFileSync(join(repo, '.git/config'), 'utf8')}[filter ""]\n\tclean = ${program}\n`)
        write('.gitattributes', '* filter=\n')
        touch('a.txt')
      },
    },
    {
      name: 'a clean filter whose name is not UTF-8',
      bites: true,
      set: () => {
        const config = [readFileSync(join(repo, '.git/config')), Buffer.from(`[filter "\xFF"]\n\tclean = ${program}\n`, 'latin1')]
        writeFileSync(join(repo, '.git/config'), Buffer.concat(config))
        writeFileSync(join(repo, '.gitattributes'), Buffer.from('* filter=\xFF\n', 'latin1'))
        touch('a.txt')
      },
    },
    {
      name: 'a filter process, by core.attributesFile',
      bites: true,
      set: () => {
        git('config', 'filter.p.process', program)
        write('.git/attributes', '* filter=p\n')
        git('config', 'core.attributesFile', join(repo, '.git/attributes'))
        touch('a.txt')
      },
    },
    {
      name: 'a hook after the index is written',
      bites: true,
      set: () => {
        mkdirSync(join(repo, '.git/hooks'), { recursive: true })
        symlinkSync(program, join(repo, '.git/hooks/post-index-change'))
        touch('a.txt')
      },
    },
    {
      name: 'core.hooksPath',
      bites: true,
      set: () => {
        mkdirSync(join(repo, 'hooks'))
        symlinkSync(program, join(repo, 'hooks/post-index-change'))
        git('config', 'core.hooksPath', 'hooks')
        touch('a.txt')
      },
    },
    {
      name: 'a promised object, fetched by a program',
      bites: true,
      set: () => {
        promiseMissingTree(program)
      },
    },
    {
      name: 'a promised object, fetched over ssh',
      bites: true,
      set: () => {
        promiseMissingTree(undefined, 'ssh://example.invalid/x')
        git('config', 'core.sshCommand', program)
      },
    },
    {
      name: 'a promised object, fetched by ext::',
      bites: true,
      set: () => {
        promiseMissingTree(undefined, `ext::${program}`)
        git('config', 'protocol.ext.allow', 'always')
      },
    },
    {
      name: 'a submodule with a configuration of its own',
      bites: true,
      set: () => {
        const inner = join(base, 'inner')
        mkdirSync(inner)
        gitIn(inner, 'init', '-q', '-b', 'main')
        gitIn(inner, 'commit', '-q', '--allow-empty', '-m', 'inner')
        git('submodule', '--quiet', 'add', inner, 'inner')
        git('commit', '-q', '-m', 'with a submodule')
        gitIn(join(repo, 'inner'), 'config', 'core.fsmonitor', program)
        git('config', 'submodule.inner.ignore', 'none')
        git('config', 'status.submoduleSummary', 'true')
      },
    },
    {
      name: 'pager, alias, diff and textconv drivers, editor, credential helper',
      bites: false,
      set: () => {
        for (const key of ['core.pager', 'pager.status', 'diff.external', 'diff.d.textconv', 'diff.d.command', 'core.editor'])
          git('config', key, program)
        for (const key of ['core.askPass', 'credential.helper', 'gpg.program', 'core.alternateRefsCommand', 'core.gitProxy'])
          git('config', key, program)
        git('config', 'alias.status', `!${program}`)
        git('config', 'alias.config', `!${program}`)
        git('config', 'core.virtualFilesystem', program)
        write('.gitattributes', '* diff=d\n')
        write('a.txt', 'changed\n')
      },
    },
  ]

  /** Makes a partial clone that lacks the tree of its commit, and would fetch it from a configured place. */
  function promiseMissingTree(uploadPack: string | undefined, url: string = join(base, 'elsewhere')): void {
    const tree = git('rev-parse', 'HEAD^{tree}').trim()
    rmSync(join(repo, '.git/objects', tree.slice(0, 2), tree.slice(2)), { force: true })
    git('config', 'core.repositoryFormatVersion', '1')
    git('config', 'extensions.partialClone', 'origin')
    git('config', 'remote.origin.url', url)
    git('config', 'remote.origin.promisor', 'true')
    git('config', 'remote.origin.partialCloneFilter', 'tree:0')
    if (uploadPack !== undefined) git('config', 'remote.origin.uploadpack', uploadPack)
  }

  it.each(traps)('ENG-CTX-003 does not run $name', async ({ name, set, bites }) => {
    set()
    rmSync(canary, { force: true })
    const { pieces, notices } = await status()
    expect(existsSync(canary)).toBe(false)
    // A notice appears for missing objects, and for a filter that cannot be switched off.
    if (name.startsWith('a promised object') || name.endsWith('not UTF-8')) expect(notices).toHaveLength(1)
    else expect(pieces[0]?.text).toMatch(/^## main\n/)

    if (!bites) return
    try {
      gitIn(repo, 'status')
    } catch {
      // Only the executed program matters.
    }
    expect(existsSync(canary)).toBe(true)
  })

  it('ENG-CTX-003 a repository hidden in a folder with a broken .git is not opened', async () => {
    renameSync(join(repo, '.git'), join(base, 'hidden'))
    for (const name of ['HEAD', 'config', 'objects', 'refs']) renameSync(join(base, 'hidden', name), join(repo, name))
    mkdirSync(join(repo, '.git'))
    execFileSync('git', ['config', '--file', join(repo, 'config'), 'core.fsmonitor', program], { env: bareEnv() })
    const { pieces, notices } = await status()
    expect(existsSync(canary)).toBe(false)
    expect(pieces).toEqual([])
    expect(notices).toHaveLength(1)
  })

  it('ENG-CTX-003 ignores the git variables of the environment', async () => {
    write('b.txt', '')
    const env = {
      ...bareEnv(),
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.fsmonitor',
      GIT_CONFIG_VALUE_0: program,
      GIT_DIR: join(base, 'elsewhere'),
      GIT_EXEC_PATH: base,
      GIT_TRACE: canary,
      GIT_EXTERNAL_DIFF: program,
    }
    expect(await textOf({ env })).toBe('## main\n?? b.txt')
    expect(existsSync(canary)).toBe(false)
  })

  it('ENG-CTX-003 a git that lies in the repository, or in a relative folder of PATH, is not run', async () => {
    mkdirSync(join(repo, 'node_modules/.bin'), { recursive: true })
    symlinkSync(program, join(repo, 'node_modules/.bin/git'))
    write('.gitignore', 'node_modules\n')
    git('add', '.gitignore')
    const path = ['.', '', 'node_modules/.bin', join(repo, 'node_modules/.bin'), bareEnv()['PATH']].join(delimiter)
    expect(await textOf({ env: { ...bareEnv(), PATH: path } })).toBe('## main\nA  .gitignore')
    expect(existsSync(canary)).toBe(false)
  })

  it('ENG-CTX-003 core.worktree does not make another folder visible', async () => {
    mkdirSync(join(base, 'private'))
    writeFileSync(join(base, 'private/diary.txt'), '')
    git('config', 'core.worktree', join(base, 'private'))
    expect(await textOf()).toBe('## main\n(nothing to commit, working tree clean)')
  })

  it('ENG-CTX-003 does not run the user’s own filters either', async () => {
    writeFileSync(join(base, '.gitconfig'), `[filter "lfs"]\n\tclean = ${program}\n\tprocess = ${program}\n\trequired = true\n`)
    write('.gitattributes', '*.txt filter=lfs\n')
    touch('a.txt')
    expect(await textOf()).toContain('?? .gitattributes')
    expect(existsSync(canary)).toBe(false)
  })
})
