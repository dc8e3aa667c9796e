/** Questions to small tables, as files of separated values and in Markdown: the cell that is asked for, or a refusal. */

import { expect, test } from 'vitest'
import { MemoryDocumentStore, QueryBot } from '../../src/index.ts'

async function ask(source: string, text: string, question: string): Promise<string> {
  const store = new MemoryDocumentStore()
  await store.extend([{ source, text, format: source.endsWith('.md') ? 'markdown' : 'csv' }])
  const bot = new QueryBot({ docstore: store, model: 'builtin/extractive', recorder: false, streamTarget: 'none' })
  const { abstained, content } = await bot.ask(question)
  return abstained ? REFUSED : content.replaceAll(/\s\[\d\]/g, '').replaceAll('\n\n', ' / ')
}

const REFUSED = 'refused'

const QUARTERS = 'region,q1,q2,q3\nNorth,10,12,15\nSouth,14,22,37\nEast,9,8,11\n'
const HOSTS = 'host,ipv4,cpu_cores,memory_gb\nalder,10.0.0.4,8,32\nbirch,10.0.0.7,16,64\n'
const FLOORS =
  'store_id,city,manager,opened,floor_area_m2,employees\nS01,Lund,Ada Prior,2016-05-02,210,9\nS02,Malmo,Bo Hark,2018-09-14,145,6\nS03,Ystad,Cy Dahl,2020-02-29,180,7\n'
const YEARS = 'city,2021,2022\nOslo,140,155\nBergen,80,95\n'
const MODELS = 'Model,CO2,utf8\nLark,120,yes\nSwift,95,no\n'

test.each([
  ['What is the q2 figure of the South?', QUARTERS, '22'],
  ['What is the q3 figure of the North?', QUARTERS, '15'],
  ['What is the q4 figure of the South?', QUARTERS, REFUSED],
  ['What is the q2 figure of the West?', QUARTERS, REFUSED],
  ['How many cpu cores does birch have?', HOSTS, '16'],
  ['What is the ipv4 address of alder?', HOSTS, '10.0.0.4'],
  ['What is the ipv6 address of alder?', HOSTS, REFUSED],
  ['How many employees does S02 have?', FLOORS, '6'],
  ['How many employees does the Malmo store have?', FLOORS, '6'],
  ['How many employees does the Berlin store have?', FLOORS, REFUSED],
  ['Who is the manager of S03?', FLOORS, 'Cy Dahl'],
  ['Who is the manager of S04?', FLOORS, REFUSED],
  ['Who manages the store in Ystad?', FLOORS, 'Cy Dahl'],
  ['Who manages the store in Paris?', FLOORS, REFUSED],
  ['What is the floor area of the Lund store?', FLOORS, '210'],
  ['What was the value of Oslo in 2022?', YEARS, '155'],
  ['How many visitors did Bergen have in 2021?', YEARS, '80'],
  ['What was the value of Oslo in 2023?', YEARS, REFUSED],
  ['What is the CO2 of the Swift?', MODELS, '95'],
])('QRY-RAG-022 names of columns may hold digits: %j', async (question, text, expected) => {
  expect(await ask('table.csv', text, question)).toBe(expected)
})

const PRICES = 'Produkt;Preis;Gewicht\nZange;8,50;0,4\nHammer;12,90;0,8\n'
const STOCK = '"Produkt";"Preis in EUR";"Lager"\n"Zange, klein";8,50;"A 1"\nHammer;12,90;B2\nSäge;19,00;\n'
const NOTES = 'id,name,note\n1,Lark,"Small, light; sings."\n2,Swift,Never lands.\n\n3,Gull\n'

test.each([
  ['Was ist der Preis der Zange?', PRICES, '8,50'],
  ['Was kostet der Hammer?', PRICES, '12,90'],
  ['Was ist das Gewicht der Zange?', PRICES, '0,4'],
  ['Was ist der Preis der Feile?', PRICES, REFUSED],
  ['Was ist der Preis der Zange?', STOCK, '8,50'],
  ['Was ist der Preis der Säge?', STOCK, '19,00'],
  ['Was ist das Lager der Säge?', STOCK, REFUSED],
  ['What is the note of the Lark?', NOTES, 'Small, light; sings.'],
  ['What is the note of the Swift?', NOTES, 'Never lands.'],
])('QRY-RAG-022 what parts the cells is what parts every row alike: %j', async (question, text, expected) => {
  expect(await ask('table.csv', text, question)).toBe(expected)
})

const MARKED = '\uFEFFregion;q1;q2\r\nNord;1,5;2,5\r\nSüd;3,5;4,5\r\n'
const EXPORTED = 'sep=;\nregion;q1;q2\nNord;1,5;2,5\nSüd;3,5;4,5\n'
const TITLED = 'Stock of May 2024,,\n\nitem,qty,price_eur\nlamp,4,19.90\nchair,2,49.00\n'
const PIPED = 'host|cpu2|mem\nalder|8|32\nbirch|16|64\n'

test.each([
  ['Was ist q2 von Süd?', MARKED, '4,5'],
  ['Was ist q3 von Süd?', MARKED, REFUSED],
  ['What is the q2 of Nord?', EXPORTED, '2,5'],
  ['What is the price of the lamp?', TITLED, '19.90'],
  ['What is the price of the table?', TITLED, REFUSED],
  ['What is the cpu2 of birch?', PIPED, '16'],
])('QRY-RAG-022 what programs write around a table is not part of it: %j', async (question, text, expected) => {
  expect(await ask('table.csv', text, question)).toBe(expected)
})

const GATES = 'flight,from,to,gate\nBA12,London,Rome,A4\nLH7,Munich,Oslo,B2\nAF90,Paris,Lima,C11\n'
const PARTS = 'item;qty;unit_price\nBolt M8;200;0,12\nBolt M10;150;0,18\nNut M8;300;0,05\n'

test.each([
  ['Which gate has the flight to Lima?', GATES, 'C11'],
  ['What is the gate of LH7?', GATES, 'B2'],
  ['Where does LH7 go to?', GATES, 'Oslo'],
  ['Where does LH7 come from?', GATES, 'Munich'],
  ['What is the gate of LH8?', GATES, REFUSED],
  ['How many Nut M8 are there?', PARTS, '300'],
  ['What is the unit price of Bolt M10?', PARTS, '0,18'],
  ['What is the unit price of Bolt M12?', PARTS, REFUSED],
])('QRY-RAG-022 of several columns the one that is asked for is quoted: %j', async (question, text, expected) => {
  expect(await ask('table.csv', text, question)).toBe(expected)
})

const TICKETS =
  '# Tickets\n\n| Ticket | Title | Owner |\n|---|---|---|\n| PAY-101 | Refund twice | Ines Roy |\n| PAY-102 | Slow export | Tom Vey |\n| PAY-103 | Wrong total | Uma Lind |\n'
const LIMITS =
  '# Travel\n\n| City | Hotel limit | Meals |\n|---|---|---|\n| London | £160 | £40 |\n| Paris | £150 | £45 |\n| Berlin | £120 | £35 |\n'
const PLANETS = 'planet,discoverer,diameter_km\nMars,,6779\nUranus,William Herschel,50724\nNeptune,Johann Galle,49244\n'
const MOONS = '| Moon | Found by | Year |\n|---|---|---|\n| Titan | Huygens | 1655 |\n| Luna | | |\n| Rhea | Cassini | 1672 |\n'
const CHAIRS = 'item,price,stock\nblue chair,40,3\ngreen chair,45,0\noak table,190,2\n'

test.each([
  ['Who is the owner of PAY-102?', 'a.md', TICKETS, 'Tom Vey'],
  ['Who is the owner of PAY-104?', 'a.md', TICKETS, REFUSED],
  ['who owns pay-103', 'a.md', TICKETS, 'Uma Lind'],
  ['who owns pay-104', 'a.md', TICKETS, REFUSED],
  ['What is the title of ticket PAY-103?', 'a.md', TICKETS, 'Wrong total'],
  ['What is the hotel limit in Paris?', 'a.md', LIMITS, '£150'],
  ['What is the hotel limit in Dublin?', 'a.md', LIMITS, REFUSED],
  ['what is the hotel limit in dublin', 'a.md', LIMITS, REFUSED],
  ['What are the hotel limits?', 'a.md', LIMITS, '£160 / £150 / £120'],
  ['Who discovered Uranus?', 'a.csv', PLANETS, 'William Herschel'],
  ['Who discovered Mars?', 'a.csv', PLANETS, REFUSED],
  ['Who is the discoverer of Mars?', 'a.csv', PLANETS, REFUSED],
  ['What is the diameter of Mars?', 'a.csv', PLANETS, '6779'],
  ['Who found Rhea?', 'a.md', MOONS, 'Cassini'],
  ['Who found Luna?', 'a.md', MOONS, REFUSED],
  ['In which year was Luna found?', 'a.md', MOONS, REFUSED],
  ['What is the price of the blue chair?', 'a.csv', CHAIRS, '40'],
  ['What is the price of the red chair?', 'a.csv', CHAIRS, REFUSED],
  ['What is the price of the Oak Bench?', 'a.csv', CHAIRS, REFUSED],
])('QRY-RAG-022 a row or a cell that is not there is not answered with another: %j', async (question, source, text, expected) => {
  expect(await ask(source, text, question)).toBe(expected)
})

const ROUTES =
  '| Method | Path | Returns |\n|---|---|---|\n| GET | /users | a list of users |\n| POST | /users | the new user |\n'
const WAGES = 'id,name,salary_2023\n17,Mira Holt,51000\n18,Jon Berg,62000\n'

test.each([
  ['What does POST /users return?', 'a.md', ROUTES, 'the new user'],
  ['What does PUT /users return?', 'a.md', ROUTES, REFUSED],
  ['What was the salary of Jon Berg in 2023?', 'a.csv', WAGES, '62000'],
  ['What was the salary of Jon Berg in 2022?', 'a.csv', WAGES, REFUSED],
])('QRY-RAG-022 nor with that of another name or year: %j', async (question, source, text, expected) => {
  expect(await ask(source, text, question)).toBe(expected)
})

const BOILERS =
  '# Boilers\n\n| Property | M2 Plain | M2 Deluxe |\n|---|---|---|\n| Capacity | 1.3 litres | 1.9 litres |\n| Weight | 880 g | 1240 g |\n\nThe capacity of the M2 Deluxe was settled after long talks with cafes in Ghent, which had asked for one that serves five people.\n\nThe M2 Plain and the M2 Deluxe have the same weight of lid.\n'

test.each([
  ['What is the capacity of the M2 Deluxe?', '1.9 litres'],
  ['What is the weight of the M2 Plain?', '880 g'],
])('QRY-RAG-022 the cell that is asked for is the whole answer: %j', async (question, expected) => {
  expect(await ask('a.md', BOILERS, question)).toBe(expected)
})
