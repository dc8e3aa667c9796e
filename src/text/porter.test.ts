import { expect, test } from 'vitest'
import { porterStem } from './porter.ts'

/** Words with their stems. */
const STEMS = `
  caresses:caress ponies:poni cats:cat agreed:agre plastered:plaster motoring:motor sing:sing
  conflated:conflat troubling:troubl hopping:hop falling:fall filing:file happy:happi sky:sky relational:relat
  vietnamization:vietnam hopefulness:hope triplicate:triplic electrical:electr adjustment:adjust
  adoption:adopt probate:probat rate:rate controlling:control yes:ye μήλα:μήλα x86:x86 is:is`

test.each(Array.from(STEMS.matchAll(/(\S+):(\S+)/g), ([, word = '', stem = '']) => [word, stem] as const))(
  '%s is stemmed to %s',
  (word, stem) => {
    expect(porterStem(word)).toBe(stem)
  },
)
