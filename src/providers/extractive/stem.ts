/** English word forms brought together: irregular forms by a short table, the rest by their endings. */

import { porterStem } from '../../text/porter.ts'

const IRREGULAR: ReadonlyMap<string, string> = new Map(
  `arise arose arisen|bear bore borne born|beat beaten|become became|begin began begun|bite bit bitten|bleed bled|blow blew blown|break broke broken
breed bred|bring brought|build built|buy bought|catch caught|choose chose chosen|come came|creep crept|deal dealt|die died dying dies dead death
dig dug|draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found
flee fled|fly flew flown flies|forbid forbade forbidden|forget forgot forgotten|freeze froze frozen|get got gotten|give gave given|go went gone
grow grew grown|hang hung|hear heard|hide hid hidden|hold held|keep kept|know knew known|lay laid|lead led|leave left|lend lent|lose lost loss
make made|mean meant|meet met|pay paid|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen|seek sought|sell sold
send sent|shake shook shaken|shine shone|shoot shot|shrink shrank shrunk|sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid
speak spoke spoken|spend spent|spin spun|spring sprang sprung|stand stood|steal stole stolen|stick stuck|strike struck stricken|swear swore sworn
sweep swept|swim swam swum|swing swung|take took taken|teach taught|tear tore torn|tell told|think thought|throw threw thrown
understand understood|wake woke woken|wear wore worn|weave wove woven|win won winner winning|write wrote written
try tries tried|cry cries cried|dry dries dried|fry fries fried|spy spies spied|sky skies
man men|woman women|child children|person people persons|foot feet|tooth teeth|goose geese|mouse mice|life lives|wife wives|leaf leaves
datum data|medium media|phenomenon phenomena|criterion criteria|crisis crises|analysis analyses|thesis theses`
    .split(/[|\n]/)
    .flatMap((line) => {
      const [base = '', ...forms] = line.trim().split(' ')
      return [base, ...forms].map((form): [string, string] => [form, base])
    }),
)

/** The common form of a lower-case word. */
export function stem(word: string): string {
  return porterStem(IRREGULAR.get(word) ?? word)
}
