/** What the answer looks like. `thing` is everything that has no look of its own. */
export type AnswerKind =
  | 'name'
  | 'person'
  | 'place'
  | 'time'
  | 'count'
  | 'quantity'
  | 'reason'
  | 'manner'
  | 'definition'
  | 'thing'
