/**
 * Words that questions and texts use for the same thing: the relations people ask about (who wrote, when did it open, what does it
 * consist of), and a few everyday words against their written counterparts. General English, deliberately small; other languages
 * match by the words themselves.
 */

import { stem } from './stem.ts'

const GROUPS = `
sing song singer record perform vocal sung
play portray star role cast actor actress character appear voice
movie film
film shoot
write author writer pen novelist
compose composer music
make create produce build construct design
found establish create start form
start begin launch open origin
end finish close conclude last final
release publish premiere air issue debut come
locate situate lie base
defeat beat win lose victory overcome
die death kill
birth born bear
call name known term refer title
invent discover develop devise
cause reason result lead due
big large great
small little
old age
buy purchase acquire
happen occur place
live reside inhabit home resident
marry wife husband spouse marriage
show display exhibit
need require necessary
help assist aid support
stop halt prevent cease
get receive obtain gain
lead head leader chief
move migrate relocate transfer
country nation state
job work occupation profession
child son daughter kid
mother mom mum
father dad
usa us america american
uk britain british kingdom
money gross earn revenue cost price worth
remove suspend expel exclude
precede before prior
teach teacher instruct educate
fight battle war combat
attack invade assault raid
rule govern reign control
allow permit enable
use employ utilize
change alter convert transform
think believe consider
say state claim declare announce
choose select elect appoint
give donate provide grant award
eat food diet consume
contain include consist comprise
increase grow rise expand
decrease reduce decline lower shrink
separate divide split
join unite enter member
leave depart exit
travel journey tour visit
carry transport
destroy ruin demolish
protect defend guard
rich wealth
poor poverty
fast quick rapid speed
important significant main major key
famous notable renowned
illness disease sickness
doctor physician
lawyer attorney
car automobile vehicle
plane aircraft
ship boat vessel
law act legislation
school university college
king monarch ruler
own owner belong
replace succeed successor
previous former predecessor
mean define definition
part portion section component
amount number quantity total
fix repair restore
steal rob theft
cloth clothes clothing wear dress costume outfit
picture image photo photograph painting
trade commerce
rain precipitation
area region territory
border boundary
speak language talk
study research
prize award
team club
match game
max maximum
min minimum
config configuration configure setting
auth authentication authenticate
env environment
repo repository
dir directory folder
app application
doc documentation
param parameter argument
id identifier
info information
`

/** By stem, the stems that may stand for it. */
export function readSynonyms(): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>()
  for (const line of GROUPS.trim().split('\n')) {
    const stems = line.split(' ').map(stem)
    for (const one of stems) found.set(one, new Set([...(found.get(one) ?? []), ...stems]))
  }
  return found
}
