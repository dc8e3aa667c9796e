/**
 * Knows scripts and function words of several languages: guesses the language of a text by them, and finds words that change the polarity of a
 * statement: negations, quantifiers, modal words, and pairs of antonyms.
 */

export type Language = 'en' | 'de' | 'fr' | 'es' | 'it' | 'pt' | 'nl' | 'ru' | 'ar' | 'th' | 'zh' | 'ja'

/** UTF-16 units that are read; bounds the cost. */
const SAMPLE = 4000
const SCRIPTS: readonly (readonly [Language, RegExp])[] = [
  ['ja', /[\u3040-\u30ff]/g],
  ['zh', /[\u3400-\u9fff]/g],
  ['th', /[\u0e00-\u0e7f]/g],
  ['ar', /[\u0600-\u06ff]/g],
  ['ru', /[\u0400-\u04ff]/g],
]
/** Least share of letters in a non-Latin script for a text in that script: names and code use Latin letters everywhere. */
const SHARE_OF_SCRIPT = 0.2

const FUNCTION_WORDS: Readonly<Partial<Record<Language, string>>> = {
  en: 'the of and to in is are was were that it for with as on by an be this from at or which not have has you your if when will can',
  de: 'der die das und ist in den von zu mit dem des im für auf ein eine nicht sich als auch es an werden wurde war sind aus bei wird oder nach',
  fr: 'le la les de des et est en un une du que qui dans pour au aux sur par plus ne pas ce se sont avec il elle été cette ou',
  es: 'el la los las de y que en un una es del se por con para no al lo su como más fue son este esta ha o sus entre',
  it: 'il la le di che e è un una in per con del della non si i gli al da sono nel come dei alla ha o più',
  pt: 'o a os as de e que em um uma é do da se por com para não ao no na foi são dos das mais ou como',
  nl: 'de het een van en in is dat op te zijn voor met niet aan door er om ook als bij naar wordt werd uit of',
}
let languagesOf: Map<string, Language[]> | undefined

/** Returns English if there is no evidence. */
export function languageOf(text: string): Language {
  const sample = text.slice(0, SAMPLE)
  const letters = count(sample, /\p{L}/gu)
  for (const [language, pattern] of SCRIPTS) if (count(sample, pattern) > SHARE_OF_SCRIPT * letters) return language
  languagesOf ??= wordsByLanguage()
  const votes = new Map<Language, number>()
  for (const [word] of sample.toLowerCase().matchAll(/[a-zà-ÿ]+/g))
    for (const language of languagesOf.get(word) ?? []) votes.set(language, (votes.get(language) ?? 0) + 1)
  let best: Language = 'en'
  for (const [language, number] of votes) if (number > (votes.get(best) ?? 0)) best = language
  return best
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}

function wordsByLanguage(): Map<string, Language[]> {
  const found = new Map<string, Language[]>()
  for (const [language, words] of Object.entries(FUNCTION_WORDS) as [Language, string][])
    for (const word of words.split(' ')) found.set(word, [...(found.get(word) ?? []), language])
  return found
}

/** Words of one class in one language; `_` joins two words. */
interface Classes {
  readonly not: string
  /** Universal quantifiers: each, always, only. */
  readonly whole: string
  /** Partial quantifiers: some, mostly, rarely. */
  readonly part: string
  readonly must: string
  readonly may: string
  /** Words that introduce an exception. */
  readonly except: string
  /** Function words without content. */
  readonly grammar: string
  readonly contraries: string
}

export type WordClass = Exclude<keyof Classes, 'contraries'>

const LEXICON: Readonly<Partial<Record<Language, Classes>>> = {
  en: {
    not: 'not no never none neither nor cannot without nobody nothing nowhere t',
    whole: 'all every each always everything everyone entirely exclusively completely solely only never any',
    part: 'some most many several few sometimes often usually mostly rarely seldom occasionally partly almost nearly potentially relatively mainly typically generally certain rare',
    must: 'must require requires required mandatory shall have_to has_to had_to need_to needs_to obliged',
    may: 'can may might could optional optionally possible possibly allowed allows',
    except: 'except exception exceptions excluding unless',
    grammar:
      'a an the this that these those it its he she they we you i his her their our your my of to in on at by for with from as into onto than then so if when while because since but and or be is are was were been being do does did have has had will would should also just still too very more which who whose what where how there here one about over under up out off s',
    contraries:
      'both/either before/after first/last minimum/maximum min/max increase/decrease increases/decreases increased/decreased above/below enable/disable enables/disables enabled/disabled include/exclude includes/excludes included/excluded allow/forbid allowed/forbidden allows/forbids accept/reject accepts/rejects accepted/rejected success/failure succeeds/fails succeeded/failed ascending/descending synchronous/asynchronous start/end starts/ends beginning/end open/close opened/closed left/right north/south northern/southern east/west eastern/western public/private internal/external input/output more/less more/fewer higher/lower high/low highest/lowest largest/smallest larger/smaller large/small big/little faster/slower fastest/slowest fast/slow easy/difficult easy/hard explicitly/implicitly explicit/implicit automatically/manually automatic/manual mutable/immutable client/server read/write encrypt/decrypt upper/lower inner/outer old/new oldest/newest older/newer early/late earlier/later earliest/latest popular/unpopular legal/illegal won/lost win/lose victory/defeat rise/fall rose/fell import/export imports/exports rich/poor long/short longer/shorter longest/shortest positive/negative odd/even true/false male/female husband/wife father/mother son/daughter brother/sister buy/sell bought/sold optional/required optional/mandatory best/worst better/worse strongest/weakest stronger/weaker wet/dry hot/cold warm/cold cooler/warmer thick/thin deep/shallow heavy/light heavier/lighter inside/outside major/minor majority/minority push/pull add/remove adds/removes added/removed lock/unlock acquire/release compile/runtime ignores/respects ignore/respect ignored/respected conservative/liberal urban/rural simple/complex temporary/permanent direct/indirect stable/unstable safe/unsafe supported/unsupported known/unknown similar/different same/different',
  },
  de: {
    not: 'nicht kein keine keinen keinem keiner keines nie niemals weder ohne niemand nichts',
    whole:
      'alle allen aller alles jede jeder jedes jeden jedem immer stets ausschließlich nur sämtliche ganz vollständig niemals',
    part: 'einige einigen manche manchen meist meisten meistens oft viele vielen wenige selten manchmal fast beinahe nahezu teilweise überwiegend hauptsächlich',
    must: 'muss müssen musste mussten erforderlich notwendig verpflichtend gezwungen',
    may: 'kann können könnte konnte darf dürfen optional möglich möglicherweise freiwillig',
    except: 'außer ausnahme ausnahmen ausgenommen',
    grammar:
      'der die das den dem des ein eine einen einem einer eines er sie es wir ihr und oder aber dass als wie wenn weil bei von vom zu zum zur im in ins am an auf aus für mit nach über um unter vor durch auch noch schon sich ist sind war waren wird werden wurde wurden worden hat haben hatte hatten dieser diese dieses diesem so nur dort hier',
    contraries:
      'vor/nach erste/letzte ersten/letzten größte/kleinste größten/kleinsten größer/kleiner mehr/weniger höher/niedriger hoch/niedrig beliebt/unbeliebt beginn/ende anfang/ende erlaubt/verboten nördlich/südlich nördlichen/südlichen norden/süden östlich/westlich östlichen/westlichen osten/westen innen/außen links/rechts alt/neu alten/neuen früh/spät früher/später stark/schwach stärksten/schwächsten gewann/verlor sieg/niederlage steigen/sinken stieg/sank schnell/langsam schneller/langsamer leicht/schwer warm/kalt reich/arm lang/kurz öffentlich/privat positiv/negativ bekannt/unbekannt einfach/schwierig direkt/indirekt mehrheit/minderheit konservative/liberale konservativen/liberalen',
  },
  es: {
    not: 'no nunca ningún ninguno ninguna jamás sin ni tampoco nadie nada',
    whole: 'todo todos toda todas siempre cada exclusivamente solo sólo únicamente completamente sin_excepción jamás nunca',
    part: 'algunos algunas algún muchos muchas varios varias mayoría veces frecuentemente generalmente casi parte principalmente raramente',
    must: 'debe deben debía obligatorio obligatoria necesario tiene_que tienen_que obligado',
    may: 'puede pueden podría opcional posible posiblemente permitido',
    except: 'excepto excepción excepciones salvo',
    grammar:
      'el la los las lo un una unos unas de del y o u a al en con por para que se su sus es son fue fueron era ser ha han había como más muy este esta estos estas ese esa le les cuando donde entre sobre desde hasta pero también ya',
    contraries:
      'antes/después primero/último primera/última mayor/menor más/menos aumento/disminución aumentó/disminuyó norte/sur este/oeste oriental/occidental septentrional/meridional interno/externo público/privado fácil/difícil victoria/derrota venció/perdió ganó/perdió alto/bajo alta/baja largo/corto antiguo/nuevo temprano/tarde permitido/prohibido fuerte/débil rico/pobre positivo/negativo conocido/desconocido directo/indirecto mayoría/minoría',
  },
  fr: {
    not: 'ne pas jamais aucun aucune sans ni rien personne non n',
    whole: 'tout tous toute toutes toujours chaque exclusivement uniquement seulement complètement',
    part: 'certains certaines quelques plusieurs beaucoup parfois souvent généralement presque rarement principalement majorité plupart',
    must: 'doit doivent devait obligatoire nécessaire faut',
    may: 'peut peuvent pourrait facultatif possible permis',
    except: 'sauf excepté exception exceptions',
    grammar:
      'le la les l un une des du de d et ou où à au aux en dans par pour sur avec qui que qu ce cette ces se sa son ses est sont était été être a ont il elle ils elles on plus comme mais aussi y',
    contraries:
      'avant/après premier/dernier première/dernière plus/moins augmente/diminue augmentation/diminution nord/sud est/ouest interne/externe public/privé facile/difficile victoire/défaite haut/bas long/court ancien/nouveau autorisé/interdit fort/faible riche/pauvre positif/négatif connu/inconnu majorité/minorité',
  },
  ru: {
    not: 'не нет ни никогда без никто ничего',
    whole: 'все всех всё каждый каждая каждое всегда исключительно только полностью никогда',
    part: 'некоторые некоторых многие многих большинство иногда часто обычно почти редко частично относительному относительно',
    must: 'должен должна должны должно обязан обязаны необходимо обязательно',
    may: 'может могут мог можно возможно',
    except: 'кроме исключением исключая',
    grammar:
      'и а но или что как в во на с со к ко о об от до из за по для у он она оно они его её их этот эта это эти был была было были есть быть который которая которые также же бы ли',
    contraries:
      'до/после первый/последний больше/меньше выше/ниже север/юг восток/запад победа/поражение старый/новый рано/поздно легко/трудно разрешено/запрещено сильный/слабый внутренний/внешний',
  },
}

/** Classes for scripts without spaces, as substrings. */
const UNSPACED: Readonly<Partial<Record<Language, Omit<Classes, 'grammar' | 'except'>>>> = {
  zh: {
    not: '不 没 未 无 非',
    whole: '所有 全部 总是 始终 都 每个 完全 只 仅',
    part: '有时 一些 部分 大多 多数 几乎 常常 往往 很少 偶尔 主要',
    must: '必须 需要 应当',
    may: '可以 可能 也许',
    contraries:
      '之前/之后 最大/最小 最高/最低 增加/减少 上升/下降 容易/难 容易/困难 成功/失败 内部/外部 允许/禁止 开始/结束 较大/较小 更多/更少 公开/秘密 东/西 南/北',
  },
}

const sets = new Map<string, ReadonlySet<string>>()

/** Returns the words of a class; pairs of words have a space. @param fold folds words as the compared words were folded. */
export function wordsOf(language: Language, name: WordClass, fold: (word: string) => string): ReadonlySet<string> {
  const key = `${language} ${name}`
  let known = sets.get(key)
  if (known === undefined) {
    known = new Set((LEXICON[language]?.[name] ?? '').split(' ').map((word) => fold(word.replaceAll('_', ' '))))
    sets.set(key, known)
  }
  return known
}

const pairs = new Map<Language, ReadonlyMap<string, readonly string[]>>()

/** Returns the antonyms of a word. */
export function contrariesOf(word: string, language: Language, fold: (word: string) => string): readonly string[] {
  let known = pairs.get(language)
  if (known === undefined) {
    const found = new Map<string, string[]>()
    for (const pair of (LEXICON[language]?.contraries ?? '').split(' ')) {
      const [one = '', other = ''] = pair.split('/').map(fold)
      found.set(one, [...(found.get(one) ?? []), other])
      found.set(other, [...(found.get(other) ?? []), one])
    }
    pairs.set(language, (known = found))
  }
  return known.get(word) ?? []
}

/** Returns the substrings of a class, for scripts without spaces. */
export function partsOf(language: Language, name: 'not' | 'whole' | 'part' | 'must' | 'may'): readonly string[] {
  return UNSPACED[language]?.[name].split(' ') ?? []
}

export function unspacedContraries(language: Language): readonly (readonly string[])[] {
  return UNSPACED[language]?.contraries.split(' ').map((pair) => pair.split('/')) ?? []
}

const CLOSED: readonly WordClass[] = ['grammar', 'not', 'whole', 'part', 'must', 'may']

/** Reports whether a word belongs to a closed class, so that it has no meaning by itself. */
export function isClosed(word: string, language: Language, fold: (word: string) => string): boolean {
  return CLOSED.some((name) => wordsOf(language, name, fold).has(word))
}
