import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { QueryEvent } from '../../core/event.ts'
import { foldEvents } from '../../core/fold.ts'
import { ScriptedModel } from '../../providers/scripted/scripted-model.ts'
import { MemoryDocumentStore } from '../../stores/memory.ts'
import { query } from '../query.ts'

const ANSWER = 'Built in 1874 "by Ida Marsh" [1][2], it “ground **rye** for three villages”. [1]\n\n> It was blue. [2]'

it('QRY-RAG-022 markers survive any cut of the stream, and are in the event', async () => {
  const store = new MemoryDocumentStore({ name: 'docs' })
  await store.extend([
    { source: 'mill.md', text: 'The mill was built in 1874 by Ida Marsh. It ground rye for three villages.' },
    { source: 'boat.md', text: 'The boat that Ida built in 1874 for the mill was white.' },
  ])
  const ask = async (cuts: readonly number[]): Promise<readonly QueryEvent[]> => {
    const places = [0, ...new Set(cuts.map((cut) => cut % ANSWER.length)), ANSWER.length].sort((a, b) => a - b)
    const deltas = places.slice(1).map((end, index) => ANSWER.slice(places[index], end))
    const model = new ScriptedModel([{ text: deltas.filter((text) => text !== '') }])
    const events: QueryEvent[] = []
    for await (const event of query({ model, prompt: 'Who built the mill in 1874?', retrieve: { docstore: store } }))
      events.push(event)
    return events
  }
  const whole = foldEvents(await ask([])).result?.citations
  expect(whole?.length).toBeGreaterThan(3)
  expect(whole?.map(({ supported }) => supported)).toContain(false)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(), { maxLength: 60 }), async (cuts) => {
      const events = await ask(cuts)
      expect(foldEvents(events).text).toBe(ANSWER)
      expect(foldEvents(events).result?.citations).toEqual(whole)
    }),
    { numRuns: 30 },
  )
  await store.close()
})
