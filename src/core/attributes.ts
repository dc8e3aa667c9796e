/**
 * Names of span attributes. Those that begin with `gen_ai` are OpenTelemetry's conventions for generative AI
 * (open-telemetry/semantic-conventions-genai, docs/registry/attributes/gen-ai.md); the rest are ours.
 */
export const ATTRIBUTE = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  conversation: 'gen_ai.conversation.id',
  agent: 'gen_ai.agent.name',
  model: 'gen_ai.request.model',
  temperature: 'gen_ai.request.temperature',
  stream: 'gen_ai.request.stream',
  responseId: 'gen_ai.response.id',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  timeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  toolName: 'gen_ai.tool.name',
  toolCallId: 'gen_ai.tool.call.id',
  dataSource: 'gen_ai.data_source.id',
  retrievalQuery: 'gen_ai.retrieval.query.text',
  query: 'cria.query',
  nResults: 'cria.retrieval.n_results',
  /** How many chunks the document store returned, and how many of them were sent. */
  documentsRetrieved: 'cria.retrieval.documents.retrieved',
  documentsSent: 'cria.retrieval.documents.sent',
  memoriesRetrieved: 'cria.retrieval.memories.retrieved',
  memoriesSent: 'cria.retrieval.memories.sent',
  /** Chunks left out because they did not fit the model's context window. */
  dropped: 'cria.retrieval.dropped',
  /** Chunks merged into a better-ranked chunk with the same text. */
  merged: 'cria.retrieval.merged',
  /** Chunks sent to the reranking model. */
  candidates: 'cria.retrieval.candidates',
  filter: 'cria.retrieval.filter',
  attempt: 'cria.attempt',
} as const
