/** Numbers written as words: cardinals and small ordinals, by language. */

import type { Language } from './function-words.ts'

/** `add` is added to the sum so far, `times` multiplies it (hundred), `scale` closes a group (thousand, million); ordinals are used alone. */
export interface NumberWord {
  readonly value: number
  readonly role: 'add' | 'times' | 'scale' | 'ordinal'
}

/** Words in order from 0 or 1; `/` separates forms of one number. */
interface Words {
  readonly ones: string
  /** 20 to 90. */
  readonly tens: string
  readonly hundred: string
  readonly hundreds?: string
  readonly thousand: string
  readonly million: string
  readonly billion?: string
  /** First to twelfth. */
  readonly ordinals: string
}

const WORDS: Readonly<Partial<Record<Language, Words>>> = {
  en: {
    ones: 'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen',
    tens: 'twenty thirty forty fifty sixty seventy eighty ninety',
    hundred: 'hundred/hundreds',
    thousand: 'thousand/thousands/k',
    million: 'million/millions/mn',
    billion: 'billion/billions/bn',
    ordinals: 'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth',
  },
  de: {
    ones: 'null eins/ein/eine/einen/einem/einer/eines zwei/zweier drei/dreier vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn',
    tens: 'zwanzig dreißig/dreissig vierzig fünfzig sechzig siebzig achtzig neunzig',
    hundred: 'hundert',
    thousand: 'tausend/tsd',
    million: 'million/millionen/mio',
    billion: 'milliarde/milliarden/mrd',
    ordinals:
      'erste/ersten/erster/erstes zweite/zweiten/zweiter/zweites dritte/dritten/dritter/drittes vierte/vierten/vierter fünfte/fünften/fünfter sechste/sechsten/sechster siebte/siebten/siebter achte/achten/achter neunte/neunten/neunter zehnte/zehnten/zehnter elfte/elften/elfter zwölfte/zwölften/zwölfter',
  },
  fr: {
    ones: 'zéro un/une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf',
    tens: 'vingt/vingts trente quarante cinquante soixante soixante-dix quatre-vingt/quatre-vingts quatre-vingt-dix',
    hundred: 'cent/cents',
    thousand: 'mille',
    million: 'million/millions',
    billion: 'milliard/milliards',
    ordinals:
      'premier/première deuxième/second/seconde troisième quatrième cinquième sixième septième huitième neuvième dixième onzième douzième',
  },
  es: {
    ones: 'cero un/uno/una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve',
    tens: 'veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa',
    hundred: 'cien/ciento/cientos',
    hundreds:
      'doscientos/doscientas trescientos/trescientas cuatrocientos/cuatrocientas quinientos/quinientas seiscientos/seiscientas setecientos/setecientas ochocientos/ochocientas novecientos/novecientas',
    thousand: 'mil/miles',
    million: 'millón/millones',
    ordinals:
      'primer/primero/primera segundo/segunda tercer/tercero/tercera cuarto/cuarta quinto/quinta sexto/sexta séptimo/séptima octavo/octava noveno/novena décimo/décima undécimo/undécima duodécimo/duodécima',
  },
  it: {
    ones: 'zero un/uno/una due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove',
    tens: 'venti trenta quaranta cinquanta sessanta settanta ottanta novanta',
    hundred: 'cento',
    thousand: 'mille/mila',
    million: 'milione/milioni',
    billion: 'miliardo/miliardi',
    ordinals:
      'primo/prima secondo/seconda terzo/terza quarto/quarta quinto/quinta sesto/sesta settimo/settima ottavo/ottava nono/nona decimo/decima undicesimo dodicesimo',
  },
  pt: {
    ones: 'zero um/uma dois/duas três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis dezessete dezoito dezenove',
    tens: 'vinte trinta quarenta cinquenta sessenta setenta oitenta noventa',
    hundred: 'cem/cento',
    thousand: 'mil',
    million: 'milhão/milhões',
    billion: 'bilhão/bilhões',
    ordinals:
      'primeiro/primeira segundo/segunda terceiro/terceira quarto/quarta quinto/quinta sexto/sexta sétimo/sétima oitavo/oitava nono/nona décimo/décima',
  },
  nl: {
    ones: 'nul één twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien achttien negentien',
    tens: 'twintig dertig veertig vijftig zestig zeventig tachtig negentig',
    hundred: 'honderd',
    thousand: 'duizend',
    million: 'miljoen',
    billion: 'miljard',
    ordinals: 'eerste tweede derde vierde vijfde zesde zevende achtste negende tiende elfde twaalfde',
  },
  ru: {
    ones: 'ноль один/одна/одно/одного/одной два/две/двух/двумя/двум три/трёх/трех/тремя четыре/четырёх/четырех пять/пяти шесть/шести семь/семи восемь/восьми девять/девяти десять/десяти одиннадцать/одиннадцати двенадцать/двенадцати тринадцать/тринадцати четырнадцать/четырнадцати пятнадцать/пятнадцати шестнадцать/шестнадцати семнадцать/семнадцати восемнадцать/восемнадцати девятнадцать/девятнадцати',
    tens: 'двадцать/двадцати тридцать/тридцати сорок/сорока пятьдесят/пятидесяти шестьдесят/шестидесяти семьдесят/семидесяти восемьдесят/восьмидесяти девяносто',
    hundred: 'сто/ста',
    hundreds: 'двести/двухсот триста/трехсот/трёхсот четыреста пятьсот/пятисот шестьсот семьсот восемьсот девятьсот',
    thousand: 'тысяча/тысячи/тысяч/тыс',
    million: 'миллион/миллиона/миллионов/млн',
    billion: 'миллиард/миллиарда/миллиардов/млрд',
    ordinals:
      'первый/первая/первое/первого/первой второй/вторая/второе/второго третий/третья/третье/третьего/третьей четвертый/четвёртый/четвертая/четвертого пятый/пятая/пятого шестой/шестая/шестого седьмой/седьмая/седьмого восьмой/восьмая/восьмого девятый/девятая/девятого десятый/десятая/десятого',
  },
  ar: {
    ones: 'صفر واحد/واحدة اثنان/اثنين/اثنتين/اثنتان ثلاثة/ثلاث أربعة/أربع خمسة/خمس ستة/ست سبعة/سبع ثمانية/ثماني/ثمان تسعة/تسع عشرة/عشر',
    tens: 'عشرين/عشرون ثلاثين/ثلاثون أربعين/أربعون خمسين/خمسون ستين/ستون سبعين/سبعون ثمانين/ثمانون تسعين/تسعون',
    hundred: 'مائة/مئة',
    thousand: 'ألف/آلاف',
    million: 'مليون/ملايين',
    billion: 'مليار',
    ordinals: 'أول/أولى ثاني/ثانية ثالث/ثالثة رابع/رابعة خامس/خامسة سادس/سادسة سابع/سابعة ثامن/ثامنة تاسع/تاسعة عاشر/عاشرة',
  },
}

/** Scales written directly after digits in scripts without spaces between words. */
export const UNSPACED_SCALES: Readonly<Record<string, number>> = {
  สิบ: 10,
  ร้อย: 100,
  十: 10,
  百: 100,
  千: 1000,
  万: 10_000,
  亿: 100_000_000,
  พัน: 1000,
  หมื่น: 10_000,
  แสน: 100_000,
  ล้าน: 1_000_000,
}
/** Thai numbers follow one another without spaces. */
const THAI_DIGITS = ['ศูนย์', 'หนึ่ง', 'สอง', 'สาม', 'สี่', 'ห้า', 'หก', 'เจ็ด', 'แปด', 'เก้า']
export const THAI_NUMBER: string = `(?:(?:${[...THAI_DIGITS.slice(1), 'เอ็ด', 'ยี่'].join('|')})?(?:สิบ|ร้อย|พัน|หมื่น|แสน|ล้าน)|(?:${[...THAI_DIGITS, 'เอ็ด'].join('|')}))+(?!ารถ)`
const HAN_DIGITS = '零一二三四五六七八九'

const made = new Map<Language, ReadonlyMap<string, NumberWord>>()

export function numberWords(language: Language): ReadonlyMap<string, NumberWord> {
  const known = made.get(language)
  if (known !== undefined) return known
  const found = new Map<string, NumberWord>()
  const words = WORDS[language]
  const add = (list: string | undefined, role: NumberWord['role'], value: (index: number) => number): void => {
    for (const [index, forms] of (list ?? '').split(' ').entries())
      for (const form of forms.split('/')) if (form !== '' && !found.has(form)) found.set(form, { value: value(index), role })
  }
  if (words !== undefined) {
    add(words.ones, 'add', (index) => index)
    add(words.tens, 'add', (index) => 20 + 10 * index)
    add(words.hundreds, 'add', (index) => 200 + 100 * index)
    add(words.hundred, 'times', () => 100)
    add(words.thousand, 'scale', () => 1000)
    add(words.million, 'scale', () => 1_000_000)
    add(words.billion, 'scale', () => 1_000_000_000)
    add(words.ordinals, 'ordinal', (index) => index + 1)
  }
  made.set(language, found)
  return found
}

const COMPOUND = /^(.*?)(tausend|hundert|duizend|honderd)(.*)$/
const ONES_AND_TENS = /^(.+?)(?:und|en|ën)(.+)$/

/** Returns the value of a German or Dutch number written as one word: `dreiundzwanzigtausend`. */
export function compoundNumber(word: string, words: ReadonlyMap<string, NumberWord>): number | undefined {
  if (word.length > 60) return undefined
  const known = words.get(word)
  if (known !== undefined) return known.role === 'add' || known.role === 'times' ? known.value : undefined
  const compound = COMPOUND.exec(word)
  if (compound !== null) {
    const [, before = '', unit = '', after = ''] = compound
    const times = before === '' ? 1 : compoundNumber(before, words)
    const rest = after === '' ? 0 : compoundNumber(after.replace(/^und/, ''), words)
    if (times === undefined || rest === undefined) return undefined
    return times * (unit === 'tausend' || unit === 'duizend' ? 1000 : 100) + rest
  }
  const [, ones = '', tens = ''] = ONES_AND_TENS.exec(word) ?? []
  const [low, high] = [words.get(ones)?.value, words.get(tens)?.value]
  return low !== undefined && high !== undefined && low < 10 && high >= 20 && high < 100 ? low + high : undefined
}

/** Returns the value of Chinese numerals such as `二十三` or `两百`; `undefined` when the text is not one number. */
export function hanNumber(text: string): number | undefined {
  let total = 0
  let group = 0
  let digit: number | undefined
  for (const character of text) {
    const scale = UNSPACED_SCALES[character]
    if (scale !== undefined) {
      if (scale >= 10_000) {
        total = (total + group + (digit ?? 0)) * scale
        group = 0
      } else group += (digit ?? 1) * scale
      digit = undefined
      continue
    }
    const value = character === '两' ? 2 : character === '〇' ? 0 : HAN_DIGITS.indexOf(character)
    if (value < 0) return undefined
    digit = digit === undefined ? value : digit * 10 + value
  }
  return total + group + (digit ?? 0)
}

/** Returns the value of Thai numerals such as `ห้าล้าน`. */
export function thaiNumber(text: string): number {
  let total = 0
  let digit: number | undefined
  for (const [word] of text.matchAll(
    new RegExp([...THAI_DIGITS, 'เอ็ด', 'ยี่', 'สิบ', 'ร้อย', 'พัน', 'หมื่น', 'แสน', 'ล้าน'].join('|'), 'g'),
  )) {
    const scale = UNSPACED_SCALES[word]
    if (scale === undefined) digit = word === 'เอ็ด' ? 1 : word === 'ยี่' ? 2 : THAI_DIGITS.indexOf(word)
    else {
      total = scale === 1_000_000 ? (total + (digit ?? (total === 0 ? 1 : 0))) * scale : total + (digit ?? 1) * scale
      digit = undefined
    }
  }
  return total + (digit ?? 0)
}
