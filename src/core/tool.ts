/** Tools, their calls and results, and permission to run them. */

import type { Json } from './json.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { FilePart, ImagePart, UnknownEffects } from './part.ts'
import type { Schema } from './schema.ts'
import type { Span } from './span.ts'

/** A tool call, as in events. */
export interface ToolUse {
  /** Ties the call to its result. */
  readonly id: string
  /** The name of the tool. */
  readonly name: string
  /** The arguments. */
  readonly input: Json
}

/** The sandbox of a command. */
export type SandboxKind = 'bubblewrap' | 'seatbelt' | 'none'

/** The result of a tool call, as in events. */
export interface ToolResult {
  /** The call. */
  readonly id: string
  /** The name of the tool. */
  readonly name: string
  /** The result as the model reads it. */
  readonly content: string
  /** The call failed or was refused. */
  readonly isError: boolean
  /** Duration of the call in milliseconds; 0 for a call that did not run. */
  readonly durationMs: number
  /** For commands: the sandbox, or `none`. */
  readonly sandbox?: SandboxKind
  /** Set if the call was interrupted and may have had an effect. */
  readonly unknownEffects?: UnknownEffects
  /** The call has not run: the turn ended while it, or an earlier conflicting call, waited for a decision. */
  readonly waiting?: true
}

/**
 * Names of resources that a call reads and writes. Two calls conflict if one writes what the other reads or writes. Names are compared
 * literally; a name that ends in `/` covers everything below it. A tool without resources conflicts with every call.
 */
export interface ToolResources {
  /** Names of resources that are read; default none. */
  readonly reads?: readonly string[]
  /** Names of resources that are written; default none. */
  readonly writes?: readonly string[]
}

/**
 * The target of a call, which permission rules are matched against instead of the text of the arguments. A command line is parsed; symbolic
 * links of a path are resolved. A relative path is relative to the root of the rules.
 */
export type ToolSubject =
  | {
      /** The kind of the subject that the call acts on. */
      readonly kind: 'command'
      /** The command line. */
      readonly command: string
    }
  /** `sensitive`: requires permission unless a rule names exactly this path, without `*`. */
  | {
      readonly kind: 'path'
      /** The absolute path. */
      readonly path: string
      /** The path may hold secrets, or decides what runs later. */
      readonly sensitive?: boolean
    }
  | {
      readonly kind: 'url'
      /** The address. */
      readonly url: string
    }

/** The context of a tool, beside its input. */
export interface ToolContext {
  /** Aborted when the turn is cancelled or the time-out is reached: the tool should stop. */
  readonly signal: AbortSignal
  /** The same for every try of a call, even after a restart. Pass it to external services so that an effect happens once. */
  readonly idempotencyKey: string
  /** The session. */
  readonly sessionId: string
  /** The turn. */
  readonly turnId: string
  /** Reports progress; becomes a `tool_progress` event. */
  progress(content: string): void
  /** The span of this call, to add attributes and events to. */
  readonly span: Span
  /**
   * Absolute paths that permission rules close to this tool: it must not show what it finds there. `*` matches within a folder, `**`
   * across folders. Absent: none.
   */
  readonly closedPaths?: readonly string[]
  /** The permission rules as limits for a sandboxed command; absent: none. */
  readonly reach?: CommandReach
}

/** Patterns of absolute paths, as in `closedPaths`. */
export interface CommandReach {
  /** Invisible to the command. */
  readonly hidden: readonly string[]
  /** Not writable. */
  readonly readOnly: readonly string[]
  /** Visible although they hold secrets. */
  readonly shown: readonly string[]
  /** Writable although they determine what runs later. */
  readonly writable: readonly string[]
  readonly network: boolean
}

/** How far the operating system confines the commands of a tool. */
export interface Confinement {
  /** `true`: commands cannot reach secrets and paths that rules forbid. */
  readonly confined: boolean
  /** If not confined: the name of a file with secrets that it could read. */
  readonly exposed?: string
}

/**
 * The return value of a call: text, text with attachments, or any value that `JSON.stringify` accepts, including interfaces, Dates, Maps and
 * class instances. Any other value, such as a stream or a function, becomes an error result for the model.
 */
export type ToolOutput =
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | object
  | {
      /** The result as the model reads it. */
      readonly content: string
      /** The call failed; default false. */
      readonly isError?: boolean
      /** Images and files, at most 10 and 20 million characters of base64 together; default none. */
      readonly attachments?: readonly (ImagePart | FilePart)[]
      /** For commands: the sandbox. */
      readonly sandbox?: SandboxKind
    }

/** Detects whether a tool has changed since it was allowed; for tools described by a third party, such as an MCP server. */
export interface ToolPin {
  /** Hash of the tool's definition, hexadecimal. */
  readonly fingerprint: string
  /** Returns the fingerprint under which it was last allowed; `undefined`: never. */
  allowed(): string | undefined
  /** Called when a rule or a person has allowed a call of the tool in its current form. */
  allow(): void
}

/** A tool that a model may call. `Arguments` is the type of its schema, which `defineTool` keeps so that its tools can be spread into others. */
export interface Tool<Input = never, Arguments extends Schema = Schema> {
  /** At most 64 letters, digits, `_` and `-`, as every provider accepts. */
  readonly name: string
  /** Describes to the model what the tool does and when to call it. */
  readonly description: string
  /** Schema of the arguments. Not tied to `Input` (as in `defineTool`), so that tools of different inputs fit into one list. */
  readonly inputSchema: Arguments
  /** Returns the resources of a call; calls without a conflict run concurrently. Absent: conflicts with every call. */
  readonly resources?: (input: Input) => ToolResources
  /** Returns the targets that permission rules are matched against. Absent: the arguments, by name. */
  readonly subjects?: (input: Input) => readonly ToolSubject[]
  /** `true`: has no side effects; such calls run concurrently. Default false. */
  readonly isReadOnly?: boolean
  /** `true`, or a function that returns `true` for a call: it needs permission. Default true. */
  readonly needsPermission?: boolean | ((input: Input) => boolean)
  /**
   * `true`: running a call twice with the same `idempotencyKey` is harmless, so that an interrupted call with unknown effects may run
   * again. Otherwise that needs permission first, even if rules allow the call. Default: `isReadOnly`.
   */
  readonly isIdempotent?: boolean
  /** For tools that run commands: how they are confined. Absent: not at all. */
  readonly confinement?: () => Confinement | Promise<Confinement>
  /** Asks for permission again if the fingerprint has changed, even if rules allow the call. */
  readonly pin?: ToolPin
  /** Time-out in milliseconds; default 120,000. */
  readonly timeout?: number
  /** Longer results are cut in the middle, with a note; default 30,000 characters. */
  readonly maxResultChars?: number
  /** Returns the change that the call would make, as a unified diff or other text, for the permission request. Has no side effects. */
  readonly preview?: (input: Input) => string | Promise<string>
  /**
   * Returns the text that identifies a call in one line, such as a path or a command, for programs that show calls. Absent: the command line
   * shows the first of the arguments `command`, `path`, `pattern`, `url`, `query`, `question` and `glob` that is a text.
   */
  readonly title?: (input: Input) => string | undefined
  /** `true`: the result is meant for the user too, so that a chat shows all of it below the call. Default false. */
  readonly showsResult?: boolean
  /** `true`: the call waits for a person. Its duration is not shown, and sub-agents of the command line do not get the tool. Default false. */
  readonly asksUser?: boolean
  /** Runs the tool. An async generator yields progress and returns its output. */
  call(input: Input, ctx: ToolContext): ToolOutput | Promise<ToolOutput> | AsyncGenerator<string, ToolOutput>
}

/** A call that cannot be run: unknown tool, arguments that are not JSON or do not match the schema. */
export interface MisfitCall extends ToolUse {
  /** The message for the model. */
  readonly problem: string
}

/**
 * Repairs an invalid call before its error is sent to the model: returns the corrected call, which is checked again, or nothing.
 */
export type RepairToolCall = (
  call: MisfitCall,
  ctx: { readonly tools: readonly Tool[]; readonly signal: AbortSignal },
) => MaybePromise<{ readonly name?: string; readonly input: Json } | undefined>

/** An answer to a permission request. */
export interface PermissionDecision {
  /** The call may run. */
  readonly granted: boolean
  /** The reason, for the model and the journal. */
  readonly reason?: string
  /** Input to run the call with, instead of the requested one. */
  readonly input?: Json
  /** `session` or `true`: do not ask again in this session for the same call, or for calls that match `rule`. Default false. */
  readonly remember?: 'session' | boolean
  /** With `remember`: the rule to store, `shell(git status)`, instead of exactly this call. */
  readonly rule?: string
}

/** A call that needs a permission decision. */
export interface PermissionRequest extends ToolUse {
  /** Why the call needs permission. */
  readonly reason?: string
}

/** The context of a permission checker, beside the calls. */
export interface PermissionContext {
  /** The session. */
  readonly sessionId: string
  /** The turn. */
  readonly turnId: string
  /** Aborted when the turn ends and a decision is no longer needed. */
  readonly signal: AbortSignal
  /** `true`: the model had read text from documents, tools or the web before it made these calls. */
  readonly untrusted: boolean
}

/**
 * Decides about a batch of calls (one call in safe mode). Returns one answer for all, or an array with one answer per call.
 */
export type PermissionChecker = (
  requests: readonly PermissionRequest[],
  ctx: PermissionContext,
) => PermissionAnswer | readonly PermissionAnswer[] | Promise<PermissionAnswer | readonly PermissionAnswer[]>

/**
 * `'wait'` postpones the decision: the turn ends as `waiting` when its other calls are done. `query({ decide })` continues it, in any process
 * with access to the journal.
 */
export type PermissionAnswer = boolean | PermissionDecision | 'wait'
