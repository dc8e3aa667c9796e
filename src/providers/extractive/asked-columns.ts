/** Which columns of a table a question asks for without saying their name: "how *heavy*" asks for `weight_g`. */

import { FUNCTION_WORDS } from './lexicon.ts'
import type { Word } from './words.ts'

const COLUMNS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  `who|who name person owner author contact manager lead assignee responsible
whom|who name person owner contact
when|when date day time until deadline due year month
where|where place location address city country site room
why|why reason cause
mean|meaning definition description
many|number count quantity qty amount total stock
much|price cost amount total fee
cost|price amount fee
costs|price amount fee
weigh|weight mass
weighs|weight mass
expensive|price cost fee
cheap|price cost fee
long|length duration
tall|height
high|height
heavy|weight mass
deep|depth
wide|width
far|distance
old|age
earn|salary pay wage income
earns|salary pay wage income
paid|salary pay wage amount
hired|start joined date
join|start joined date
joined|start date
based|city location country place
live|city location country address
lives|city location country address
fix|do remedy action solution
fast|speed
hot|temperature
cold|temperature
big|size area
large|size area
often|frequency interval
kostet|preis kosten
kosten|preis kosten
teuer|preis kosten
wiegt|gewicht
schwer|gewicht
wann|datum tag zeit uhrzeit
wo|ort stadt adresse wohnort land raum
wer|name person
alt|alter
verdient|gehalt lohn
verdienen|gehalt lohn
wem|name besitzer
coute|prix cout
pese|poids
quand|date jour heure
gagne|salaire
cuesta|precio coste
costa|prezzo costo
custa|preco custo
pesa|peso
kost|prijs
weegt|gewicht`
    .split('\n')
    .map((line): [string, ReadonlySet<string>] => {
      const [asks = '', names = ''] = line.split('|')
      return [asks, new Set(names.split(' '))]
    }),
)

/** Whether the word, in a question, asks for a column whose name has these words. */
export function asksForColumn({ lower: asks }: Pick<Word, 'lower'>, name: readonly Word[]): boolean {
  // "Where does it go *to*?": such a name is no word of meaning anywhere else.
  if (name.length === 1 && name[0]?.lower === asks && FUNCTION_WORDS.has(asks)) return true
  return name.some(({ lower }) => COLUMNS.get(asks)?.has(lower) === true)
}
