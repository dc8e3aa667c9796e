/** Removes question words in languages for which the analyser has no stop words: an answer to "wann" need not contain it. */

import { fold } from './fold.ts'

/** Folded: without accents. */
const FUNCTION_WORDS: Readonly<Record<string, string>> = {
  German: `
    wann wer wem wen wessen was wo wohin woher warum weshalb wieso wie wieviel wieviele welche welcher welches welchen
    welchem womit wofur wodurch worauf woran viel viele lange hoch oft der die das den dem des ein eine einen einem einer
    eines und oder ist sind war waren wird werden wurde wurden hat haben hatte kann kannst konnen konnte muss musst mussen
    soll sollen darf durfen will wollen mochte gibt es ich du er sie wir ihr man mein meine meinen meinem meiner unser
    unsere sich mich mir uns bei beim von vom zu zum zur im in ins am an auf aus fur mit nach uber um unter vor durch nicht
    auch noch schon bitte dort`,
  French: `
    quand qui que quoi quel quelle quels quelles ou pourquoi comment combien lequel laquelle est sont etait etaient sera
    seront ete etre a ai as ont avait avoir faut fait faire peut peuvent puis dois doit doivent le la les l un une des du
    de d et en au aux ce cet cette ces se s y t il elle ils elles on je j tu nous vous me m mon ma mes notre nos votre vos
    son sa ses leur leurs dans par pour sur sous avec sans chez ne n pas plus qu lors cela ceci`,
  Spanish: `
    cuando quien quienes que cual cuales donde adonde porque por como cuanto cuanta cuantos cuantas es son era eran fue
    fueron sera ser esta estan estar hay ha han haber tiene tienen tener puede puedo pueden debe debo deben hace hacer el
    la los las lo un una unos unas de del al y o a en con sin para sobre se su sus mi mis me te le les nos yo tu usted no
    si mas muy cada este estos esto ese esa`,
  Italian: `
    quando chi che cosa quale quali dove perche come quanto quanta quanti quante e sono era erano fu furono sara essere ha
    hanno ho avere posso puo possono devo deve devono bisogna si c ci vi il lo la i gli le l un uno una di del della dei
    delle degli dello dell a al alla ai alle allo all da dal dalla in nel nella nei con su sul sulla per tra fra non mio
    mia miei mie suo sua io tu lui lei noi voi loro questo questa`,
  Portuguese: `
    quando quem que qual quais onde aonde porque por como quanto quanta quantos quantas e sao era eram foi foram sera ser
    esta estao estar ha tem ter posso pode podem devo deve devem o a os as um uma uns umas de do da dos das no na nos nas
    ao aos em com sem para pelo pela sobre se seu sua seus suas meu minha eu tu voce nao mais muito cada este isso`,
  Dutch: `
    wanneer wie wat welke welk waar waarheen waarom waarmee waarvoor hoe hoeveel lang vaak is zijn was waren wordt worden
    werd werden heeft hebben heb had kan kun kunnen kon moet moeten mag mogen wil willen zal zullen er het een de den van
    voor naar met zonder op in aan bij door uit over om te tot en of ik jij je u hij zij ze wij we men mijn onze ons zich
    niet ook nog dit dat deze die`,
  Russian: `
    когда кто кого кому что чего чему где куда откуда почему зачем как какои какая какое какие какую каких каком сколько
    чеи чья чье чьи ли это был была было были есть быть нужно надо можно может могут должен должна должны и или в во на за
    из к ко с со о об от до по под при для без над у не а но же бы я ты он она оно мы вы они мне меня мои моя свои его ее
    их нас вас`,
  Polish: `
    kiedy kto kogo komu co czego gdzie dokad skad dlaczego czemu jak jaki jaka jakie jakich ile ilu czy jest sa byl byla
    bylo byly bedzie byc ma maja moge moze mozna musze musi trzeba nalezy i lub albo oraz w we na za z ze do od o po pod
    przy dla bez nad u nie a ale sie ja ty on ona my wy oni mi mnie moj moja swoj jego jej ich ten ta to te`,
}

const JAPANESE =
  '何(?:時|日|人|回|個|年|月|曜日|歳|円|文字)?|誰|だれ|どこ|いつ|いくら|いくつ|どの(?:くらい|よう[なに]?)?|どれ(?:くらい)?|どう(?:やって|すれば|して)?|どんな|なぜ|なに|なん|(?:でしょう|でした|です|ます|ました|ません)か|ください'
const CHINESE =
  '可以|能不能|能否|什么(?:时候|时间)?|甚么|怎么样?|怎样|如何|哪里|哪儿|哪些?|谁|多少|几[个天年月次点]?|为什么|何时|是否|吗|呢'
const THAI = 'อะไร|ใคร|ที่ไหน|เมื่อไหร่?|เมื่อไร|อย่างไร|ยังไง|ทำไม|เท่าไหร่?|เท่าไร|กี่|ไหม'
const KOREAN = '무엇|누가|누구|언제|어디|어떻게|어떤|왜|얼마나?|몇|입니까|인가요|나요|습니까|까요'

/** Question words of scripts without spaces. */
const ASKING = new RegExp([JAPANESE, CHINESE, THAI, KOREAN].join('|'), 'gu')
const UNSPACED = /[\u0e00-\u0e7f\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]/
const WORD = /[\p{L}\p{M}\p{N}]+/gu
/** English words that show that a question is in English. */
const ENGLISH = new Set(
  'the of to in is are was were do does did how what which who when where why can i my for and with a an by from it'.split(' '),
)

let known: readonly ReadonlySet<string>[] | undefined

/** Removes words that only ask. The function words decide the language; if English has as many, the question is returned unchanged. */
export function withoutQuestionWords(question: string): string {
  if (UNSPACED.test(question)) return question.replaceAll(ASKING, ' ')
  const words = Array.from(question.matchAll(WORD), ([word]) => fold(word))
  known ??= Object.values(FUNCTION_WORDS).map((list) => new Set(list.trim().split(/\s+/)))
  const count = (set: ReadonlySet<string>): number => words.filter((word) => set.has(word)).length
  let best: ReadonlySet<string> | undefined
  // One word is not enough to decide: `C` is also a French word.
  let most = Math.max(1, count(ENGLISH))
  for (const list of known) {
    const found = count(list)
    if (found <= most) continue
    best = list
    most = found
  }
  const language = best
  return language === undefined ? question : question.replaceAll(WORD, (word) => (language.has(fold(word)) ? ' ' : word))
}
