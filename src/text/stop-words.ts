/**
 * Words that say nothing about what a text is about: neither indexed nor searched.
 *
 * English function words, auxiliaries and the words that questions are made of. Other languages need no list: inverse document frequency
 * takes the weight from their function words, and a wrong guess at the language would cost more than it gains.
 */
const WORDS = `
  a an the this that these those such same own other another each every any some all both few more most many much no nor not none
  only very too so also just then than once again further now here there
  i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
  it its itself they them their theirs themselves who whom whose which what when where why how
  am is are was were be been being do does did doing done have has had having
  can could may might must shall should will would cannot ought
  isn aren wasn weren don doesn didn haven hasn hadn couldn mightn mustn shan shouldn won wouldn
  and or but if because as until while of at by for with about against between into through during before after above below
  to from up down in out on off over under upon within without among toward towards per via
  s t ll re ve
`

/** The last line is what tokenised texts leave of `it's` and `don't`. Other single letters stay: `vitamin D`, `R`. */
const STOP_WORDS: ReadonlySet<string> = new Set(WORDS.trim().split(/\s+/))

/** Whether a folded, unstemmed word is left out. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word)
}
