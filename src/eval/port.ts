/** Lists the names of the evaluation that other folders may import. `scripts/layers.ts` rejects imports of its other files. */

export { evaluateAnswers, holds, toAnswered } from './answers.ts'
export type { AnswerReport } from './answers.ts'
export { readCorpus, readPredictions, readRun } from './collection.ts'
export type { Prediction, Run } from './collection.ts'
export { compareAnswers, compareRuns } from './comparison.ts'
export type { Comparison, Sides } from './comparison.ts'
export { preferencePairs, preferenceStats } from './preferences.ts'
export type { PositionBias, PreferenceStats, WinRate } from './preferences.ts'
export { comparisonHtml, comparisonMarkdown } from './report.ts'
export { evaluateRetrieval, percentile } from './retrieval.ts'
export type { RetrievalReport } from './retrieval.ts'
