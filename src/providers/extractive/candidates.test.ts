import { describe, expect, test } from 'vitest'
import { findCandidates } from './candidates.ts'
import { readQuestion } from './question.ts'
import { readWords } from './words.ts'

function candidatesOf(question: string, text: string): [string, number][] {
  const words = readWords(text)
  return findCandidates(readQuestion(question), text, words).map(({ from, to, strength }) => [
    text.slice(words[from]?.start, words[to - 1]?.end),
    Number(strength.toFixed(2)),
  ])
}

describe('candidates of the expected kind', () => {
  test.each<[string, string, [string, number][]]>([
    [
      'Who built the mill?',
      'The mill was built by Ida Marsh for Oak.',
      [
        ['Ida Marsh', 1],
        ['Oak', 0.7],
      ],
    ],
    ['Who built the mill?', 'It was built by a Swedish engineer, Ludwig van der Berg.', [['Ludwig van der Berg', 1]]],
    ['Who was Ida Marsh?', 'Ida Marsh met Tom Oak.', [['Tom Oak', 1]]],
    [
      'Who won?',
      'Norway won. Rain fell.',
      [
        ['Norway', 0.49],
        ['Rain', 0.49],
      ],
    ],
    ['Who won?', 'Rain stopped the race; the rain fell.', []],
    ['Which company owns it?', 'It is owned by Oak & Sons of Ghent.', [['Oak & Sons of Ghent', 1]]],
    ['What language do they speak?', 'They speak Dutch.', [['Dutch', 1]]],
    [
      'When is lunch?',
      'From 11:30 on, within 30 days, since version 4.2; 7 at once.',
      [
        ['11:30', 0.8],
        ['30', 0.5],
        ['4.2', 0.5],
      ],
    ],
    ['How many dependencies does it have?', 'It has no dependencies.', [['no', 1]]],
    ['What do square brackets mean?', 'Square brackets indicate that it can be left out.', [['indicate', 1]]],
    [
      'When did it open?',
      'It opened on 12 May 1874, after the winter.',
      [
        ['12 May 1874', 1],
        ['winter', 0.3],
      ],
    ],
    ['When did it open?', 'May it last! It opened in 1874.', [['1874', 0.8]]],
    ['When did it open?', 'It opened on October 20, 1977.', [['October 20, 1977', 1]]],
    [
      'How many sacks were sold?',
      'In 1874 about 1,200 sacks were sold, and nine carts.',
      [
        ['1874', 0.1],
        ['1,200', 1],
        ['nine', 0.5],
      ],
    ],
    [
      'How tall is the mill?',
      'It is 24 metres tall and has four floors.',
      [
        ['24 metres', 1],
        ['four', 0.5],
      ],
    ],
    [
      'How much did it cost?',
      'It cost $1.5 million in 1874.',
      [
        ['1.5 million', 1],
        ['1874', 0.1],
      ],
    ],
    [
      'Where is the mill?',
      'Oak lives in Ghent.',
      [
        ['Oak', 0.35],
        ['Ghent', 1],
      ],
    ],
    ['Where does the heron nest?', 'It nests in the old willow trees, at night.', [['in the old willow trees', 0.5]]],
    ['Why did it close?', 'It closed because of a flood.', [['because', 1]]],
    ['What did he grind?', 'He ground Rye in 1874.', []],
  ])('%j in %j', (question, text, expected) => {
    expect(candidatesOf(question, text)).toEqual(expected)
  })
})
