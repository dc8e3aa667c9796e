/** Documents in several domains and languages, written for the tests of citations; nothing in them is true. */

export interface TestDocument {
  readonly source: string
  readonly language: 'en' | 'de' | 'fr' | 'es' | 'zh' | 'code'
  /** Neighbouring passages, each a list of sentences. */
  readonly passages: readonly (readonly string[])[]
  /** Own words for a passage, which it bears out. */
  readonly paraphrases: readonly (readonly [passage: number, text: string])[]
  /** Own words about the same matter that nothing bears out. */
  readonly inventions: readonly string[]
}

/** Those that the checker was tried on while it was written. */
export const TRIED: readonly TestDocument[] = [
  {
    source: 'mill.md',
    language: 'en',
    passages: [
      [
        'The Harrow mill was built in 1874 by Ida Marsh, who had sold two barges to pay for it.',
        'It ground rye and barley for three villages until the flood of March 1902 took its wheel.',
        'The new wheel, cast in Ludbury, weighed 4.5 tonnes and did not fit the old axle.',
        'Her son Peter never repaired the western sluice.',
      ],
      [
        'In 1911 the parish council bought the building for 320 pounds and stored road salt in it.',
        'No grain was milled there after the war.',
        'A fire destroyed the upper floor on 9 June 1938, but the cellar with its stone vaults survived.',
        'Since 1987 a small museum has shown tools, sacks and the account books of the Marsh family.',
      ],
    ],
    paraphrases: [
      [0, 'Ida Marsh had the Harrow mill built in 1874, after selling two barges.'],
      [0, 'The wheel was lost in the flood of March 1902.'],
      [0, 'The wheel cast in Ludbury did not fit the axle.'],
      [1, 'The parish council paid 320 pounds for the building in 1911.'],
      [1, 'The upper floor was destroyed by a fire in June 1938.'],
    ],
    inventions: [
      'Tourists may rent the attic for weddings during the summer season.',
      'The miller kept eleven goats beside the weir and sold their cheese at markets.',
    ],
  },
  {
    source: 'pump-manual.md',
    language: 'en',
    passages: [
      [
        'The P-7 pump starts automatically when the tank level falls below 35 percent.',
        'Do not open the bleed valve while the motor is running.',
        'Replace the inlet filter every 250 hours, or sooner if the pressure drops by more than 0.8 bar.',
        'The red lamp means that the dry-run protection has stopped the motor.',
        'To reset it, hold the green button for 6 seconds.',
      ],
      [
        'The housing is made of ductile iron and must not be painted.',
        'Lubricate both bearings with lithium grease before the first winter.',
        'The maximum operating temperature is 85 °C; the alarm is raised at 78 °C.',
        'Spare gaskets are sold in sets of twelve under order number KD-4410.',
      ],
    ],
    paraphrases: [
      [0, 'When the level in the tank falls below 35 percent, the pump starts automatically.'],
      [0, 'The inlet filter has to be replaced every 250 hours.'],
      [0, 'Holding the green button for six seconds resets it.'],
      [1, 'Both bearings should be lubricated with lithium grease before the first winter.'],
      [1, 'At 78 °C an alarm is raised; the maximum operating temperature is 85 °C.'],
    ],
    inventions: [
      'The warranty covers accidental damage by hail for seven years.',
      'A Bluetooth module sends hourly consumption figures to the supplier.',
    ],
  },
  {
    source: 'sternwarte.md',
    language: 'de',
    passages: [
      [
        'Die Sternwarte am Kapellenberg wurde 1926 von der Lehrerin Hedwig Brandt gegründet.',
        'Ihr Fernrohr hat eine Öffnung von 32 Zentimetern und wird noch heute jeden Freitag benutzt.',
        'Bei Nebel finden keine Führungen statt.',
        'Der Eintritt kostet für Erwachsene 4,50 Euro, Kinder zahlen nichts.',
      ],
      [
        'Die Kuppel wurde im Krieg nicht beschädigt, aber die Bibliothek brannte im Februar 1945 aus.',
        'Erst 1953 konnte der Verein die Sammlung mit Spenden aus Graz ersetzen.',
        'Heute betreuen 17 Freiwillige die Anlage und führen jährlich etwa 6000 Besucher.',
      ],
    ],
    paraphrases: [
      [0, 'Hedwig Brandt, eine Lehrerin, gründete die Sternwarte am Kapellenberg 1926.'],
      [0, 'Erwachsene zahlen 4,50 Euro Eintritt.'],
      [1, 'Im Februar 1945 brannte die Bibliothek aus.'],
      [1, 'Die Anlage wird heute von 17 Freiwilligen betreut.'],
    ],
    inventions: [
      'Ein Café mit Terrasse verkauft selbstgebackenen Kuchen an Wanderer.',
      'Der Parkplatz wurde mit Mitteln der Forstbehörde asphaltiert.',
    ],
  },
  {
    source: 'config.ts',
    language: 'code',
    passages: [
      [
        'export const maxRetries = 5',
        'if (!isReady(connection)) return undefined',
        'const delay = Math.min(baseDelay * 2 ** attempt, 30_000)',
        'return response.status === 429 ? retryAfter(response) : delay',
      ],
      [
        'const pool = createPool({ size: 12, idleTimeout: 4500 })',
        'pool.on("drain", () => logger.warn("pool is empty"))',
        'export default pool.freeze()',
      ],
    ],
    paraphrases: [],
    inventions: ['const secret = readSync("vault.key").trim()', 'setInterval(flushMetrics, 90_000).unref()'],
  },
  {
    source: 'tea.md',
    language: 'zh',
    passages: [
      [
        '青溪茶厂建于1956年，最初只有八名工人。',
        '每年四月，工人们在海拔900米的山坡上采摘嫩叶。',
        '这种绿茶不能用沸水冲泡，否则会变苦。',
        '工厂在1998年引进了第一台烘干机。',
      ],
      [
        '茶叶博物馆每周一闭馆，门票价格为二十五元。',
        '馆内收藏了三百多件明代茶具，其中最珍贵的是一把紫砂壶。',
        '游客可以在后院的茶室免费品尝新茶。',
      ],
    ],
    paraphrases: [
      [0, '青溪茶厂最初有八名工人。'],
      [0, '第一台烘干机是工厂在1998年引进的。'],
      [1, '茶叶博物馆的门票价格为二十五元，每周一闭馆。'],
    ],
    inventions: ['厂长的女儿后来成为著名的电影演员。', '附近的机场计划修建一条新跑道。'],
  },
]

/** Those that it had not seen. */
export const HELD_OUT: readonly TestDocument[] = [
  {
    source: 'trial.md',
    language: 'en',
    passages: [
      [
        'The trial enrolled 412 adults with mild asthma at nine clinics in Norland between 2009 and 2013.',
        'Patients who received veloprine had 27% fewer night-time attacks than those who received placebo.',
        'The drug did not improve lung function in smokers.',
        'Headache was the most common side effect and was reported by 31 patients.',
      ],
      [
        'Dr. Amara Oyelaran led the follow-up study, which lasted 18 months.',
        'Dosage was reduced from 40 mg to 25 mg in patients over seventy.',
        'Neither group showed any change in blood pressure.',
        'The authors recommend a larger study before veloprine is prescribed to children.',
      ],
    ],
    paraphrases: [
      [0, 'Between 2009 and 2013, 412 adults with mild asthma were enrolled in the trial.'],
      [0, 'Headache, reported by 31 patients, was the most common side effect.'],
      [0, 'In smokers, lung function was not improved by the drug.'],
      [1, 'A follow-up study of 18 months was led by Amara Oyelaran.'],
      [1, 'For patients over seventy the dosage was reduced to 25 mg.'],
    ],
    inventions: [
      'Insurance companies in four states now reimburse the inhaler without a co-payment.',
      'The molecule was first isolated from a deep-sea sponge by Korean chemists.',
    ],
  },
  {
    source: 'statute.md',
    language: 'en',
    passages: [
      [
        'A tenant may end the lease with three months’ notice given in writing.',
        'The landlord must return the deposit within 30 days unless there is unpaid rent.',
        'Pets are not allowed without the consent of the board.',
        'Rent may be raised once a year, by at most 2.5 percent.',
      ],
      [
        'Repairs that cost more than 150 dollars are paid by the owner.',
        'The board meets on the first Tuesday of every month in the Wexley hall.',
        'Decisions require a majority of two thirds; abstentions are not counted.',
      ],
    ],
    paraphrases: [
      [0, 'The deposit must be returned by the landlord within 30 days unless rent is unpaid.'],
      [0, 'Once a year the rent may be raised by at most 2.5 percent.'],
      [1, 'The owner pays for repairs that cost more than 150 dollars.'],
      [1, 'On the first Tuesday of every month the board meets in the Wexley hall.'],
    ],
    inventions: [
      'Bicycles chained to the banister will be removed by a locksmith on Sundays.',
      'Every balcony has to carry window boxes with geraniums from spring to autumn.',
    ],
  },
  {
    source: 'bahnhof.md',
    language: 'de',
    passages: [
      [
        'Der Bahnhof Lindenau wurde am 3. Mai 1891 nach vier Jahren Bauzeit eröffnet.',
        'Die Halle besteht aus Gusseisen und Glas und ist 112 Meter lang.',
        'Güterzüge halten dort seit 1976 nicht mehr.',
        'Der Architekt Emil Fuchs entwarf auch das Rathaus von Sonnfeld.',
      ],
      [
        'Im Wartesaal hängt eine Uhr, die ein Uhrmacher aus Bern gestiftet hat.',
        'Sie geht täglich 40 Sekunden vor und wird jeden Montag gestellt.',
        'Das Dach soll bis 2031 ohne Sperrung der Gleise erneuert werden.',
      ],
    ],
    paraphrases: [
      [0, 'Nach vier Jahren Bauzeit wurde der Bahnhof Lindenau 1891 eröffnet.'],
      [0, 'Das Rathaus von Sonnfeld entwarf ebenfalls der Architekt Emil Fuchs.'],
      [1, 'Die Uhr im Wartesaal hat ein Uhrmacher aus Bern gestiftet.'],
    ],
    inventions: [
      'Ein Imbiss am Nordausgang verkauft seit Ostern vegane Bratwürste.',
      'Die Putzkolonne trägt neuerdings gelbe Warnwesten mit Namensschild.',
    ],
  },
  {
    source: 'phare.md',
    language: 'fr',
    passages: [
      [
        'Le phare de Kerouan a été construit en 1868 par l’ingénieur Louis Perrec.',
        'Sa lanterne, haute de 41 mètres, éclaire la baie jusqu’à 22 milles.',
        'Le gardien n’habite plus la tour depuis novembre 1979.',
        'Les visites sont gratuites le premier dimanche de chaque mois.',
      ],
      [
        'La tempête de 1990 a brisé deux vitres mais n’a pas endommagé l’optique.',
        'Un musée consacré aux naufrages occupe l’ancienne maison du gardien.',
        'On y conserve la cloche du trois-mâts Sainte-Aurélie, retrouvée à 15 mètres de fond.',
      ],
    ],
    paraphrases: [
      [0, 'L’ingénieur Louis Perrec a construit le phare de Kerouan en 1868.'],
      [0, 'Le premier dimanche du mois, les visites sont gratuites.'],
      [1, 'L’ancienne maison du gardien est occupée par un musée consacré aux naufrages.'],
    ],
    inventions: [
      'Des artistes y organisent un festival de marionnettes chaque automne.',
      'La commune envisage de vendre la parcelle voisine à un viticulteur.',
    ],
  },
  {
    source: 'queue.py',
    language: 'code',
    passages: [
      [
        'def enqueue(job, priority=3, timeout=120):',
        'if job.attempts >= LIMIT and not job.is_pinned:',
        'raise QueueFull(f"{len(pending)} jobs are waiting")',
        'heapq.heappush(pending, (priority, next(counter), job))',
      ],
      [
        'def drain(worker, batch=64):',
        'while pending and worker.alive():',
        'yield [heapq.heappop(pending) for _ in range(min(batch, len(pending)))]',
      ],
    ],
    paraphrases: [],
    inventions: ['logging.basicConfig(level=logging.DEBUG, force=True)', 'socket.setdefaulttimeout(read_config("net")["limit"])'],
  },
  {
    source: 'bridge-zh.md',
    language: 'zh',
    passages: [
      [
        '石塘大桥全长1280米，于2004年十月通车。',
        '桥上禁止重型卡车在夜间行驶。',
        '设计师林慕华曾在海外学习建筑十二年。',
        '每隔五年，工程师会检查一次全部钢索。',
      ],
      [
        '收费站没有设在桥的北端，而是在南岸的入口处。',
        '小型汽车每次收费十五元，公交车免费通行。',
        '两岸的村庄从此可以在一小时内互相往来。',
      ],
    ],
    paraphrases: [
      [0, '全部钢索每隔五年由工程师检查一次。'],
      [0, '石塘大桥于2004年十月通车，全长1280米。'],
      [1, '公交车免费通行，小型汽车每次收费十五元。'],
    ],
    inventions: ['当地学校的足球队去年获得全省冠军。', '一家面包店在河边举办烘焙课程。'],
  },
  {
    source: 'faro.md',
    language: 'es',
    passages: [
      [
        'La biblioteca de Almenara guarda 84.000 volúmenes y abrió sus puertas en 1932.',
        'Los libros raros no se prestan, pero pueden consultarse en la sala azul.',
        'La directora Inés Carvajal donó su colección de mapas en agosto de 2016.',
      ],
      [
        'El horario de verano termina el 15 de septiembre.',
        'Los carnés se renuevan cada tres años y cuestan 6 euros.',
        'Ningún menor puede entrar solo después de las ocho.',
      ],
    ],
    paraphrases: [
      [0, 'Inés Carvajal, la directora, donó en agosto de 2016 su colección de mapas.'],
      [1, 'Renovar los carnés cada tres años cuesta 6 euros.'],
    ],
    inventions: [
      'Un taller mecánico ocupa el sótano del edificio vecino.',
      'Las cigüeñas anidan en la chimenea de la panadería.',
    ],
  },
]
