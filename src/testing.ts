/** For tests: of those who use cria, and ours. */

export { ScriptedModel } from './providers/scripted/scripted-model.ts'
export type { Script, ScriptedAnswer, ScriptedOptions } from './providers/scripted/scripted-model.ts'
export { cassette } from './testing/cassette.ts'
export type { Collected } from './testing/turns.ts'
export type { Runner } from './testing/claims.ts'
export { budgetStoreSuite, cacheStoreSuite } from './testing/shared-store-suites.ts'
export type { BudgetUnderTest, CacheUnderTest } from './testing/shared-store-suites.ts'
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
export { closeOf, collect, entriesOf, EXACT_USAGE, openOf, resultOf, stamper, STARTED_AT } from './testing/turns.ts'
