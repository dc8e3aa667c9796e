/** For tests: of those who use cria, and ours. */

export { ScriptedModel } from './providers/scripted/scripted-model.ts'
export type { Script, ScriptedAnswer, ScriptedOptions } from './providers/scripted/scripted-model.ts'
export { cassette } from './testing/cassette.ts'
export { collect } from './testing/collect.ts'
export type { Collected } from './testing/collect.ts'
export { recorderSuite } from './testing/recorder-suite.ts'
export type { JournalUnderTest, Runner } from './testing/recorder-suite.ts'
export { documentStoreSuite } from './testing/document-store-suite.ts'
export type { StoreUnderTest } from './testing/document-store-suite.ts'
