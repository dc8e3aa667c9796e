/** The few English words that selection knows by heart. Other languages are answered by the overlap of words alone. */

import type { AnswerKind } from './answer-kind.ts'

const list = (text: string): string[] => text.split(/\s+/)

/** Words that carry no meaning of their own in a question. */
export const FUNCTION_WORDS: ReadonlySet<string> = new Set(
  list(
    `a an and any are as at be been being but by can could did do does doing for from had has have having he her hers him his how i if in into is it its
     me might must my no nor not of off on onto or our ours out over shall she should so some such than that the their theirs them then there these they
     this those through to too under until up upon us very was we were what when where which while who whom whose why will with within without would you your
     yours s t re ll ve d m am about above after again against all also among because before below between both during each few more most other own same
     just may per via many much please tell list give name mr mrs ms`,
  ),
)

/** What a question says of every event: it names none. */
export const EVENT_VERBS: ReadonlySet<string> = new Set(list('happen happens happened happening occur occurs occurred occurring'))

/** Verbs that a question needs for its grammar, and an answer often says otherwise: "which port does it *use*". */
export const LIGHT_VERBS: ReadonlySet<string> = new Set(
  list(
    'last lasts lasted use uses used using make makes made making need needs needed get gets got take takes taken took give gives given gave go goes went come comes came keep keeps kept put puts set sets work works become becomes became',
  ),
)

/** "The *value* of the limit", "the *figure* of May": what stands in a cell or behind a name, which seldom says so itself. */
export const VALUE_NOUNS: ReadonlySet<string> = new Set(
  list('value values figure figures number amount entry cell row column data'),
)

/** "How *long*": adjectives that ask for a measure. */
export const QUANTITY_ADJECTIVES: ReadonlySet<string> = new Set(
  list(
    'long tall high far deep wide old big large small heavy fast often hot cold late early thick close strong loud bright expensive soon quickly frequently',
  ),
)

const NOUNS: Readonly<Partial<Record<AnswerKind, string>>> = {
  time: 'year years date day days month months century centuries decade decades era period time season hour birthday',
  place: `country countries city cities state states town towns village villages county counties continent continents place places location locations region regions
    area areas island islands river rivers lake lakes ocean sea mountain mountains province provinces district districts street capital stadium venue territory territories
    nation nations airport planet`,
  person: `person people man men woman women actor actors actress actresses author authors writer writers singer singers president presidents king kings queen queens
    emperor leader leaders player players coach director directors character characters artist artists musician scientist scientists politician politicians
    general philosopher poet composer inventor founder founders governor minister monarch pope quarterback driver captain owner teacher winner husband wife
    father mother son daughter brother sister family partner partners`,
  name: `team teams company companies band bands group groups school schools university universities college organization organizations organisation party parties book
    books film films movie movies song songs album albums show series novel play newspaper magazine club church language languages religion nationality
    ethnicity brand bill act law war battle treaty army ship building tower museum award channel network empire dynasty tribe agency institution software`,
  count: 'number population total',
  quantity:
    'percentage percent percentile proportion height length width depth weight speed distance temperature cost price amount rate age score gauge',
}

/** What kind of answer a noun announces: "which *city*", "what *year*". */
export const KIND_OF_NOUN: ReadonlyMap<string, AnswerKind> = new Map(
  (Object.entries(NOUNS) as [AnswerKind, string][]).flatMap(([kind, words]) =>
    list(words).map((word): [string, AnswerKind] => [word, kind]),
  ),
)

export const NUMBER_WORDS: ReadonlySet<string> = new Set(
  list(
    `zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty
     fifty sixty seventy eighty ninety hundred hundreds thousand thousands million millions billion billions trillion dozen dozens half once twice several`,
  ),
)
export const ORDINAL_WORDS: ReadonlySet<string> = new Set(
  list(
    'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth last',
  ),
)
export const MONTHS: ReadonlySet<string> = new Set(
  list(
    'january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec',
  ),
)
export const TIME_WORDS: ReadonlySet<string> = new Set(
  list(
    'century centuries decade bc bce ad ce bp monday tuesday wednesday thursday friday saturday sunday today yesterday midnight noon',
  ),
)
export const SEASONS: ReadonlySet<string> = new Set(list('spring summer autumn fall winter'))
/** Adjectives and names of peoples: they say where somebody or something is from. */
export const DEMONYMS: ReadonlySet<string> = new Set(
  list(
    `african american arab arabic argentine asian australian austrian bavarian belgian brazilian british bulgarian canadian catholic chinese christian croatian
     cuban czech danish dutch egyptian english ethiopian european filipino finnish flemish french german greek hebrew hindu hungarian indian indonesian iranian
     iraqi irish islamic israeli italian jamaican japanese jewish korean latin malaysian mexican mongol mongolian muslim nigerian norwegian ottoman pakistani
     persian polish portuguese protestant roman romanian russian saudi scottish serbian soviet spanish swedish swiss syrian thai turkish ukrainian vietnamese welsh`,
  ),
)
export const UNITS: ReadonlySet<string> = new Set(
  list(
    `percent per cent km kilometre kilometres kilometer kilometers mile miles m metre metres meter meters cm centimetres mm millimetres foot feet ft inch inches yard yards
     acre acres hectare hectares second seconds minute minutes hour hours day days week weeks month months year years decade decades century centuries
     kg kilogram kilograms gram grams pound pounds lb lbs ton tons tonne tonnes ounce ounces oz litre litres liter liters gallon gallons degree degrees celsius fahrenheit
     kelvin mph kph knots watt watts kw mw gw volt volts hz khz mhz ghz byte bytes kb mb gb tb dollar dollars euro euros cent cents pence yen rupees francs
     m2 m3 cm2 cm3 km2 km3 nm nanometers people inhabitants times points`,
  ),
)
export const PLACE_PREPOSITIONS: ReadonlySet<string> = new Set(
  list(
    'in at near from to on off across into outside around between along through throughout within beside behind under above over toward towards inside',
  ),
)
