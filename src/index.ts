/** The public API of cria. */

export { ResponseCache } from './model/response-cache.ts'
export type { CachedAnswer, ResponseCacheOptions } from './model/response-cache.ts'
export type { GroupMember as Seat } from './model/answer-reader.ts'
export { retryWithBackoff } from './model/retry.ts'
export type { RetryNotice, RetryOptions } from './model/retry.ts'
export { file, image } from './app/attachments.ts'
export type { AttachmentOptions, AttachmentSource } from './app/attachments.ts'
export { agentTool, builtinTools, defaultTools, runCodeTool } from './app/agent-tools.ts'
export type { AgentToolOptions, BuiltinToolOptions, RunCodeOptions } from './app/agent-tools.ts'
export { createEmbeddingModel } from './providers/embedding/create.ts'
export type { ConnectionOptions } from './providers/connection.ts'
export type { AiSdkEmbeddingModel, EmbeddingOptions } from './providers/embedding/create.ts'
export { createRerankingModel } from './providers/reranking/create.ts'
export type { AiSdkRerankingModel } from './providers/reranking/create.ts'
export { createModel } from './app/models.ts'
export type { ModelInput, ModelOptions } from './app/models.ts'
export type { AiSdkModel } from './providers/ai-sdk/language-model.ts'
export { lastEventId, startTurn, toResponse } from './app/event-stream.ts'
export type { ResponseOptions, StartedTurn } from './app/event-stream.ts'
export { memoryStorage } from './recorders/storage/memory.ts'
export { recorderOn } from './recorders/storage/recorder.ts'
export type { StorageRecorderOptions } from './recorders/storage/recorder.ts'
export type { JournalRows, JournalStorage, RowRange, CacheStore, Keeping } from './core/storage.ts'
export { openRecorder } from './app/journal.ts'
export type { OpenRecorderOptions } from './app/journal.ts'
export { collectFeedback } from './app/feedback.ts'
export type {
  BlindAnswer,
  BlindPair,
  Chosen,
  Feedback,
  FeedbackChoice,
  FeedbackOptions,
  Judged,
  FeedbackVerdict,
  Side,
} from './app/feedback.ts'
export { getSpans, span } from './app/span.ts'
export type { SpanPlace } from './app/span.ts'
export { mapTurns } from './app/map-turns.ts'
export type { MapContext, MapFunction, MapProgress, MapReport, MapResult, MapSums, MapTurnsOptions } from './app/map-turns.ts'
export { query } from './app/query.ts'
export type { QueryOptions, RerankSettings, RetrieveOptions } from './app/query.ts'
export type { EngineOptions, QueryMetrics, ReviewAnswer } from './engine/options.ts'
export { Steering } from './engine/steering.ts'
export type { PrepareStep, StepChanges, StepEnd, StepState, StopWhen } from './engine/options.ts'
export { switchModel } from './model/chain.ts'
export type { SwitchChoices } from './model/chain.ts'
export type { RetryPolicy } from './model/recover.ts'
export type { Timeouts } from './model/limits.ts'
export type { ContextBudget, ContextOptions } from './engine/options.ts'
export type { CompactionOptions } from './prepare/compact/room.ts'
export type { Composition, RagComposition } from './prepare/compose.ts'
export type { WidenOptions } from './prepare/passages/widen.ts'
export type { RerankChoice } from './prepare/rerank.ts'
export type { FollowUps, RetrievalOptions } from './prepare/retrieve.ts'
export type { ContextPiece, ContextRequest, ContextSource, EarlierRead, Injected } from './core/injection.ts'

export {
  completionOptionsForMessages,
  extractContent,
  extractToolCalls,
  makeResponse,
  streamChunks,
  streamTokensForMessages,
} from './bots/completion.ts'
export type { ModelResponse } from './bots/completion.ts'
export type { AnswerStream, BotAnswer, Notice } from './bots/answer.ts'
export type { BotOptions, StreamTarget } from './bots/options.ts'
export { StructuredBot } from './bots/structured-bot.ts'
export type { AnswerOf, StructuredAnswer, StructuredBotOptions, UnfitAnswer } from './bots/structured-bot.ts'
export { AsyncQueryBot } from './bots/async-query-bot.ts'
export { QueryBot } from './bots/query-bot.ts'
export type { QueryAskOptions, QueryBotOptions } from './bots/query-bot.ts'
export { AsyncSimpleBot, SimpleBot } from './bots/simple-bot.ts'
export type { AskOptions, StreamOptions } from './bots/simple-bot.ts'
export { AgentBot, AsyncToolBot, ToolBot } from './bots/tool-bots.ts'
export type { AgentBotAnswer, AgentBotOptions, ParsedCall, ToolBotAnswer, ToolBotOptions } from './bots/tool-bots.ts'

export type {
  Amount,
  Budget,
  BudgetKey,
  BudgetLimits,
  BudgetStore,
  BudgetUse,
  Reservation,
  SharedScope,
  SharedUse,
} from './core/budget.ts'
export type { Clock } from './core/clock.ts'
export { createLocalVerifier } from './providers/verifying/local.ts'
export type { LocalVerifierOptions } from './providers/verifying/local.ts'
export type { Citation, CitationKind, ClaimToVerify, ClaimVerdict, ClaimVerifier, Verdict } from './core/citation.ts'
export type { VerifyChoice } from './engine/options.ts'
export type {
  EmbeddingModel,
  EmbeddingPurpose,
  EmbedOptions,
  Ranking,
  RerankingModel,
  RerankOptions,
} from './core/retrieval-models.ts'
export {
  ConfigurationError,
  CriaError,
  ERROR_CODES,
  isCriaError,
  MaxRetriesExceededError,
  NoAssistantMessageError,
} from './core/error.ts'
export type { CriaErrorOptions, ErrorCode, ErrorInfo } from './core/error.ts'
export { assertNever, isTerminal, SWITCH_REASONS } from './core/event.ts'
export type {
  BotIdentity,
  CallRef,
  EventBody,
  EventOf,
  EventStamp,
  FeedbackEvent,
  NoticeEvent,
  QueryEvent,
  QueryResult,
  RetrievedRef,
  SwitchReason,
  TerminalEvent,
} from './core/event.ts'
export { foldEvents } from './core/fold.ts'
export type { Folded } from './core/fold.ts'
export type { CreateId, MessageId } from './core/id.ts'
export type { HookContext, HookName, HookRefusal, Hooks } from './core/hook.ts'
export type { Json, JsonObject } from './core/json.ts'
export type { MaybePromise } from './core/maybe-promise.ts'
export { assistant, developer, retrieved, system, toMessages, toolResult, user } from './core/message.ts'
export type { Content, Message, MessageInput, MessageLike, Retrieved, Role, UserPart } from './core/message.ts'
export type {
  CallSettings,
  FinishReason,
  Grounding,
  LanguageModel,
  ModelCall,
  ModelFacts,
  ModelPart,
  ModelRequest,
  Price,
  Rates,
  RequestMessage,
  ResponseFormat,
  ThinkingEffort,
  ToolChoice,
  ToolSpec,
} from './core/model.ts'
export type {
  FilePart,
  ImagePart,
  OpaquePart,
  Part,
  ProviderData,
  TextPart,
  ThinkingPart,
  ToolCallPart,
  ToolResultPart,
  UnknownEffects,
} from './core/part.ts'
export type {
  Deletion,
  FeedbackRecord,
  FollowOptions,
  GcOptions,
  GcReport,
  JournalEntry,
  JournalKeeper,
  JournalReader,
  ListSessions,
  ListTurns,
  ModelUse,
  PromptRef,
  PromptStats,
  Recorder,
  SessionStats,
  SessionSummary,
  StatsRow,
  StatsSums,
  TagStats,
  TurnClose,
  TurnDetail,
  TurnFilter,
  TurnList,
  TurnMetrics,
  TurnOpen,
  TurnRow,
  TurnState,
  TurnSummary,
  UserStats,
} from './core/recorder.ts'
export type { FromJsonSchema, JsonSchema, Schema, SchemaIssue, SchemaResult, StandardSchema } from './core/schema.ts'
export type { MirroredSpan, Span, SpanMirror, SpanRecord } from './core/span.ts'
export type {
  Chunk,
  AroundOptions,
  ChunkFilter,
  DocumentFormat,
  DocumentInput,
  DocumentSource,
  DocumentStore,
  MemoryStore,
  Evidence,
  FilterPattern,
  FilterTest,
  FilterValue,
  FoundChunks,
  Place,
  ScoredChunk,
  SearchOptions,
  SourceDocument,
  StoreNotice,
  Surroundings,
} from './core/store.ts'
export type {
  PermissionAnswer,
  PermissionChecker,
  PermissionContext,
  PermissionDecision,
  MisfitCall,
  PermissionRequest,
  RepairToolCall,
  Tool,
  ToolContext,
  ToolOutput,
  ToolPin,
  ToolResources,
  ToolResult,
  ToolSubject,
  ToolUse,
} from './core/tool.ts'
export { prompt } from './app/prompt.ts'
export type { Prompt, PromptVariables } from './app/prompt.ts'
export type { FilledPrompt, PromptVersion } from './core/prompt.ts'
export type { Usage } from './core/usage.ts'

export { ChatMemory } from './stores/chat-memory.ts'
export type { ChatMemoryOptions } from './stores/chat-memory.ts'
export { chunkDocument } from './stores/chunk/chunk-document.ts'
export { chunkTest } from './stores/rank/filter.ts'
export { toDocument } from './stores/sqlite/documents.ts'
export { checkedSearch } from './stores/options.ts'
export type { CheckedSearch } from './stores/options.ts'
export type { Filtered } from './stores/rank/filter.ts'
export type { ChunkOptions } from './stores/chunk/chunk-document.ts'
export { loadDocuments } from './stores/load/load-documents.ts'
export type { LoadedDocuments, LoadOptions } from './stores/load/load-documents.ts'
export type { LoadLimits } from './stores/load/load-file.ts'
export type { SkippedFile } from './stores/load/walk.ts'
export { MemoryDocumentStore, SqliteDocumentStore } from './stores/lazy.ts'
export type { MemoryDocumentStoreOptions } from './stores/lazy.ts'
export type {
  EmbedReport,
  EmbedRunOptions,
  FileDocument,
  FileFacts,
  HeldEmbeddings,
  Outcome,
  PutResult,
  SourceState,
  SqliteDocumentStoreOptions,
  StoreStats,
} from './stores/sqlite.ts'
export type { EmbeddedQuery } from './stores/sqlite/nearest.ts'

export type { AskUser, UserQuestion } from './tools/builtin/ask-user.ts'
export type { FetchOptions } from './tools/builtin/fetch-url.ts'
export { TodoLists } from './tools/builtin/todo.ts'
export type { TodoItem } from './tools/builtin/todo.ts'
export { defineTool } from './tools/define-tool.ts'
export { connectMcp } from './app/mcp.ts'
export type { ConnectOptions as McpOptions } from './app/mcp.ts'
export type { McpConnection, McpNotice } from './tools/mcp/connect.ts'
export type { McpPins } from './tools/mcp/definition.ts'
export type { McpServerConfig } from './tools/mcp/server-config.ts'
export type { ToolRules } from './tools/permissions/rule.ts'
