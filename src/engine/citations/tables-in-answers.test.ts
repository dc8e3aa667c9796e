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

const wordsIn = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}.]+/gu) ?? []

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

const PLANETS = `The inner planets are small.

Table 2: Outer planets

| Planet | Mass (Earths) | Day length | Known since | Ring system |
|--------|---------------|------------|-------------|-------------|
| Jupiter | 318 | 9.9 h | antiquity | yes |
| Saturn | 95 | 10.7 h | antiquity | yes |
| Uranus | 14.5 | 17.2 h | 1781 | yes |
| Ceres | 0.0002 | 9.1 h | 1801 | no |

Pluto was demoted in 2006.`

const STAFF = `Name,Department,Extension,Start date,Office,Email
Laura Finch,Finance,2201,2014-01-06,B12,laura@ex.example
Oscar Brand,Sales,2215,2019-11-18,B14,oscar@ex.example
Mei Tanaka,Research,2230,2022-04-01,C03,mei@ex.example
Paul Finch,Sales,2216,2020-07-13,B14,paul@ex.example`

const PLANS = `| Feature | Free | Team | Enterprise |
|---|---|---|---|
| Users | 1 | 25 | unlimited |
| Storage | 2 GB | 100 GB | 1 TB |
| Price per month | $0 | $49 | $399 |
| SSO | ✗ | ✗ | ✓ |
| Support | community | email | phone, email |
| Audit log | no | yes | yes |`

const API = `## HTTP status codes

| Status | Name | When it is returned |
|---|---|---|
| 200 | OK | The request was served |
| 401 | Unauthorized | The token is missing or has expired |
| 404 | Not found | There is no document with this id |
| 429 | Too many requests | The client sent more than 60 requests in a minute |
| 503 | Unavailable | The index is being rebuilt |`

const OPTS = `| Option | Default | Meaning |
|---|---|---|
| \`--port\` | 8080 | Port the server listens on |
| \`--timeout\` | 30 | Seconds until a request is given up |
| \`--workers\` | 4 | Number of worker threads |
| \`--verbose\` | false | Print every request |`

const TRAINS = `Zug;Abfahrt;Ziel;Gleis;Dauer
RE 7;08:15;Bamberg;4;52 min
RE 9;08:40;Ansbach;2;41 min
ICE 23;09:05;Passau;6;128 min`

const VINS = `| Vin | Région | Prix | Millésime |
|---|---|---|---|
| Clos Mariette | Jura | 18 € | 2019 |
| Tour Blanche | Loire | 24 € | 2016 |
| Mas Perdu | Languedoc | 11 € | 2021 |`

const MED = `| Drug | Dose (mg) | Times a day | With food |
|---|---|---|---|
| Amidol | 50 | 2 | yes |
| Bexarin | 200 | 1 | no |
| Corvatil | 75 | 3 | yes |`

const ZH = `| 城市 | 人口 | 市长 |
|---|---|---|
| 东港 | 120万 | 李明华 |
| 西山 | 85万 | 王小雨 |`

const INV = `sku,item,qty,unit_price,supplier
A-100,Bolt M6,2500,0.12,Nordfix
A-101,Bolt M8,1800,0.18,Nordfix
B-200,Washer,9000,0.02,Hexa
C-300,"Bracket, large",75,4.95,Orbis`

const ROOMS = `# Guest house

Breakfast is served from 7 to 10. Dogs are welcome in the garden rooms.

## Rooms

| No. | Room | Beds | Floor | Sea view | Price (per night) |
|---|---|---|---|---|---|
| 1 | Lark | 2 | ground | no | 85 € |
| 2 | Wren | 1 | first | yes | 70 € |
| 3 | Kestrel | 3 | second | yes | 120 € |

The cottage costs 140 € and sleeps five.`

const COURSE = `Code,Course,Lecturer,Credits,Weekday,Room
MA101,Algebra,Dr Hale,6,Monday,H1
MA102,Analysis,Dr Osei,8,Tuesday,H2
PH201,Optics,Prof Lind,5,Monday,L4
CS110,Programming,Dr Hale,7,Friday,P3`

const RELEASES = `| Release | Date | Node | Notes |
|---|---|---|---|
| 1.0 | 2021-03-15 | 14 | First stable release |
| 1.1 | 2021-09-02 | 14 | Adds streaming |
| 2.0 | 2022-05-20 | 16 | Drops the callback API |
| 2.1 | 2023-01-11 | 18 | Adds retries and time-outs |`

const CLIMATE = `| Month | Rain (mm) | Mean temperature (°C) | Sunny days |
|---|---|---|---|
| January | 62 | -3.1 | 8 |
| April | 48 | 9.4 | 14 |
| July | 91 | 19.8 | 17 |
| October | 55 | 10.2 | 11 |`

const COMP = `| | Walnut desk | Oak desk | Pine desk |
|---|---|---|---|
| Width | 160 cm | 140 cm | 120 cm |
| Drawers | 4 | 3 | 0 |
| Assembled | yes | yes | no |
| Guarantee | 10 years | 5 years | 2 years |
| Price | €890 | €540 | €190 |`

const ACCT = `Konto;Inhaber;Saldo;Währung;Status
DE-1001;Ute Brandt;2.350,00;EUR;aktiv
DE-1002;Karl Imhof;-120,50;EUR;gesperrt
CH-2001;Lea Zumstein;9.800,00;CHF;aktiv`

const TSV = `Player\tTeam\tGoals\tAssists\tCards
Ana Reyes\tFalcons\t14\t6\t2
Bo Lindgren\tHerons\t9\t11\t0
Cai Wu\tFalcons\t3\t8\t5`

const LONG = `| Policy | Applies to | Limit |
|---|---|---|
| Gifts | All staff, including contractors | Gifts above $75 must be declared to the compliance officer within five days |
| Travel | Managers and directors | Business class may be booked for flights longer than six hours |
| Phones | Field engineers | The monthly bill is paid up to $40 |`

const SHOP = `## Opening hours

Our shops are closed on public holidays.

| Shop | Mon–Fri | Saturday | Sunday | Phone |
|---|---|---|---|---|
| Harbour | 9:00–18:00 | 10:00–16:00 | closed | 0114 555 210 |
| Station | 7:00–21:00 | 8:00–20:00 | 10:00–18:00 | 0114 555 220 |
| Market | 8:30–17:30 | 8:30–14:00 | closed | – |`

const PERF = `| Model | Params | Context | MMLU | Licence |
|:------|-------:|--------:|-----:|---------|
| Alder-S | 3B | 8k | 61.2 | Apache-2.0 |
| Alder-L | 70B | 32k | 79.8 | Apache-2.0 |
| Birch | 13B | 16k | 68.0 | MIT |`

const NUTRITION = `| Per 100 g | Oat drink | Soy drink | Rice drink |
|---|---|---|---|
| Energy | 190 kJ | 165 kJ | 210 kJ |
| Protein | 0.8 g | 3.3 g | 0.3 g |
| Sugar | 3.4 g | 2.5 g | 5.3 g |
| Contains gluten | yes | no | no |`

const EMP = `employee_id,first_name,last_name,role,salary,remote,manager_id
1001,Ines,Falk,Engineer,64000,true,1003
1002,Ravi,Menon,Designer,58000,false,1003
1003,Greta,Holm,Director,97000,true,`

const ENV = `| Variable | Required | Default | Description |
|---|---|---|---|
| \`APP_PORT\` | no | 3000 | Port of the HTTP server |
| \`APP_SECRET\` | yes | | Key that signs the sessions |
| \`APP_LOG\` | no | info | Level of the log: debug, info or error |`

const HIST = `Kings of Varland:

| Name | Born | Reign | Spouse |
|---|---|---|---|
| Otto I | 1402 | 1425–1451 | Anna of Brehm |
| Otto II | 1430 | 1451–1479 | Clara of Thule |
| Rurik | 1455 | 1479–1502 | none |`

const FLEET = `# Vehicle fleet

All vehicles are serviced every year. The diesel van is being sold.

| Plate | Vehicle | Driver | Mileage (km) | Next service | Fuel |
|---|---|---|---|---|---|
| AB-341 | Transit van | Jo Petty | 84,200 | 2025-03-01 | diesel |
| AB-352 | City car | Kim Abara | 12,750 | 2025-07-15 | electric |
| CD-118 | Pickup | Jo Petty | 131,900 | 2025-01-20 | petrol |`

const TRIAL = `arm,participants,dropouts,mean_age,responders_percent
placebo,120,14,54.2,22
low dose,118,9,53.7,41
high dose,121,21,55.0,58`

const VISA = `| Nationality | Visa needed | Longest stay | Fee |
|---|---|---|---|
| Canada | no | 90 days | none |
| Brazil | yes | 60 days | $35 |
| Japan | no | 180 days | none |
| Kenya | yes | 30 days | $50 |`

const MOUNT = `| Mountain | Height | First ascent | Country |
|---|---|---|---|
| Karn Peak | 4,810 m | 1858, by Ulla Berg and Tom Rask | Norland |
| Mount Silva | 6,035 m | 1911, by Pedro Alva | Sudland |
| Torre Fina | 3,128 m | unclimbed | Sudland |`

const PROTO = `| Field | Type | Required | Since |
|---|---|---|---|
| id | string | yes | 1.0 |
| amount | integer | yes | 1.0 |
| note | string | no | 1.4 |
| tags | list of strings | no | 2.1 |`

const WAGE = `Tarifgruppe;Stundenlohn;Zuschlag nachts;Urlaubstage
E1;14,20 €;20 %;26
E2;16,85 €;25 %;28
E3;19,40 €;25 %;30`

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
    ['Saturn has a mass of 95 Earths', PLANETS],
    ['A day on Uranus lasts 17.2 hours', PLANETS],
    ['Uranus has been known since 1781', PLANETS],
    ['Ceres has no ring system', PLANETS],
    ['Jupiter and Saturn have been known since antiquity', PLANETS],
    ['Pluto was demoted in 2006', PLANETS],
    ['Jupiter is 318 times as heavy as Earth', PLANETS],
    ['Ceres was discovered in 1801', PLANETS],
    ['Jupiter has the shortest day but one, 9.9 h', PLANETS],
    ['Laura Finch works in Finance, extension 2201', STAFF],
    ['Mei Tanaka started on 1 April 2022', STAFF],
    ['Oscar Brand sits in office B14', STAFF],
    ['You can reach Paul Finch at extension 2216', STAFF],
    ['Oscar Brand and Paul Finch share office B14', STAFF],
    ['Mei Tanaka is in the Research department', STAFF],
    ['Paul Finch joined in July 2020', STAFF],
    ['The Team plan costs $49 per month', PLANS],
    ['The Enterprise plan includes SSO', PLANS],
    ['The Team plan has 100 GB of storage and 25 users', PLANS],
    ['The Free plan does not include SSO', PLANS],
    ['Enterprise customers get support by phone and email', PLANS],
    ['The Free plan has 2 GB of storage, the Team plan 100 GB and the Enterprise plan 1 TB', PLANS],
    ['Free comes with 2 GB and Team with 100 GB', PLANS],
    ['The Team plan has an audit log', PLANS],
    ['Status 404 means that there is no document with this id', API],
    ['A 429 is returned when the client sends more than 60 requests in a minute', API],
    ['503 means the index is being rebuilt', API],
    ['If the token has expired, the server returns 401', API],
    ['The default of `--timeout` is 30 seconds', OPTS],
    ['The server listens on port 8080 by default', OPTS],
    ['By default there are 4 worker threads', OPTS],
    ['--verbose prints every request', OPTS],
    ['A request is given up after 30 seconds', OPTS],
    ['Der RE 9 fährt um 08:40 nach Ansbach', TRAINS],
    ['Der ICE 23 nach Passau fährt von Gleis 6', TRAINS],
    ['Die Fahrt nach Bamberg dauert 52 min', TRAINS],
    ['Le prix du Tour Blanche est de 24 €', VINS],
    ['Le Mas Perdu est un vin du Languedoc', VINS],
    ['Le Clos Mariette coûte 18 € et le Mas Perdu 11 €', VINS],
    ['Bexarin is given once a day in a dose of 200 mg', MED],
    ['Amidol is taken with food', MED],
    ['Bexarin is not taken with food', MED],
    ['Corvatil is taken three times a day', MED],
    ['东港的人口是120万', ZH],
    ['西山的市长是王小雨', ZH],
    ['The bracket C-300 costs 4.95', INV],
    ['There are 2500 M6 bolts in stock', INV],
    ['Washers are supplied by Hexa', INV],
    ['A-101 is supplied by Nordfix at a unit price of 0.18', INV],
    ['The unit price of the M8 bolt is 0.18', INV],
    ['The Lark room is on the ground floor and costs 85 € per night', ROOMS],
    ['Wren has a sea view', ROOMS],
    ['Lark has no sea view', ROOMS],
    ['Kestrel has three beds', ROOMS],
    ['Room 2 is called Wren', ROOMS],
    ['The cottage costs 140 € and sleeps five', ROOMS],
    ['Kestrel, on the second floor, costs 120 € per night', ROOMS],
    ['Breakfast is served from 7 to 10', ROOMS],
    ['Dr Hale teaches Algebra and Programming', COURSE],
    ['Optics is taught by Prof Lind on Mondays in room L4', COURSE],
    ['MA102 is worth 8 credits', COURSE],
    ['Analysis is held on Tuesday', COURSE],
    ['Algebra and Optics are held on Monday', COURSE],
    ['Algebra is worth 6 credits and Optics 5', COURSE],
    ['Version 2.0 drops the callback API', RELEASES],
    ['Release 1.1 added streaming on 2 September 2021', RELEASES],
    ['Release 2.1 requires Node 18', RELEASES],
    ['Releases 1.0 and 1.1 run on Node 14', RELEASES],
    ['Retries and time-outs came with 2.1 in January 2023', RELEASES],
    ['In July it rains 91 mm', CLIMATE],
    ['The mean temperature in January is -3.1 °C', CLIMATE],
    ['April has 14 sunny days and October 11', CLIMATE],
    ['July is the wettest month with 91 mm of rain', CLIMATE],
    ['The oak desk is 140 cm wide and costs €540', COMP],
    ['The walnut desk has four drawers', COMP],
    ['The pine desk is not assembled', COMP],
    ['The guarantee of the walnut desk is 10 years', COMP],
    ['The oak desk comes assembled', COMP],
    ['The walnut desk costs €890, the oak desk €540 and the pine desk €190', COMP],
    ['Das Konto DE-1001 gehört Ute Brandt', ACCT],
    ['Der Saldo von CH-2001 beträgt 9.800,00 CHF', ACCT],
    ['Das Konto von Karl Imhof ist gesperrt', ACCT],
    ['Ana Reyes scored 14 goals for the Falcons', TSV],
    ['Bo Lindgren has 11 assists', TSV],
    ['Ana Reyes and Cai Wu play for the Falcons', TSV],
    ['Ana Reyes has 14 goals and 6 assists', TSV],
    ['Cai Wu got five cards', TSV],
    ['Gifts above $75 must be declared within five days', LONG],
    ['Managers may book business class for flights longer than six hours', LONG],
    ['The phone bill of field engineers is paid up to $40 a month', LONG],
    ['The Station shop is open on Sunday from 10:00 to 18:00', SHOP],
    ['On Saturday the Market shop closes at 14:00', SHOP],
    ['The Harbour shop is closed on Sundays', SHOP],
    ['The phone number of the Harbour shop is 0114 555 210', SHOP],
    ['The shops are closed on public holidays', SHOP],
    ['Alder-L has 70B parameters and a context of 32k', PERF],
    ['Birch reaches 68.0 on MMLU', PERF],
    ['Birch is released under the MIT licence', PERF],
    ['Alder-S and Alder-L are licensed under Apache-2.0', PERF],
    ['Alder-L scores 79.8 on MMLU, Birch 68.0', PERF],
    ['Birch has 13 billion parameters', PERF],
    ['The soy drink has 3.3 g of protein per 100 g', NUTRITION],
    ['The oat drink contains gluten', NUTRITION],
    ['The rice drink does not contain gluten', NUTRITION],
    ['The rice drink contains 5.3 g of sugar and 210 kJ of energy', NUTRITION],
    ['Rice drink has the most sugar, 5.3 g per 100 g', NUTRITION],
    ['Ravi Menon is a designer with a salary of 58,000', EMP],
    ['Ines Falk works remotely', EMP],
    ['Ravi Menon does not work remotely', EMP],
    ['The director is Greta Holm', EMP],
    ['Greta Holm earns 97000', EMP],
    ['Employee 1002 is Ravi Menon', EMP],
    ['`APP_SECRET` is required', ENV],
    ['`APP_PORT` defaults to 3000', ENV],
    ['APP_LOG sets the level of the log and is not required', ENV],
    ['The sessions are signed with the key in APP_SECRET', ENV],
    ['Otto II reigned from 1451 to 1479', HIST],
    ['Otto I was born in 1402', HIST],
    ['Clara of Thule was the spouse of Otto II', HIST],
    ['Rurik had no spouse', HIST],
    ['Otto I married Anna of Brehm', HIST],
    ['The vehicle with the plate AB-352 is an electric city car driven by Kim Abara', FLEET],
    ['Jo Petty drives both the Transit van and the pickup', FLEET],
    ['The pickup has done 131,900 km so far', FLEET],
    ['The next service of the city car is due on 15 July 2025', FLEET],
    ['According to the fleet list, CD-118 runs on petrol', FLEET],
    ['The Transit van has a mileage of 84200 km, whereas the city car has only 12750 km', FLEET],
    ['All vehicles are serviced every year', FLEET],
    ['In the placebo arm there were 120 participants, of whom 14 dropped out', TRIAL],
    ['58 percent of the patients in the high dose arm were responders', TRIAL],
    ['The mean age in the low dose group was 53.7', TRIAL],
    ['There were 9 dropouts with the low dose and 21 with the high dose', TRIAL],
    ['Responders: 22 % with placebo, 41 % with the low dose, 58 % with the high dose', TRIAL],
    ['Citizens of Brazil need a visa, which costs $35', VISA],
    ['Visitors from Japan do not need a visa and may stay for up to 180 days', VISA],
    ['Kenyans pay a fee of $50', VISA],
    ['No visa is needed for Canada and Japan', VISA],
    ['People from Canada can stay 90 days without a visa', VISA],
    ['A visa is needed by nationals of Brazil and Kenya', VISA],
    ['Karn Peak was first climbed in 1858 by Ulla Berg and Tom Rask', MOUNT],
    ['Mount Silva, at 6,035 m, lies in Sudland', MOUNT],
    ['Torre Fina is still unclimbed', MOUNT],
    ['Pedro Alva made the first ascent of Mount Silva', MOUNT],
    ['Karn Peak (4,810 m) is in Norland and Torre Fina (3,128 m) in Sudland', MOUNT],
    ['The field `amount` is an integer and is required', PROTO],
    ['`note` is an optional string that exists since 1.4', PROTO],
    ['The field tags was added in version 2.1', PROTO],
    ['The field note is not required', PROTO],
    ['In der Tarifgruppe E2 beträgt der Stundenlohn 16,85 €', WAGE],
    ['E3 hat 30 Urlaubstage', WAGE],
    ['Der Zuschlag nachts liegt in E1 bei 20 %', WAGE],
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
    ['Saturn has a mass of 318 Earths', PLANETS],
    ['A day on Uranus lasts 10.7 hours', PLANETS],
    ['Ceres has been known since 1781', PLANETS],
    ['Ceres has a ring system', PLANETS],
    ['Ceres has been known since antiquity', PLANETS],
    ['Pluto has been known since 1801', PLANETS],
    ['Uranus and Ceres have been known since 1801', PLANETS],
    ['Laura Finch works in Sales', STAFF],
    ['Paul Finch works in Finance', STAFF],
    ['Mei Tanaka started on 6 January 2014', STAFF],
    ['Oscar Brand has the extension 2216', STAFF],
    ['Mei Tanaka sits in office B12', STAFF],
    ['Oscar Brand and Paul Finch share office C03', STAFF],
    ['Laura Finch joined in November 2019', STAFF],
    ['The Team plan costs $399 per month', PLANS],
    ['The Team plan includes SSO', PLANS],
    ['The Free plan has 25 users', PLANS],
    ['The Free plan has 100 GB of storage, the Team plan 2 GB', PLANS],
    ['Team customers get support by phone', PLANS],
    ['The Free plan has an audit log', PLANS],
    ['The Enterprise plan has 25 users', PLANS],
    ['Status 404 means that the token is missing', API],
    ['A 503 is returned when the client sends more than 60 requests in a minute', API],
    ['401 means the index is being rebuilt', API],
    ['If the token has expired, the server returns 404', API],
    ['The default of `--timeout` is 8080', OPTS],
    ['The server listens on port 30 by default', OPTS],
    ['By default there are 30 worker threads', OPTS],
    ['--workers prints every request', OPTS],
    ['Der RE 9 fährt um 08:15 nach Ansbach', TRAINS],
    ['Der RE 7 fährt nach Passau', TRAINS],
    ['Der ICE 23 nach Passau fährt von Gleis 2', TRAINS],
    ['Die Fahrt nach Bamberg dauert 41 min', TRAINS],
    ['Le prix du Tour Blanche est de 18 €', VINS],
    ['Le Mas Perdu vient de la région Loire', VINS],
    ['Le Clos Mariette coûte 11 € et le Mas Perdu 18 €', VINS],
    ['Bexarin is taken with food', MED],
    ['Amidol is taken three times a day', MED],
    ['Corvatil is given in a dose of 50 mg', MED],
    ['Amidol is taken 50 times a day', MED],
    ['东港的人口是85万', ZH],
    ['东港的市长是王小雨', ZH],
    ['The unit price of the M8 bolt is 0.12', INV],
    ['Washers are supplied by Orbis', INV],
    ['A-101 has a unit price of 0.12', INV],
    ['The quantity of M6 bolts is 1800', INV],
    ['B-200 is supplied by Nordfix', INV],
    ['The Lark room is on the first floor', ROOMS],
    ['Lark has a sea view', ROOMS],
    ['Wren has no sea view', ROOMS],
    ['Kestrel has two beds', ROOMS],
    ['Room 3 is called Wren', ROOMS],
    ['The cottage costs 120 € per night', ROOMS],
    ['Wren costs 85 € per night', ROOMS],
    ['Lark costs 140 € per night', ROOMS],
    ['Dr Hale teaches Optics', COURSE],
    ['Dr Hale teaches Algebra and Analysis', COURSE],
    ['MA102 is worth 6 credits', COURSE],
    ['Analysis is held on Friday', COURSE],
    ['Algebra is worth 5 credits and Optics 6', COURSE],
    ['CS110 is held in room H2', COURSE],
    ['Optics is taught by Dr Osei', COURSE],
    ['Version 2.1 drops the callback API', RELEASES],
    ['Release 1.1 added streaming on 15 March 2021', RELEASES],
    ['Release 2.1 requires Node 16', RELEASES],
    ['Releases 1.1 and 2.0 run on Node 14', RELEASES],
    ['Retries came with 2.0 in May 2022', RELEASES],
    ['In July it rains 62 mm', CLIMATE],
    ['The mean temperature in January is 9.4 °C', CLIMATE],
    ['April has 11 sunny days and October 14', CLIMATE],
    ['October has 14 sunny days', CLIMATE],
    ['January has 62 sunny days', CLIMATE],
    ['The oak desk is 160 cm wide', COMP],
    ['The walnut desk has three drawers', COMP],
    ['The pine desk is assembled', COMP],
    ['The guarantee of the oak desk is 10 years', COMP],
    ['The oak desk costs €190', COMP],
    ['The walnut desk costs €540, the oak desk €890 and the pine desk €190', COMP],
    ['Das Konto DE-1001 gehört Karl Imhof', ACCT],
    ['Der Saldo von CH-2001 beträgt 2.350,00 CHF', ACCT],
    ['Das Konto von Ute Brandt ist gesperrt', ACCT],
    ['Ana Reyes scored 9 goals for the Falcons', TSV],
    ['Bo Lindgren has 11 goals', TSV],
    ['Ana Reyes and Bo Lindgren play for the Falcons', TSV],
    ['Ana Reyes has 6 goals and 14 assists', TSV],
    ['Cai Wu got two cards', TSV],
    ['Bo Lindgren plays for the Falcons', TSV],
    ['Gifts above $40 must be declared within five days', LONG],
    ['Field engineers may book business class for flights longer than six hours', LONG],
    ['Gifts above $75 must be declared within six days', LONG],
    ['The Harbour shop is open on Sunday from 10:00 to 18:00', SHOP],
    ['On Saturday the Market shop closes at 16:00', SHOP],
    ['The Station shop is closed on Sundays', SHOP],
    ['The phone number of the Harbour shop is 0114 555 220', SHOP],
    ['Alder-L has 13B parameters', PERF],
    ['Birch reaches 79.8 on MMLU', PERF],
    ['Birch is released under the Apache-2.0 licence', PERF],
    ['Alder-S scores 79.8 on MMLU', PERF],
    ['Alder-L scores 68.0 on MMLU, Birch 79.8', PERF],
    ['Birch has 70 billion parameters', PERF],
    ['Alder-S has a context of 32k', PERF],
    ['The soy drink has 0.8 g of protein per 100 g', NUTRITION],
    ['The oat drink contains no gluten', NUTRITION],
    ['The rice drink contains gluten', NUTRITION],
    ['The rice drink contains 3.4 g of sugar', NUTRITION],
    ['The soy drink contains 165 g of protein', NUTRITION],
    ['Ravi Menon is an engineer', EMP],
    ['Ines Falk is the director', EMP],
    ['Ravi Menon earns 64,000', EMP],
    ['Ravi Menon works remotely', EMP],
    ['Greta Menon is the director', EMP],
    ['Employee 1002 is Ines Falk', EMP],
    ['`APP_PORT` is required', ENV],
    ['`APP_SECRET` is not required', ENV],
    ['`APP_SECRET` defaults to 3000', ENV],
    ['APP_PORT sets the level of the log', ENV],
    ['Otto II reigned from 1425 to 1451', HIST],
    ['Otto I was born in 1430', HIST],
    ['Rurik married Anna of Brehm', HIST],
    ['Rurik was born in 1479', HIST],
    ['Otto II was the spouse of Anna of Brehm', HIST],
    ['The vehicle with the plate AB-352 is driven by Jo Petty', FLEET],
    ['Kim Abara drives the pickup', FLEET],
    ['The pickup has done 84,200 km so far', FLEET],
    ['The next service of the city car is due on 1 March 2025', FLEET],
    ['CD-118 runs on diesel', FLEET],
    ['The Transit van has a mileage of 12750 km, whereas the city car has 84200 km', FLEET],
    ['The electric van is being sold', FLEET],
    ['In the placebo arm there were 14 participants', TRIAL],
    ['41 percent of the patients in the high dose arm were responders', TRIAL],
    ['The mean age in the low dose group was 55.0', TRIAL],
    ['There were 21 dropouts with the low dose and 9 with the high dose', TRIAL],
    ['Responders: 22 % with placebo, 58 % with the low dose, 41 % with the high dose', TRIAL],
    ['Citizens of Japan need a visa', VISA],
    ['Visitors from Brazil do not need a visa', VISA],
    ['Citizens of Kenya may stay for up to 60 days', VISA],
    ['No visa is needed for Canada and Kenya', VISA],
    ['The fee for Brazil is $50', VISA],
    ['People from Kenya can stay 30 days without a visa', VISA],
    ['Karn Peak was first climbed in 1911', MOUNT],
    ['Mount Silva, at 4,810 m, lies in Sudland', MOUNT],
    ['Karn Peak is still unclimbed', MOUNT],
    ['Ulla Berg made the first ascent of Mount Silva', MOUNT],
    ['Torre Fina was first climbed by Pedro Alva', MOUNT],
    ['Karn Peak lies in Sudland', MOUNT],
    ['Karn Peak (3,128 m) is in Norland and Torre Fina (4,810 m) in Sudland', MOUNT],
    ['The field `amount` is a string', PROTO],
    ['The field note is required', PROTO],
    ['The field tags was added in version 1.4', PROTO],
    ['The field id is not required', PROTO],
    ['In der Tarifgruppe E2 beträgt der Stundenlohn 14,20 €', WAGE],
    ['E3 hat 28 Urlaubstage', WAGE],
    ['Der Zuschlag nachts liegt in E1 bei 26 %', WAGE],
  ])('%s', (answer, text) => {
    const [citation] = citationsOf(answer, text)
    expect(citation).toMatchObject({ supported: false })
    // What is said not to be there is not there.
    const [, absent = ''] =
      /^(?:not in the passage: (.*)|“(.*)” is not in the passage|“(.*)” does not stand there)$/
        .exec(citation?.reason ?? '')
        ?.filter((part) => part !== undefined) ?? []
    for (const word of absent.split(', ').filter((part) => part !== '')) expect(wordsIn(text)).not.toContain(word.toLowerCase())
  })
})

describe('QRY-RAG-022 the reason says where it stands', () => {
  test.each([
    ['The Bittern costs £640 per week', BOATS, 'put together from the rows of “Heron Plus” and “Bittern”'],
    ['The Grebe costs £200 per week', BOATS, '“200” stands there, but not in the row of “Grebe”'],
    ['The Heron costs £999 per week', BOATS, '“999” is not in the passage'],
    ['The Heron costs £640 per week', BOATS, 'it stands in the row of “Heron Plus”, not of “Heron”'],
    ['The Bittern has 12 berths', BOATS, '“12” stands there under “Length”, not under “Berths”'],
    ['The Bittern is not heated', BOATS, '“yes” stands there under “Heated”'],
    ['The P1 weighs 8.8 kg', PUMPS, '“8.8” stands there under “P1 Max”, not under “P1”'],
    ['F3 means that the motor is too hot', FAULTS, 'put together from the rows of “F3” and “F4”'],
    ['OPS-42 is assigned to Jonas and has low priority', ISSUES, '“Jonas” stands there, but in the row of “OPS-41”'],
    ['The branch in Wels opened on 28 March 2021', BRANCHES, '“March” is not the month there'],
    ['The Tarn is visited by countless divers and swimmers', LAKES, 'not in the passage: visited, countless, divers, swimmers'],
  ])('%s', (answer, text, reason) => {
    expect(citationsOf(answer, text)).toMatchObject([{ supported: false, reason }])
  })
})

describe('QRY-RAG-022 a part of a table without the row that names its columns', () => {
  const markdown = '| Bittern | 6 | £1,150 |\n| Grebe | 4 | £690 |\n| Teal | 2 | £510 |'
  const separated = 'Bittern,6,1150\nGrebe,4,690\nTeal,2,510'
  const above = { headings: ['Boats', 'Boat | Berths | Price'], start: 900, end: 1000 }

  test.each([
    ['The Grebe has 4 berths and costs £690', true, markdown, above],
    ['The price of the Teal is £510', true, markdown, above],
    ['The Grebe has 6 berths', false, markdown, above],
    ['The price of the Grebe is £510', false, markdown, above],
    ['The Grebe has 690 berths', false, markdown, above],
    ['The Grebe has 4 berths', true, separated, { ...above, headings: ['Boat, Berths, Price'] }],
    ['The Grebe has 6 berths', false, separated, { ...above, headings: ['Boat, Berths, Price'] }],
    ['The Grebe costs 690', true, separated, { start: 900 }],
    ['The Grebe costs 510', false, separated, { start: 900 }],
  ])('%s', (answer, supported, text, chunk) => {
    expect(citationsOf(answer, text, chunk)).toMatchObject([{ supported }])
  })

  test('the place is the row', () => {
    expect(citationsOf('The Grebe has 4 berths', markdown)).toMatchObject([{ quote: 'Grebe | 4 | £690' }])
    expect(citationsOf('The Teal costs 510 and the Grebe 690', separated)).toMatchObject([{ quote: 'Grebe,4,690\nTeal,2,510' }])
  })
})

test('QRY-RAG-022 prose with commas, code and data that is no table is read as before', () => {
  const code = 'f(a,b)\ng(c,d)\nThe mill ground rye.\nIt ground barley.'
  expect(citationsOf('It ground rye and barley', code)).toMatchObject([{ supported: true }])
  const lines = 'The mill ground rye,\nbarley and oats.\nIt stood in Ludbury,\nbeside the lock.'
  expect(citationsOf('The mill in Ludbury ground barley', lines)).toMatchObject([{ supported: true }])
})
