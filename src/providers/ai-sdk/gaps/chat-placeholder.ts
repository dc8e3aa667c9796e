/**
 * Chat Completions: Azure begins with a chunk that has no choices and neither id nor model, and the package takes both from the first chunk.
 */

import { objectsIn } from '../../wire/dialect.ts'
import type { CreateGap } from './gap.ts'

export const chatPlaceholder: CreateGap = () => ({
  markers: ['"model":""', '"model": ""'],
  event: (event) =>
    event['model'] === '' && objectsIn(event['choices']).length === 0 && (event['usage'] ?? null) === null ? 'drop' : 'keep',
})
