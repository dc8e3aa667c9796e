import { describe, it } from 'vitest'
import { budgetStoreSuite } from '../../testing/recorder-suite.ts'
import { MemoryBudget } from './memory-budget.ts'

budgetStoreSuite('budgets in memory', () => ({ store: new MemoryBudget(), turn: () => {}, close: () => {} }), { describe, it })
