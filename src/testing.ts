/** For tests: of those who use cria, and ours. */

export { ScriptedModel } from './providers/scripted/scripted-model.ts'
export type { Script, ScriptedAnswer, ScriptedOptions } from './providers/scripted/scripted-model.ts'
export { cassette } from './testing/cassette.ts'
export { collect } from './testing/collect.ts'
export type { Collected } from './testing/collect.ts'
export type { Runner } from './testing/claims.ts'
export { budgetStoreSuite } from './testing/budget-store-suite.ts'
export type { BudgetUnderTest } from './testing/budget-store-suite.ts'
export { cacheStoreSuite } from './testing/cache-store-suite.ts'
export type { CacheUnderTest } from './testing/cache-store-suite.ts'
export { RECORDER_CAPABILITIES, recorderSuite } from './testing/recorder-suite.ts'
export type { JournalUnderTest, RecorderCapability, RecorderSuiteOptions } from './testing/recorder-suite.ts'
export {
  AWKWARD_QUERIES,
  documentStoreSuite,
  STORE_CAPABILITIES,
  SUITE_DOCUMENTS,
  WORD_FORMS,
} from './testing/document-store-suite.ts'
export type { StoreCapability, StoreSuiteOptions, StoreUnderTest } from './testing/document-store-suite.ts'
export { closeOf, entriesOf, EXACT_USAGE, openOf, resultOf, stamper, STARTED_AT } from './testing/turns.ts'
