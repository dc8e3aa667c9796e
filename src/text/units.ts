/** Units of measure: their names in several languages, their families, and their conversion factors. */

export interface Unit {
  readonly name: string
  /** Units of one family measure the same quantity and can be compared. */
  readonly family: string
  /** Number of base units of the family in this unit; months and years are averages. */
  readonly factor: number
}

/** Family: unit, factor and names (names after `=` are case-sensitive). */
const UNITS: Readonly<Record<string, string>> = {
  time: `nanosecond|1e-9|ns nanosecond nanoseconds nanosekunden
    microsecond|1e-6|µs μs us microsecond microseconds mikrosekunden
    millisecond|1e-3|ms msec millisecond milliseconds millisekunde millisekunden milisegundo milisegundos milliseconde millisecondes миллисекунд 毫秒
    second|1|s sec secs second seconds sekunde sekunden segundo segundos seconde secondes secondo secondi секунда секунды секунд секунду 秒 ثانية ثوان วินาที
    minute|60|min mins minute minutes minuten minuto minutos minuti минута минуты минут минуту 分钟 دقيقة دقائق นาที
    hour|3600|h hr hrs hour hours hourly stunde stunden hora horas heure heures ora ore uur час часа часов 小时 ساعة ساعات ชั่วโมง
    day|86400|day days daily tag tage tagen täglich día días dia dias jour jours giorno giorni dag dagen день дня дней 天 يوم أيام วัน
    week|604800|week weeks weekly woche wochen wöchentlich semana semanas semaine semaines settimana settimane weken неделя недели недель 周 أسبوع أسابيع สัปดาห์
    month|2629800|month months monthly monat monate monaten monatlich mes meses mês mois mese mesi maand maanden месяц месяца месяцев 个月 شهر أشهر เดือน
    year|31557600|year years yearly annually annual jahr jahre jahren jährlich año años anual ano anos an ans année années anno anni jaar jaren год года лет году 年 سنة سنوات عام عاما عامًا ปี
    decade|315576000|decade decades jahrzehnt jahrzehnte jahrzehnten década décadas décennie décennies decennio десятилетие десятилетий عقد عقود
    century|3155760000|century centuries jahrhundert jahrhunderte jahrhunderten siglo siglos siècle siècles secolo secoli século séculos век века веков 世纪`,
  length: `nanometre|1e-9|nm nanometer nanometre nanometers nanometres 纳米
    micrometre|1e-6|µm μm micrometer micrometre
    millimetre|1e-3|mm millimeter millimetre millimeters millimetres milímetros миллиметров 毫米
    centimetre|1e-2|cm centimeter centimetre centimeters centimetres zentimeter centímetros сантиметров 厘米
    metre|1|m meter metre meters metres metern metro metros mètre mètres metri метр метра метров 米 متر เมตร
    kilometre|1000|km kilometer kilometre kilometers kilometres kilometern kilómetro kilómetros quilômetros kilomètre kilomètres chilometri километр километра километров 公里 كيلومتر กิโลเมตร
    inch|0.0254|in. inch inches zoll pulgada pulgadas pouce pouces 英寸
    foot|0.3048|ft foot feet fuß pie pies pied pieds 英尺
    mile|1609.344|mi mile miles meile meilen milla millas mille миль 英里`,
  mass: `milligram|1e-6|mg milligram milligrams milligramm
    gram|1e-3|g gram grams gramm gramo gramos gramme grammes grammi грамм 克
    kilogram|1|kg kilo kilos kilogram kilograms kilogramm kilogramo kilogramos kilogramme kilogrammes килограмм килограммов 公斤 千克
    tonne|1000|t tonne tonnes ton tons tonnen tonelada toneladas tonnellate тонн тонны 吨
    pound|0.45359237|lb lbs`,
  data: `bit|0.125|bit bits
    byte|1|=B byte bytes octets 字节
    kilobyte|1000|=kB =KB =Kb kb kilobyte kilobytes
    kibibyte|1024|kib
    megabyte|1e6|=MB mb megabyte megabytes
    mebibyte|1048576|mib
    gigabyte|1e9|=GB gb gigabyte gigabytes
    gibibyte|1073741824|gib
    terabyte|1e12|=TB tb terabyte terabytes`,
  percent: 'percent|1|% ％ percent prozent процент процента процентов بالمئة بالمائة เปอร์เซ็นต์',
  times: 'times|1|× times fold mal veces fois volte раз',
  temperature: `celsius|1|°c celsius
    fahrenheit|0.5556|°f fahrenheit
    kelvin|1|kelvin`,
  frequency: 'hertz|1|hz hertz\n kilohertz|1e3|khz\n megahertz|1e6|mhz\n gigahertz|1e9|ghz',
  power:
    'watt|1|w watt watts\n kilowatt|1e3|kw kilowatt kilowatts\n megawatt|1e6|mw megawatt megawatts\n gigawatt|1e9|gw gigawatt',
  volume: `millilitre|1e-3|ml millilitre milliliter millilitres milliliters
    litre|1|l litre liter litres liters litern litro litros 升 литров`,
  money: `dollar|1|$ usd dollar dollars dólares dólar долларов 美元
    euro|2|€ eur euro euros евро 欧元
    pound sterling|3|£ gbp pound pounds pfund libras 英镑
    yen|4|¥ jpy yen 日元`,
}

let byName: Map<string, Unit> | undefined

function names(): Map<string, Unit> {
  const found = new Map<string, Unit>()
  for (const [family, lines] of Object.entries(UNITS)) {
    for (const line of lines.split('\n')) {
      const [name = '', factor = '1', forms = ''] = line.trim().split('|')
      for (const form of forms.split(' ')) found.set(form.replace(/^=/, ''), { name, family, factor: Number(factor) })
    }
  }
  return found
}

/** Returns the unit with this name, as written or in lower case. */
export function unitNamed(word: string): Unit | undefined {
  byName ??= names()
  return byName.get(word) ?? byName.get(word.toLowerCase())
}

/** Returns the unit written directly after digits in scripts without spaces; the longest matching name. */
export function unitAt(text: string, at: number): { readonly unit: Unit; readonly length: number } | undefined {
  for (let length = 8; length > 0; length--) {
    const name = text.slice(at, at + length)
    const unit = name.length === length ? unitNamed(name) : undefined
    if (unit !== undefined) return { unit, length }
  }
  return undefined
}
