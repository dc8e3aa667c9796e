import { describe, expect, it } from 'vitest'
import { CriaError } from '../core/error.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import type { ScriptedAnswer } from '../providers/scripted/scripted-model.ts'
import { AnswerStream } from './answer.ts'
import { MemoryDocumentStore } from '../stores/lazy.ts'
import { QueryBot } from './query-bot.ts'
import { AsyncSimpleBot, SimpleBot } from './simple-bot.ts'

const COUNTED = { text: ['One ', 'two ', 'three'] }

function botOf(...answers: ScriptedAnswer[]): SimpleBot {
  return new SimpleBot({ model: new ScriptedModel(answers), recorder: false, retry: { maxRetries: 0 } })
}

describe('stream()', () => {
  it('resolves to its answer after it was read', async () => {
    const stream = botOf(COUNTED).stream('Count')
    let text = ''
    for await (const piece of stream) text += piece
    const answer = await stream.answer
    expect([text, answer.content, answer.finishReason]).toEqual(['One two three', 'One two three', 'stop'])
    expect(await stream.answer).toBe(answer)
  })

  it('resolves to its answer without a reader, and keeps the pieces for a later one', async () => {
    const model = new ScriptedModel([COUNTED])
    const stream = new AsyncSimpleBot({ model, recorder: false }).streamAsync('Count')
    const { content } = await stream.answer
    let text = ''
    for await (const piece of stream) text += piece
    expect([content, text, model.requests.length]).toEqual(['One two three', 'One two three', 1])
  })

  it('yields every piece once, in order, while its answer is awaited', async () => {
    const counted = async function* (): AsyncGenerator<string, number, undefined> {
      yield* ['one', 'two', 'three', 'four']
      return 4
    }
    const stream = new AnswerStream(counted())
    const seen = [(await stream.next()).value]
    const { answer } = stream
    const both = await Promise.all([stream.next(), stream.next()])
    seen.push(...both.map(({ value }) => value))
    for await (const piece of stream) seen.push(piece)
    expect([seen, await answer]).toEqual([['one', 'two', 'three', 'four'], 4])
  })

  it('rejects both reader and answer, even if only one of them is used', async () => {
    const failing = (): SimpleBot => botOf({ fail: { after: 0, error: new CriaError('auth', 'Wrong key.') } })
    await expect(failing().stream('?').answer).rejects.toMatchObject({ code: 'auth' })
    const read = failing().stream('?')
    const unread = read.answer
    await expect(read.next()).rejects.toMatchObject({ code: 'auth' })
    await expect(unread).rejects.toMatchObject({ code: 'auth' })
    const late = failing().stream('?')
    await expect(late.next()).rejects.toMatchObject({ code: 'auth' })
    await expect(late.answer).rejects.toMatchObject({ code: 'auth' })
  })

  it('rejects the answer of a stream that its reader left', async () => {
    const left = botOf(COUNTED).stream('Count')
    for await (const piece of left) if (piece !== '') break
    await expect(left.answer).rejects.toMatchObject({ code: 'aborted' })
    const disposed = botOf(COUNTED).stream('Count')
    await disposed.next()
    await disposed[Symbol.asyncDispose]()
    await expect(disposed.answer).rejects.toMatchObject({ code: 'aborted' })
    const thrown = botOf(COUNTED).stream('Count')
    await thrown.next()
    await expect(thrown.throw(new Error('mine'))).rejects.toThrow('mine')
    await expect(thrown.answer).rejects.toThrow('mine')
  })

  it('reports an input that is not a message when it is read, as ask() does', async () => {
    const bot = new QueryBot({ model: new ScriptedModel([]), docstore: new MemoryDocumentStore(), recorder: false })
    const wrong = { role: 'robot' } as never
    await expect(bot.stream(wrong).answer).rejects.toMatchObject({ code: 'configuration' })
    await expect(bot.ask(wrong)).rejects.toMatchObject({ code: 'configuration' })
  })

  it('sends no request until it is read', async () => {
    const model = new ScriptedModel([COUNTED])
    const stream = new SimpleBot({ model, recorder: false }).stream('Count')
    expect(model.requests).toHaveLength(0)
    await stream.answer
    expect(model.requests).toHaveLength(1)
  })
})
