/** Entry `cria/testing`: scripted models, cassettes and conformance suites, for the tests of applications and of this project. */

export { ScriptedModel } from './providers/scripted/scripted-model.ts'
export type { Script, ScriptedAnswer, ScriptedOptions } from './providers/scripted/scripted-model.ts'
export { cassette } from './testing/cassette.ts'
export type { Collected } from './testing/turns.ts'
export type { Runner } from './testing/claims.ts'
export { budgetStoreSuite, cacheStoreSuite, RECORDER_CAPABILITIES, recorderSuite } from './testing/recorder-suite.ts'
export type {
  BudgetUnderTest,
  CacheUnderTest,
  JournalUnderTest,
  RecorderCapability,
  RecorderSuiteOptions,
} from './testing/recorder-suite.ts'
export {
  AWKWARD_QUERIES,
  documentStoreSuite,
  STORE_CAPABILITIES,
  SUITE_DOCUMENTS,
  WORD_FORMS,
} from './testing/document-store-suite.ts'
export type { StoreCapability, StoreSuiteOptions, StoreUnderTest } from './testing/document-store-suite.ts'
export { closeOf, collect, entriesOf, EXACT_USAGE, openOf, resultOf, stamper, STARTED_AT } from './testing/turns.ts'
