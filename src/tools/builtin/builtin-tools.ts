/** Creates the built-in tools for one working folder. */

import type { DocumentStore } from '../../core/store.ts'
import type { Tool } from '../../core/tool.ts'
import { askUserTool } from './ask-user.ts'
import type { AskUser } from './ask-user.ts'
import { commandEnvironment, hiddenValues, repositorySettings, sandboxEnvironment } from './command-environment.ts'
import { editFileTool } from './edit-file.ts'
import { Edits, KnownFiles } from './edits.ts'
import { fetchUrlTool } from './fetch-url.ts'
import type { FetchOptions } from './fetch-url.ts'
import { listFilesTool } from './list-files.ts'
import { readFileTool } from './read-file.ts'
import type { ReadDocument } from './read-file.ts'
import { runCommandTool } from './run-command.ts'
import type { CommandSurroundings } from './run-command.ts'
import { searchDocumentsTool } from './search-documents.ts'
import { searchFilesTool } from './search-files.ts'
import { TodoLists, todoTool } from './todo.ts'
import { Sandbox, sandboxOptions } from '../sandbox/sandbox.ts'
import type { SandboxMode, SandboxOptions } from '../sandbox/sandbox.ts'
import { environment } from '../../util/environment.ts'
import { Workspace } from './workspace.ts'
import { writeFileTool } from './write-file.ts'

/** Options of `builtinTools()`. */
export interface BuiltinToolOptions {
  /** The folder in which files are read and changed, and commands run; may be a symbolic link. */
  readonly root: string
  /** Adds `search_documents` over these stores. */
  readonly stores?: readonly DocumentStore[]
  /** Adds `fetch_url`; default false. */
  readonly fetch?: boolean | FetchOptions
  /** Answers `ask_user`; when absent, the tool reports that no user can answer. */
  readonly askUser?: AskUser
  /** Environment of commands; default the environment of the process. Secrets are removed from it. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Variables that hold secrets under unusual names. */
  readonly secretVariables?: readonly string[]
  /** Variables that commands receive although their names look like secrets: `GITHUB_TOKEN`. */
  readonly keptVariables?: readonly string[]
  /** The sandbox of commands: `auto` (default), `required`, `off`, or detailed options. */
  readonly sandbox?: SandboxMode | SandboxOptions
  /** Extracts the text of PDF and DOCX files; by default they are not shown. */
  readonly readDocument?: ReadDocument
  /** Stores the lists of `todo`, for hosts that show them. */
  readonly todos?: TodoLists
  /** Stores the edits of the tools, for hosts that show or undo them. */
  readonly edits?: Edits
}

/** @throws ConfigurationError when the root cannot be found. */
export function builtinTools(options: BuiltinToolOptions): readonly Tool[] {
  const { root, stores = [], fetch = false, askUser, secretVariables, keptVariables } = options
  const workspace = new Workspace(root)
  const known = new KnownFiles()
  const written = { known, edits: options.edits ?? new Edits() }
  const confining = sandboxOptions(options.sandbox)
  const sandbox = new Sandbox(workspace.root, confining)
  const kept = [...(keptVariables ?? []), ...(confining.environment ?? [])]
  const surroundings = (): CommandSurroundings => {
    const all = options.env ?? environment()
    const env = commandEnvironment(all, secretVariables, kept)
    return {
      env: async (kind) => {
        if (kind !== 'none') return sandboxEnvironment(env, kept, kind)
        return commandEnvironment(all, secretVariables, kept, await repositorySettings(await sandbox.repositories()))
      },
      secrets: hiddenValues(all, env, secretVariables),
    }
  }
  return [
    readFileTool(workspace, known, options.readDocument),
    writeFileTool(workspace, written),
    editFileTool(workspace, written),
    listFilesTool(workspace),
    searchFilesTool(workspace),
    runCommandTool(workspace, sandbox, surroundings),
    ...(stores.length === 0 ? [] : [searchDocumentsTool(stores)]),
    ...(fetch === false ? [] : [fetchUrlTool(fetch === true ? {} : fetch)]),
    askUserTool(askUser),
    todoTool(options.todos ?? new TodoLists()),
  ]
}
