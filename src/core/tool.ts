/** Tools: what a model may ask for, and what it is told about the outcome. */

import type { Json } from './json.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { FilePart, ImagePart, UnknownEffects } from './part.ts'
import type { Schema } from './schema.ts'
import type { Span } from './span.ts'

/** A tool call as it stands in events. */
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

/** The outcome of a tool call as it stands in events. */
export interface ToolResult {
  /** The call. */
  readonly id: string
  /** The name of the tool. */
  readonly name: string
  /** The result as the model reads it. */
  readonly content: string
  /** The call failed or was refused. */
  readonly isError: boolean
  /** Milliseconds from the start of the call; 0 for one that did not run. */
  readonly durationMs: number
  /** For commands: what confined it, or `none`. */
  readonly sandbox?: SandboxKind
  /** Set where the call was interrupted and may have had its effect. */
  readonly unknownEffects?: UnknownEffects
  /** The call has not run: the turn ended while it, or one that it must not overtake, waited for a decision. */
  readonly waiting?: true
}

/**
 * Names of what a call reads and writes. Two calls conflict when one writes what the other reads or writes; names are compared literally, and a name
 * that ends in `/` covers everything below it. A tool that does not say conflicts with everything.
 */
export interface ToolResources {
  /** Names of what is read; default nothing. */
  readonly reads?: readonly string[]
  /** Names of what is written; default nothing. */
  readonly writes?: readonly string[]
}

/**
 * The object of a call, by its meaning: this is what rules of permission compare, never the bare text of the arguments. A command line
 * is parsed, a path is followed to where it really leads. A relative path is meant from the root of the rules.
 */
export type ToolSubject =
  | {
      /** The kind of the subject that the call acts on. */
      readonly kind: 'command'
      /** The command line. */
      readonly command: string
    }
  /** `sensitive`: what lies there is asked about unless a rule names this very path, without `*`. */
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
  /** Aborted when the turn is cancelled or the time-out is reached: stop then. */
  readonly signal: AbortSignal
  /** The same for every try of the same call, also after a restart: hand it to the outside world to make an effect happen once. */
  readonly idempotencyKey: string
  /** The session. */
  readonly sessionId: string
  /** The turn. */
  readonly turnId: string
  /** Shows how far the work is; becomes a `tool_progress` event. */
  progress(content: string): void
  /** The span of this call, to add attributes and events to. */
  readonly span: Span
  /**
   * Absolute paths that the rules of the turn close to this tool: what it finds there by itself it does not show. `*` stands for anything
   * inside a folder, `**` for folders as well. Absent: none.
   */
  readonly closedPaths?: readonly string[]
  /** The rules of the turn as limits of a command that the operating system confines; absent: none. */
  readonly reach?: CommandReach
}

/** Patterns of absolute paths, as in `closedPaths`. */
export interface CommandReach {
  /** Not there for the command. */
  readonly hidden: readonly string[]
  /** Not written by it. */
  readonly readOnly: readonly string[]
  /** There although they hold secrets. */
  readonly shown: readonly string[]
  /** Written although they decide what runs later. */
  readonly writable: readonly string[]
  readonly network: boolean
}

/** How far the operating system holds what a tool runs. */
export interface Confinement {
  /** What the rules forbid, and secrets, are out of its reach. */
  readonly confined: boolean
  /** Where it is not confined: the name of a file with secrets that it could read. */
  readonly exposed?: string
}

/**
 * The return value of a call: text, text with attachments, or any value that `JSON.stringify` writes, interfaces, Dates, Maps and class instances
 * among them. What cannot be written, a stream or a function for example, becomes an error for the model to read.
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
      /** For commands: what confined them. */
      readonly sandbox?: SandboxKind
    }

/** Tells whether a tool has changed since it was allowed; for tools whose description comes from somebody else. */
export interface ToolPin {
  /** Hash of what the tool says of itself, hexadecimal. */
  readonly fingerprint: string
  /** The fingerprint under which it was allowed last; `undefined`: it never was. */
  allowed(): string | undefined
  /** Called when a rule or a person has allowed a call of it as it is now. */
  allow(): void
}

/** Something that a model may call. */
export interface Tool<Input = never> {
  /** Letters, digits, `_` and `-`, at most 64: what every provider takes. */
  readonly name: string
  /** Tells the model what the tool does and when to call it. */
  readonly description: string
  /** `defineTool` ties it to `Input`; here it is loose, so that tools of different inputs go into one list. */
  readonly inputSchema: Schema
  /** Names what a call reads and writes, so that calls that do not conflict run together; absent: it conflicts with everything. */
  readonly resources?: (input: Input) => ToolResources
  /** Absent: rules see the arguments themselves, by name. */
  readonly subjects?: (input: Input) => readonly ToolSubject[]
  /** `true`: changes nothing anywhere; such calls run together. Default false. */
  readonly isReadOnly?: boolean
  /** Default true: a tool that says nothing is asked about. */
  readonly needsPermission?: boolean | ((input: Input) => boolean)
  /**
   * `true`: running the same call twice, with the same `idempotencyKey`, does no harm. A call that was interrupted with unknown effects may
   * then be run again; otherwise somebody is asked first, whatever rules allow. Default: `isReadOnly`.
   */
  readonly isIdempotent?: boolean
  /** For tools that run commands; absent: nothing confines them. */
  readonly confinement?: () => Confinement | Promise<Confinement>
  /** Permission that was given to a tool of another fingerprint is asked for again, whatever rules allow. */
  readonly pin?: ToolPin
  /** Milliseconds; default 120,000. */
  readonly timeout?: number
  /** Longer results are cut in the middle, and say so; default 30,000 characters. */
  readonly maxResultChars?: number
  /** The change that the call would make, as a unified diff or other text, for the one who is asked. Changes nothing. */
  readonly preview?: (input: Input) => string | Promise<string>
  /** An async generator yields progress and returns its output. */
  call(input: Input, ctx: ToolContext): ToolOutput | Promise<ToolOutput> | AsyncGenerator<string, ToolOutput>
}

/** A call that could not be made: no such tool, arguments that are no JSON, or that do not fit the schema. */
export interface MisfitCall extends ToolUse {
  /** The message for the model. */
  readonly problem: string
}

/**
 * Mends a call before the model is told of it: gives the call as it should be, or nothing. What it gives is checked like any call.
 */
export type RepairToolCall = (
  call: MisfitCall,
  ctx: { readonly tools: readonly Tool[]; readonly signal: AbortSignal },
) => MaybePromise<{ readonly name?: string; readonly input: Json } | undefined>

/** An answer to a permission request. */
export interface PermissionDecision {
  /** The call may run. */
  readonly granted: boolean
  /** Why, for the model and the journal. */
  readonly reason?: string
  /** Run with this input instead of the one that was asked about. */
  readonly input?: Json
  /** `session`, or `true`: do not ask again for the same call in this session, or for whatever `rule` covers. Default false. */
  readonly remember?: 'session' | boolean
  /** With `remember`: the rule to keep, `shell(git status)`, instead of this very call. */
  readonly rule?: string
}

/** A call that is asked about. */
export interface PermissionRequest extends ToolUse {
  /** Why it is not simply run. */
  readonly reason?: string
}

/** The context of a permission checker, beside the calls. */
export interface PermissionContext {
  /** The session. */
  readonly sessionId: string
  /** The turn. */
  readonly turnId: string
  /** Aborted when the turn ends: an answer is then no longer needed. */
  readonly signal: AbortSignal
  /** The model has read text from documents, tools or the web before it made these calls. */
  readonly untrusted: boolean
}

/**
 * Decides about a batch of calls (one call in safe mode): one answer for all, or an array with one answer each.
 */
export type PermissionChecker = (
  requests: readonly PermissionRequest[],
  ctx: PermissionContext,
) => PermissionAnswer | readonly PermissionAnswer[] | Promise<PermissionAnswer | readonly PermissionAnswer[]>

/**
 * `'wait'`: nobody can say now. The turn ends as `waiting` when its other calls are done, and `query({ decide })` goes on from there, in any
 * process that has the journal.
 */
export type PermissionAnswer = boolean | PermissionDecision | 'wait'
