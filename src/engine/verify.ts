/** Checks the citations of a finished answer: by words, and where it is asked for by a model or a function as well. */

import type { Citation } from '../core/citation.ts'
import type { Station } from '../core/context.ts'
import { CriaError, toCriaError } from '../core/error.ts'
import { system, user } from '../core/message.ts'
import type { Grounding, LanguageModel } from '../core/model.ts'
import { checkAnswer } from '../citations/check.ts'
import type { CheckedAnswer } from '../citations/check.ts'
import { claimsToJudge, withVerdicts } from '../citations/judge.ts'
import type { JudgedClaim } from '../citations/judge.ts'
import { orAborted } from '../util/abort.ts'
import { completeAside } from './aside.ts'
import { JUDGE_RULES, JUDGE_SCHEMA, judgeQuestion, readVerdicts } from './judge-prompt.ts'
import type { Turn } from './turn.ts'

/** Tokens of a judgement: of the whole, and for each statement. */
const TOKENS = 400
const TOKENS_PER_STATEMENT = 150

/** @param model that gave the answer. Failure of the model or function is told, and leaves the verdicts of the words. */
export async function* verify(
  answer: string,
  { question, passages }: Grounding,
  model: LanguageModel,
  turn: Turn,
): Station<CheckedAnswer> {
  const { verify: choice = 'words' } = turn.options
  const checked = checkAnswer(answer, passages, { question, compares: choice !== false })
  if (choice === false || choice === 'words') return checked
  const claims = claimsToJudge(answer, checked.citations, passages)
  if (claims.length === 0) return checked
  try {
    return { ...checked, citations: await judged(checked.citations, claims, choice, model, turn) }
  } catch (thrown) {
    turn.ctx.signal.throwIfAborted()
    const { message } = toCriaError(thrown)
    yield {
      type: 'notice',
      code: 'verification_failed',
      message: `The citations were compared by words alone, because judging them failed: ${message}`,
    }
    return checked
  }
}

type Judge = Exclude<NonNullable<Turn['options']['verify']>, false | 'words'>

async function judged(
  citations: readonly Citation[],
  claims: readonly JudgedClaim[],
  choice: Judge,
  model: LanguageModel,
  { ctx }: Turn,
): Promise<Citation[]> {
  const { signal } = ctx
  if (typeof choice === 'function') {
    const asked = claims.map(({ statement, passages }) => ({ statement, passages }))
    const verdicts = await orAborted(Promise.resolve(choice(asked, { signal })), signal)
    if (!Array.isArray(verdicts))
      throw new CriaError('invalid_response', 'The function of `verify` must resolve to a list of verdicts.')
    return withVerdicts(citations, claims, verdicts)
  }
  const judge = choice === 'model' ? model : choice.model
  const schema = JSON.parse(JSON.stringify(JUDGE_SCHEMA)) as never
  const complete = completeAside([judge], ctx, { type: 'json', name: 'verdicts', schema })
  if (complete === undefined) throw new CriaError('model_unavailable', `${judge.ref} only quotes, it cannot judge.`)
  const text = await complete.ask(
    [system(JUDGE_RULES), user(judgeQuestion(claims))],
    TOKENS + TOKENS_PER_STATEMENT * claims.length,
    'verify_citations',
  )
  return withVerdicts(citations, claims, readVerdicts(text, claims.length))
}
