/** What questions in other languages than English are made of: without it "wann" would be a word that the answer has to hold. */

import type { AnswerKind } from './answer-kind.ts'
import type { Word } from './words.ts'

export interface Language {
  /** Words that carry no meaning of their own in a question, question words among them; without diacritics, as `Word.lower` is. */
  readonly functionWords: ReadonlySet<string>
  /** Which question words ask for a number or a time; every other asks for a thing. */
  readonly kinds: readonly (readonly [kind: AnswerKind, words: RegExp])[]
  /** A capital letter inside a sentence makes a name. */
  readonly namesByCapital: boolean
}

const list = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/))

const LANGUAGES: readonly Language[] = [
  {
    // German
    functionWords: list(
      `wann wer wem wen wessen was wo wohin woher warum weshalb wieso wie wieviel wieviele welche welcher welches welchen welchem womit wofur wodurch worauf woran
       viel viele lange hoch oft der die das den dem des ein eine einen einem einer eines und oder ist sind war waren wird werden wurde wurden hat haben hatte
       kann kannst konnen konnte muss musst mussen soll sollen darf durfen will wollen mochte gibt es ich du er sie wir ihr man mein meine meinen meinem meiner
       unser unsere sich mich mir uns bei beim von vom zu zum zur im in ins am an auf aus fur mit nach uber um unter vor durch nicht auch noch schon bitte dort`,
    ),
    kinds: [
      ['count', /\bwie ?viele\b/],
      [
        'quantity',
        /\b(?:wie ?viel|wie (?:lange?|hoch|gro(?:ss|ß)|breit|tief|schwer|alt|weit|schnell|oft|teuer)|was kostet|was kosten)\b/,
      ],
      ['time', /\b(?:wann|um wie ?viel uhr)\b/],
    ],
    namesByCapital: false,
  },
  {
    // French
    functionWords: list(
      `quand qui que quoi quel quelle quels quelles ou pourquoi comment combien lequel laquelle est sont etait etaient sera seront ete etre a ai as ont avait avoir
       faut fait faire peut peuvent puis dois doit doivent le la les l un une des du de d et en au aux ce cet cette ces se s y t il elle ils elles on je j tu nous
       vous me m mon ma mes notre nos votre vos son sa ses leur leurs dans par pour sur sous avec sans chez ne n pas plus qu lors cela ceci`,
    ),
    kinds: [
      ['count', /\bcombien (?:de|d)\b/],
      ['quantity', /\bcombien\b/],
      ['time', /\b(?:quand|quelle heure|quelle date)\b/],
    ],
    namesByCapital: true,
  },
  {
    // Spanish
    functionWords: list(
      `cuando quien quienes que cual cuales donde adonde porque por como cuanto cuanta cuantos cuantas es son era eran fue fueron sera ser esta estan estar hay ha han
       haber tiene tienen tener puede puedo pueden debe debo deben hace hacer el la los las lo un una unos unas de del al y o a en con sin para sobre se su sus mi mis
       me te le les nos yo tu usted no si mas muy cada este estos esto ese esa`,
    ),
    kinds: [
      ['count', /\bcuant[oa]s\b/],
      ['quantity', /\bcuant[oa]\b/],
      ['time', /\b(?:cuando|que hora|que fecha)\b/],
    ],
    namesByCapital: true,
  },
  {
    // Italian
    functionWords: list(
      `quando chi che cosa quale quali dove perche come quanto quanta quanti quante e sono era erano fu furono sara essere ha hanno ho avere posso puo possono devo deve
       devono bisogna si c ci vi il lo la i gli le l un uno una di del della dei delle degli dello dell a al alla ai alle allo all da dal dalla in nel nella nei con su
       sul sulla per tra fra non mio mia miei mie suo sua io tu lui lei noi voi loro questo questa`,
    ),
    kinds: [
      ['count', /\bquant[ie]\b/],
      ['quantity', /\bquant[oa]\b/],
      ['time', /\b(?:quando|che ora|a che ora)\b/],
    ],
    namesByCapital: true,
  },
  {
    // Portuguese
    functionWords: list(
      `quando quem que qual quais onde aonde porque por como quanto quanta quantos quantas e sao era eram foi foram sera ser esta estao estar ha tem ter posso pode podem
       devo deve devem o a os as um uma uns umas de do da dos das no na nos nas ao aos em com sem para pelo pela sobre se seu sua seus suas meu minha eu tu voce nao mais
       muito cada este esta isso`,
    ),
    kinds: [
      ['count', /\bquant[oa]s\b/],
      ['quantity', /\bquant[oa]\b/],
      ['time', /\b(?:quando|que horas|que dia)\b/],
    ],
    namesByCapital: true,
  },
  {
    // Dutch
    functionWords: list(
      `wanneer wie wat welke welk waar waarheen waarom waarmee waarvoor hoe hoeveel lang vaak is zijn was waren wordt worden werd werden heeft hebben heb had kan kun
       kunnen kon moet moeten mag mogen wil willen zal zullen er het een de den van voor naar met zonder op in aan bij door uit over om te tot en of ik jij je u hij zij ze
       wij we men mijn onze ons zich niet ook nog dit dat deze die`,
    ),
    kinds: [
      ['count', /\bhoeveel\b/],
      ['quantity', /\bhoe (?:lang|hoog|groot|breed|diep|zwaar|oud|ver|snel|vaak|duur)\b/],
      ['time', /\b(?:wanneer|hoe laat)\b/],
    ],
    namesByCapital: true,
  },
  {
    // Russian
    functionWords: list(
      `когда кто кого кому что чего чему где куда откуда почему зачем как какои какая какое какие какую каких каком сколько чеи чья чье чьи ли это был была было были
       есть быть нужно надо можно может могут должен должна должны и или в во на за из к ко с со о об от до по под при для без над у не а но же бы я ты он она оно мы вы
       они мне меня мои моя свои его ее их нас вас`,
    ),
    kinds: [
      ['count', /сколько/],
      ['time', /когда/],
    ],
    namesByCapital: true,
  },
  {
    // Polish
    functionWords: list(
      `kiedy kto kogo komu co czego gdzie dokad skad dlaczego czemu jak jaki jaka jakie jakich jaka ile ilu czy jest sa byl byla bylo byly bedzie byc ma maja moge moze mozna
       mozna musze musi trzeba nalezy i lub albo oraz w we na za z ze do od o po pod przy dla bez nad u nie a ale sie ja ty on ona my wy oni mi mnie moj moja swoj jego jej
       ich ten ta to te`,
    ),
    kinds: [
      ['count', /\b(?:ile|ilu)\b/],
      ['time', /\b(?:kiedy|o ktorej)\b/],
    ],
    namesByCapital: true,
  },
]

/** Words of more than one language, English among them. */
const SHARED = list('a i in is was die der den des me on an no am do so as he us had men over we of at to van dat')

/** The language of a question that is not asked in English, told by its words; `undefined` for English and for what nobody can tell. */
export function languageOf(words: readonly Word[], english: ReadonlySet<string>): Language | undefined {
  /** Shared words decide only where no other does. */
  const count = (set: ReadonlySet<string>): number =>
    words.reduce((sum, { lower }) => sum + (set.has(lower) ? (SHARED.has(lower) ? 1 : words.length + 1) : 0), 0)
  let best: Language | undefined
  let most = count(english)
  for (const language of LANGUAGES) {
    const found = count(language.functionWords)
    if (found <= most) continue
    best = language
    most = found
  }
  return best
}

/** What a question asks for, by its question words. */
export function kindIn({ kinds }: Language, words: readonly Word[]): AnswerKind {
  const text = words.map(({ lower }) => lower).join(' ')
  return kinds.find(([, pattern]) => pattern.test(text))?.[0] ?? 'thing'
}

const JAPANESE =
  '何(?:時|日|人|回|個|年|月|曜日|歳|円|文字)?|誰|だれ|どこ|いつ|いくら|いくつ|どの(?:くらい|よう[なに]?)?|どれ(?:くらい)?|どう(?:やって|すれば|して)?|どんな|なぜ|なに|なん|(?:でしょう|でした|です|ます|ました|ません)か|ください'
const CHINESE =
  '可以|能不能|能否|什么(?:时候|时间)?|甚么|怎么样?|怎样|如何|哪里|哪儿|哪些?|谁|多少|几[个天年月次点]?|为什么|何时|是否|吗|呢'
const THAI = 'อะไร|ใคร|ที่ไหน|เมื่อไหร่?|เมื่อไร|อย่างไร|ยังไง|ทำไม|เท่าไหร่?|เท่าไร|กี่|ไหม'
const KOREAN = '무엇|누가|누구|언제|어디|어떻게|어떤|왜|얼마나?|몇|입니까|인가요|나요|습니까|까요'

/** What asks, in languages that do not set it apart by spaces: cut out of the question before its characters are paired. */
const ASKING = new RegExp([JAPANESE, CHINESE, THAI, KOREAN].join('|'), 'gu')

/** In Japanese the words that carry meaning are seldom written in hiragana, and endings and particles always are. */
const HIRAGANA = /[\u3041-\u309f]/
/** Thai, Lao, Burmese, Khmer, Chinese, Japanese. Ranges, because a pattern over whole scripts takes longer to make than a question to read. */
const UNSPACED = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\ud840-\ud88c]/

/**
 * Pairs of characters that say nothing of what is asked: of two words one character each, or of an ending. All are kept where nothing else is.
 *
 * @param text what the words were read from.
 */
export function emptyPairs(text: string, words: readonly Word[]): ReadonlySet<Word> {
  if (!UNSPACED.test(text)) return new Set()
  const begins = new Set<number>()
  for (const { index } of new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text)) begins.add(index)
  const pairs = words.filter(({ lower }) => UNSPACED.test(lower))
  const empty = pairs.filter(
    ({ start, lower }) => HIRAGANA.test(lower) || begins.has(start + String.fromCodePoint(lower.codePointAt(0) ?? 0).length),
  )
  return new Set(empty.length < pairs.length ? empty : [])
}

const HANGUL = /[\uac00-\ud7a3]/

/** The question without what asks, every other character in its place. */
export function withoutAsking(text: string): string {
  if (!UNSPACED.test(text) && !HANGUL.test(text)) return text
  return text.replace(ASKING, (found) => ' '.repeat(found.length))
}
