import { describe, expect, test } from 'vitest'
import type { Citation } from '../../core/citation.ts'
import type { Chunk } from '../../core/store.ts'
import { readCitations } from '../cite.ts'

function citationsOf(answer: string, text: string, above: Partial<Chunk> = {}): Citation[] {
  const chunk = { id: 'c1', text, source: 'data.txt', start: 0, end: text.length, metadata: {}, score: 1, ...above }
  return readCitations(`${answer} [1].`, [{ marker: '1', origin: 'docstore', store: 'docs', chunk }])
}

const BOATS = `# Hire boats

We let boats from April to October.

| Boat | Berths | Length | Price per week | Heated | Moored at |
|---|---|---|---|---|---|
| Heron | 2 | 7.5 m | £480 | no | Ludbury |
| Heron Plus | 4 | 9.1 m | £640 | yes | Ludbury |
| Bittern | 6 | 12 m | £1,150 | yes | Aldwick Lock |
| Grebe | 4 | 8.4 m |  | no | Crane Wharf |

The deposit is £200. Fuel is not included.`

/** What is compared stands in the columns. */
const PUMPS = `## Pumps

| Property | P1 | P1 Max |
|:--|--:|--:|
| Flow | 40 l/min | 65 l/min |
| Power | 550 W | 900 W |
| Weight | 6.2 kg | 8.8 kg |
| Thermostat | no | yes |
| Housing | brass | steel, bronze |`

const FAULTS = `| Code | Meaning | Remedy |
| --- | --- | --- |
| F1 | No flow | Open the inlet valve and wait 5 minutes |
| F2 | Bearing worn | Replace the bearing |
| F3 | Cover open | Close the cover |
| F4 | Motor too hot | Let it cool for 20 minutes |
| F11 | Fan blocked | Clean the fan |`

const ISSUES = `| Issue | Priority | Assignee | Reviewer | Blocked |
|---|---|---|---|---|
| OPS-41 | high | Priya | Jonas | no |
| OPS-42 | low | Marek | Priya | yes |
| OPS-43 | medium | Jonas | Marek | no |`

const LAKES = `name,depth_m,area_km2,surveyed_by,year
Orrin,31,4.5,,
Tarn,87,12.8,Agnes Whitlow,1897
Skelder,64,9.2,Piet Varga,1921
Mossmere,12,0.7,Agnes Whitlow,1903`

const BRANCHES = `branch_id;city;manager;opened;staff;turnover
B01;Graz;Eva Moser;2015-03-02;9;"1.200,50"
B02;Linz;Tomas Hruby;2018-09-17;6;830,00
B03;Wels;Nadja Kern;2021-02-28;14;2.410,75`

const HOSTS = `host\trole\tport\tregion\tbackup
atlas\tdatabase\t5432\tnorth\tdaily
bruno\tcache\t6379\tsouth\tweekly
cedar\tqueue\t5672\tnorth\t`

const YEARS = `Sales by region, in tonnes:

| Region | 2022 | 2023 |
|---|---|---|
| Norland | 340 | 380 |
| Sudland | 120 | 95 |`

const TWO = `### Ferries

| Route | Crossing | Fare |
|---|---|---|
| Aldwick to Holm | 35 minutes | €12 |
| Holm to Skerry | 50 minutes | €17 |

### Buses

| Line | Terminus | Fare |
|---|---|---|
| 4 | Holm | €3 |
| 9 | Skerry | €5 |

The harbour office opens at 8.`

const LIMITS = `| Class of trip | Hotel per night | Meals per day |
|---|---|---|
| Home, capital | £150 | £42 |
| Home, elsewhere | £105 | £31 |
| Abroad | £135 | £48 |`

const MUEHLEN = `| Mühle | Baujahr | Besitzer | Strom |
|---|---|---|---|
| Obermühle | 1712 | Familie Kern | nein |
| Talmühle | 1874 | Gemeinde Wels | ja |`

describe('QRY-RAG-022 what stands in a row under the names of its columns is borne out', () => {
  test.each([
    ['The Heron costs £480 per week', BOATS],
    ['The Heron Plus costs £640 a week', BOATS],
    ['The price of the Bittern is £1,150 per week', BOATS],
    ['The Bittern is 12 m long', BOATS],
    ['The Heron Plus is moored at Ludbury and has 4 berths', BOATS],
    ['The Heron is not heated', BOATS],
    ['The Bittern is heated', BOATS],
    ['The Grebe has four berths', BOATS],
    ['Moored at Aldwick Lock, the Bittern has 6 berths', BOATS],
    ['The deposit for the boats is £200', BOATS],
    ['The P1 weighs 6.2 kg', PUMPS],
    ['The P1 Max has a power of 900 W', PUMPS],
    ['The P1 Max weighs 8.8 kg and has a flow of 65 l/min', PUMPS],
    ['The P1 has no thermostat', PUMPS],
    ['The P1 Max has a thermostat', PUMPS],
    ['The housing of the P1 Max is made of steel or bronze', PUMPS],
    ['The P1 and the P1 Max weigh 6.2 kg and 8.8 kg', PUMPS],
    ['The P1 weighs 6.2 kg and the P1 Max 8.8 kg', PUMPS],
    ['F4 means that the motor is too hot, so let it cool for 20 minutes', FAULTS],
    ['F1 means that there is no flow', FAULTS],
    ['F2 means that the bearing is worn', FAULTS],
    ['If F11 is shown, clean the fan', FAULTS],
    ['OPS-42 is assigned to Marek and has low priority', ISSUES],
    ['OPS-43 is assigned to Jonas and reviewed by Marek', ISSUES],
    ['OPS-42 is blocked', ISSUES],
    ['OPS-41 is not blocked', ISSUES],
    ['OPS-41 and OPS-43 are assigned to Priya and Jonas', ISSUES],
    ['Issue 42 is assigned to Marek', ISSUES],
    ['Tarn has a depth of 87 m', LAKES],
    ['Agnes Whitlow surveyed Tarn in 1897', LAKES],
    ['Tarn and Mossmere were surveyed by Agnes Whitlow', LAKES],
    ['Tarn is 87 m deep, Skelder 64 m and Mossmere 12 m', LAKES],
    ['The depths of Tarn, Skelder and Mossmere are 87, 64 and 12 m', LAKES],
    ['Skelder has an area of 9.2 km²', LAKES],
    ['The branch in Wels opened on 28 February 2021', BRANCHES],
    ['The branch in Linz has six staff', BRANCHES],
    ['Eva Moser is the manager in Graz', BRANCHES],
    ['The turnover of the branch in Graz is 1200.50', BRANCHES],
    ['The branches are in Graz, Linz and Wels', BRANCHES],
    ['Branch B02 was opened in September 2018', BRANCHES],
    ['The host atlas is a database on port 5432', HOSTS],
    ['The backup of bruno is weekly', HOSTS],
    ['The cache bruno is in the region south and the queue cedar in the region north', HOSTS],
    ['Norland sold 380 tonnes in 2023', YEARS],
    ['Norland sold 340 tonnes in 2022 and 380 in 2023', YEARS],
    ['In 2022 Norland sold 340 tonnes and Sudland 120', YEARS],
    ['The crossing from Holm to Skerry takes 50 minutes', TWO],
    ['The bus of line 9 goes to Skerry for €5', TWO],
    ['The fare from Aldwick to Holm is €12', TWO],
    ['For trips abroad the meals limit is £48 per day', LIMITS],
    ['For trips at home outside the capital the hotel limit is £105 per night', LIMITS],
    ['In the capital a hotel may cost £150 per night', LIMITS],
    ['The limits for a hotel are £150, £105 and £135', LIMITS],
    ['Die Talmühle gehört der Gemeinde Wels', MUEHLEN],
    ['Die Obermühle hat keinen Strom', MUEHLEN],
    ['Das Baujahr der Talmühle ist 1874', MUEHLEN],
  ])('%s', (answer, text) => {
    expect(citationsOf(answer, text)).toMatchObject([{ supported: true }])
  })
})

describe('QRY-RAG-022 what is put together from two rows, or taken from another column, is flagged', () => {
  test.each([
    ['The Heron costs £640 per week', BOATS],
    ['The Heron Plus costs £480 a week', BOATS],
    ['The Heron has 4 berths', BOATS],
    ['The Bittern is 9.1 m long', BOATS],
    ['The Bittern is moored at Crane Wharf', BOATS],
    ['The Heron is heated', BOATS],
    ['The Bittern is not heated', BOATS],
    ['The Bittern has 12 berths', BOATS],
    ['The Grebe costs £200 per week', BOATS],
    ['The Petrel has 6 berths', BOATS],
    ['The P1 weighs 8.8 kg', PUMPS],
    ['The P1 Max has a power of 550 W', PUMPS],
    ['The P1 has a thermostat', PUMPS],
    ['The P1 Max has no thermostat', PUMPS],
    ['The housing of the P1 is made of steel', PUMPS],
    ['The P1 and the P1 Max weigh 8.8 kg and 6.2 kg', PUMPS],
    ['The P1 Max weighs 65 kg', PUMPS],
    ['F4 means that the cover is open', FAULTS],
    ['F3 means that the motor is too hot', FAULTS],
    ['F1 means that the fan is blocked', FAULTS],
    ['F20 means that the motor is too hot', FAULTS],
    ['If F2 is shown, clean the fan', FAULTS],
    ['F4 means that you should wait 5 minutes', FAULTS],
    ['OPS-42 is assigned to Jonas', ISSUES],
    ['OPS-42 is assigned to Priya', ISSUES],
    ['OPS-43 has high priority', ISSUES],
    ['OPS-41 is blocked', ISSUES],
    ['OPS-42 is not blocked', ISSUES],
    ['OPS-41 and OPS-42 are assigned to Priya', ISSUES],
    ['OPS-41 and OPS-43 are assigned to Jonas and Priya', ISSUES],
    ['Tarn has a depth of 64 m', LAKES],
    ['Tarn has a depth of 1897 m', LAKES],
    ['Skelder was surveyed by Agnes Whitlow', LAKES],
    ['Agnes surveyed Skelder', LAKES],
    ['Orrin was surveyed in 1921', LAKES],
    ['Tarn and Skelder were surveyed by Agnes Whitlow', LAKES],
    ['Tarn is 87 m deep, Skelder 12 m and Mossmere 64 m', LAKES],
    ['The branch in Wels opened on 28 March 2021', BRANCHES],
    ['The branch in Wels opened on 17 September 2018', BRANCHES],
    ['The branch in Linz has nine staff', BRANCHES],
    ['The branch in Linz is managed by Nadja Kern', BRANCHES],
    ['Eva Moser is the manager in Wels', BRANCHES],
    ['The host atlas listens on port 6379', HOSTS],
    ['The host cedar is a cache', HOSTS],
    ['The backup of bruno is daily', HOSTS],
    ['Norland sold 340 tonnes in 2023', YEARS],
    ['In 2022 Norland sold 120 tonnes and Sudland 340', YEARS],
    ['The crossing from Aldwick to Holm takes 50 minutes', TWO],
    ['The bus of line 4 goes to Skerry', TWO],
    ['The bus of line 9 to Skerry costs €17', TWO],
    ['For trips abroad the meals limit is £31 per day', LIMITS],
    ['For trips abroad the meals limit is £135 per day', LIMITS],
    ['In the capital a hotel may cost £105 per night', LIMITS],
    ['Die Talmühle gehört der Familie Kern', MUEHLEN],
    ['Die Talmühle hat keinen Strom', MUEHLEN],
    ['Das Baujahr der Talmühle ist 1712', MUEHLEN],
  ])('%s', (answer, text) => {
    expect(citationsOf(answer, text)).toMatchObject([{ supported: false }])
  })
})
