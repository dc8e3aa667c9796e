/** The few words whose meaning the check of own words has to know: English, German, French, Spanish, Italian, Portuguese, Dutch, Chinese. */

const list = (words: string): readonly string[] => words.split(/\s+/)

/** Words that say little about what a sentence is about. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  list(
    `a about above after again all also although am an and any are as at be because been before being below between both but by can could did do does
doing down during each either else even few for from further had has have having he her here hers him his how however i if in into is it its
itself just may me might more most much must my near of off on once one only or other our out over own per quite rather same shall she should
since so some such than that the their them then there therefore these they this those though through thus to too under until up upon us very
was we were what when where whether which while who whom whose why will with within would yet you your according says said states stated
source passage document documents text mentions describes reports reported explains notes
der die das den dem des ein eine einen einem einer eines und oder aber auch als am an auf aus bei beim bis da damit dann dass daß dazu denn deren
dessen diese dieser dieses diesem diesen doch dort du durch er es etwa für fuer gegen hat hatte hatten haben hier ich ihm ihn ihr ihre ihren ihrer
im in ins ist ja jede jeder jedes kann können man mehr mit nach noch nur ob seit sehr sein seine seinem seinen seiner sich sie sind so sowie
über um uns unter vom von vor war waren was wenn wer werden wie wird wo wurde wurden zu zum zur zwischen während laut quelle dokument
le la les un une des du de et ou mais donc car au aux avec ce ces cet cette ceux chez comme dans depuis dont elle elles en entre est était
étaient ont avait être fait il ils je leur leurs lors lui même mes mon nos notre nous on par pas pendant peut plus pour qu que qui quand
sa sans se selon ses si son sont sous sur ta tandis très tu vers vos votre vous y été fut furent
el los las y o pero del al como con cuando desde donde es era eran esta este esto fue fueron ha han hasta lo más muy para por porque según ser
si sin sobre su sus también un una uno unos unas entre e che di da il lo gli i nel nella dei delle degli per con non più sono era come anche una
os às ao aos dos das na nas no nos pelo pela com foi foram não mais seu sua
het een van en te dat die op voor met zijn bij aan door naar ook werd werden wordt niet`,
  ),
)

/** Words that deny what follows them, or what they stand behind. */
const NEGATIONS: ReadonlySet<string> = new Set(
  list(
    'not no non never neither nor none nobody nothing nowhere cannot nicht nie niemals kein keine keinen keinem keiner keines weder nichts ne jamais aucun aucune ni rien nunca jamás ningún ninguna ninguno nada tampoco não nem nenhum nenhuma niet geen nooit mai nessun nessuno nessuna niente',
  ),
)
/** These deny too, but need not be repeated by who says it with a plain negation, or does not say it. */
const WEAK_NEGATIONS: ReadonlySet<string> = new Set(
  list(
    'without lack lacks lacked lacking fail fails failed failing hardly barely unable absent ohne kaum sans sin sem senza zonder',
  ),
)
/** `isn't` is read as `isn` and `t`. */
const CONTRACTED: ReadonlySet<string> = new Set(
  list('don doesn didn isn aren wasn weren won can couldn shouldn wouldn hasn haven hadn mustn needn ain shan mightn'),
)
/** Not only: no denial. */
const ONLY: ReadonlySet<string> = new Set(
  list('only just merely solely simply nur bloß allein seulement uniquement solo sólo solamente apenas só alleen'),
)
const DENYING_CHARACTERS: ReadonlySet<string> = new Set(['不', '没', '沒', '未', '无', '無', '非', '勿', '别', '別', '莫'])
/** Chinese words in which such a character denies nothing. */
const HARMLESS_PAIRS: ReadonlySet<string> = new Set([
  '不同',
  '不过',
  '不過',
  '不仅',
  '不僅',
  '不但',
  '不断',
  '不斷',
  '不久',
  '不论',
  '不管',
  '无论',
  '無論',
  '非常',
  '未来',
  '未來',
  '别人',
  '特别',
  '特別',
  '区别',
  '區別',
  '分别',
  '分別',
  '除非',
  '并非',
  '不少',
  '差不',
  '不锈',
  '不鏽',
  '非洲',
  '类别',
  '级别',
  '性别',
  '个别',
])

export type Denial = 'strong' | 'weak' | undefined

/** Whether the word at a place of a folded text denies something. */
export function denialAt(words: readonly string[], at: number): Denial {
  const word = words[at] ?? ''
  const after = words[at + 1] ?? ''
  if (DENYING_CHARACTERS.has(word)) {
    return HARMLESS_PAIRS.has(word + after) || HARMLESS_PAIRS.has((words[at - 1] ?? '') + word) ? undefined : 'strong'
  }
  // In code.
  if (word === '!') return 'strong'
  if (NEGATIONS.has(word)) return ONLY.has(after) ? undefined : 'strong'
  if (word === 't' && CONTRACTED.has(words[at - 1] ?? '')) return 'strong'
  if (word === 'n' && (/^(?:est|a|ont|était|ai|avait|y|en)$/.test(after) || isClosedNegation(words, at))) return 'strong'
  return WEAK_NEGATIONS.has(word) ? 'weak' : undefined
}

/** Words between `n'` and what closes it: `n'est toujours pas`. */
const CLOSING_REACH = 3

/** `n'inclut pas`, `n'offre aucun`: the `n` of a formula is not followed by such a word. */
function isClosedNegation(words: readonly string[], at: number): boolean {
  return words
    .slice(at + 2, at + 2 + CLOSING_REACH)
    .some((word) => /^(?:pas|jamais|rien|aucune?|ni|guère|point|nulle|personne)$/.test(word))
}

/** They say of a thing that it is not there, each language in its own way. */
const LACKING =
  /^(?:excludes?|excluded|missing|fehlt|fehlen|fehlte|fehlten|exclu[te]?s?|excluent|manque|manquent|absentes?|absents|falta|faltan|excluye|excluyen)$/

/** A word for what is left out or not there: it denies as `no` does where a table says so. */
export function saysLacking(word: string): boolean {
  return LACKING.test(word)
}

export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word) && !NEGATIONS.has(word)
}

/** A Chinese character that says little by itself. */
export function isParticle(character: string): boolean {
  return /^[的了是在和与及或也都就而被把将从到于以为其之这那个一]$/.test(character)
}

/** Words of which only one can be true in the same place. Each line is one such set; `/` parts forms and translations. */
const CONTRASTS = `january/januar/janvier/enero february/februar/février/febrero march/märz/mars/marzo april/avril/abril may/mai/mayo june/juni/juin/junio july/juli/juillet/julio august/août/agosto september/septembre/septiembre october/oktober/octobre/octubre november/novembre/noviembre december/dezember/décembre/diciembre
monday/montag/lundi/lunes tuesday/dienstag/mardi/martes wednesday/mittwoch/mercredi/miércoles thursday/donnerstag/jeudi/jueves friday/freitag/vendredi/viernes saturday/samstag/samedi/sábado sunday/sonntag/dimanche/domingo
north/northern/norden/nördlich/nord/norte/北 south/southern/süden/südlich/sud/sur/南 east/eastern/osten/östlich/est/este/东 west/western/westen/westlich/ouest/oeste/西
left/links/gauche/izquierda/左 right/rechts/droite/derecha/右
red/rot/rouge/rojo blue/blau/bleu/azul green/grün/vert/verde yellow/gelb/jaune/amarillo white/weiß/weiss/blanc/blanco black/schwarz/noir/negro grey/gray/grau/gris brown/braun/brun/marrón
increase/increased/increases/increasing/rose/rises/grew/erhöht/steigt/stieg/augmente/augmenté/aumenta/增 decrease/decreased/decreases/decreasing/reduced/reduces/fell/declined/senkt/gesenkt/sinkt/sank/diminue/diminué/disminuye/减
more/mehr/plus/más less/fewer/weniger/moins/menos
higher/höher/supérieur/mayor lower/niedriger/inférieur/menor
above/over/über/oberhalb below/under/unter/unterhalb
before/vor/vorher/avant/antes/前 after/nach/nachher/après/después/后
first/erste/ersten/erster/erstes/premier/première/primero/primera last/letzte/letzten/letzter/dernier/dernière/último/última
minimum/least/mindestens maximum/most/höchstens
always/immer/toujours/siempre never/nie/niemals/jamais/nunca
all/every/alle/tous/toutes/todos some/einige/certains/algunos none/keine/aucun/ninguno
true/wahr/vrai false/falsch/faux
allowed/permitted/allows/permits/erlaubt/autorisé/permitido forbidden/prohibited/forbids/verboten/interdit/prohibido
enabled/enables/enable/aktiviert/activé disabled/disables/disable/deaktiviert/désactivé
required/mandatory/erforderlich/obligatoire/obligatorio optional/freiwillig/facultatif/opcional
open/opened/opens/offen/geöffnet/ouvert/abierto closed/closes/shut/geschlossen/fermé/cerrado
best/beste worst/schlechteste
largest/biggest/größte smallest/kleinste
oldest/älteste youngest/newest/jüngste
longest/längste shortest/kürzeste
success/succeeds/succeeded/erfolgreich failure/fails/failed/fehlgeschlagen
hot/heiß/chaud/caliente cold/kalt/froid/frío
male/männlich female/weiblich
public/öffentlich private/privat
daily/täglich/quotidien weekly/wöchentlich/hebdomadaire monthly/monatlich/mensuel yearly/annual/annually/jährlich/annuel
seconds/second/sekunde/sekunden/secondes minutes/minute/minuten hours/hour/stunde/stunden/heures days/day/tag/tage/jours weeks/week/woche/wochen/semaines months/month/monat/monate/mois years/year/jahr/jahre/ans/années
millimetres/millimeters/millimeter/mm centimetres/centimeters/zentimeter/cm metres/meters/meter/mètres kilometres/kilometers/kilometer/km miles/meilen feet/inches
grams/gramm/grammes kilograms/kilogramm/kg tonnes/tons/tonnen pounds
hundred/hundert/cent thousand/tausend/mille million/millionen/millions billion/milliarden/milliards`

const SET_OF: ReadonlyMap<string, readonly [set: number, member: number]> = new Map(
  CONTRASTS.split('\n').flatMap((line, set) =>
    line
      .split(' ')
      .flatMap((member, index) => member.split('/').map((word): [string, readonly [number, number]] => [word, [set, index]])),
  ),
)

/** Which set of contrary words a word is of, and which of them it is. */
export function contrastOf(word: string): readonly [set: number, member: number] | undefined {
  return SET_OF.get(word)
}

const NUMERALS: ReadonlyMap<string, string> = new Map(
  [
    'zero null zéro cero',
    '',
    'two zwei deux dos due twee 二 两',
    'three drei trois tres tre drie 三',
    'four vier quatre cuatro quattro 四',
    'five fünf cinq cinco cinque vijf 五',
    'six sechs seis sei zes 六',
    'seven sieben sept siete sette zeven 七',
    'eight acht huit ocho otto 八',
    'nine neun neuf nueve nove negen 九',
    'ten zehn dix diez dieci tien 十',
    'eleven elf onze once undici',
    'twelve zwölf douze doce dodici twaalf',
  ].flatMap((words, value) => (words === '' ? [] : words.split(' ').map((word): [string, string] => [word, String(value)]))),
)
const OTHER_WORDS: ReadonlySet<string> = new Set(['once', 'null', 'elf', 'sei', 'dos', 'due', 'tre', 'acht'])

/** The digits of a number that is written as a word. */
export function numeral(word: string): string | undefined {
  return OTHER_WORDS.has(word) ? undefined : NUMERALS.get(word)
}

/** The values that a number may be written for: `1.500` is one and a half, or fifteen hundred. */
export function valuesOf(number: string): readonly string[] {
  const values = new Set<string>([number.replace(/^0+(?=\d)/, '')])
  if (/^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(number)) values.add(number.replaceAll(',', ''))
  if (/^\d{1,3}(?:\.\d{3})+(?:,\d+)?$/.test(number)) values.add(number.replaceAll('.', '').replace(',', '.'))
  if (/^\d+,\d+$/.test(number)) values.add(number.replace(',', '.'))
  return [...values].map((value) => (/^\d+\.\d+$/.test(value) ? value.replace(/0+$/, '').replace(/\.$/, '') : value))
}
