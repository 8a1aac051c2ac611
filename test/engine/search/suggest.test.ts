import { describe, expect, it } from 'vitest';
import { checkSpace, type Dimension, type Point, type SearchSpace } from '#engine/search/space.ts';
import { type SuggestOptions, suggest } from '#engine/search/suggest.ts';
import type { PastTrial } from '#engine/search/trials.ts';
import { bestValues, runStudy } from '../../../bench/support/studies.ts';
import { TEST_FUNCTIONS } from '../../../bench/support/test-functions.ts';

const MIXED = TEST_FUNCTIONS.find(({ name }) => name === 'mixed')!;
const LINE: SearchSpace = [{ kind: 'float', name: 'x', min: 0, max: 1 }];

const options = (changes: Partial<SuggestOptions> = {}): SuggestOptions => ({
  seed: 1,
  number: 40,
  direction: 'minimize',
  sampler: 'tpe',
  ...changes,
});

const trial = (number: number, x: number, rest: Partial<PastTrial> = {}): PastTrial => ({
  number,
  params: { x },
  state: 'complete',
  value: 0,
  ...rest,
});

/** 40 trials over the line: those in `good` have value 0, all others 1. */
function lineWith(good: readonly [number, number], rest: (x: number) => Partial<PastTrial> = () => ({})) {
  return Array.from({ length: 40 }, (_, i) => {
    const x = ((i * 17) % 40) / 40;
    return trial(i, x, { value: x >= good[0] && x < good[1] ? 0 : 1, ...rest(x) });
  });
}

/** How many of 60 suggestions lie between the two. */
function sharesWithin(past: readonly PastTrial[], from: number, to: number, changes = {}): number {
  const numbers = Array.from({ length: 60 }, (_, i) => 40 + i);
  const drawn = numbers.map((number) => suggest(LINE, past, options({ number, ...changes })));
  return drawn.filter(({ x }) => Number(x) >= from && Number(x) <= to).length / drawn.length;
}

describe('suggestions', () => {
  it('are the same for the same arguments, in whatever order the trials come', () => {
    const past = runStudy(MIXED, { seed: 5, trials: 60, sampler: 'tpe' });
    const given = options({ number: 60 });
    const first = suggest(MIXED.space, past, given);
    expect(suggest(MIXED.space, [...past].reverse(), given)).toEqual(first);
    expect(JSON.stringify(suggest(MIXED.space, past, given))).toBe(JSON.stringify(first));
    expect(suggest(MIXED.space, past, { ...given, seed: 2 })).not.toEqual(first);
    expect(suggest(MIXED.space, past, { ...given, number: 61 })).not.toEqual(first);
  });

  it('are drawn without a model until ten trials have ended', () => {
    const nine = lineWith([0.2, 0.3]).slice(0, 9);
    const running = Array.from({ length: 5 }, (_, i) => trial(9 + i, 0.5, { state: 'running', value: null }));
    const failed = Array.from({ length: 5 }, (_, i) => trial(14 + i, 0.5, { state: 'failed', value: null }));
    const random = suggest(LINE, [], options({ sampler: 'random' }));
    expect(suggest(LINE, [...nine, ...running, ...failed], options())).toEqual(random);
    expect(suggest(LINE, [...nine, trial(19, 0.9, { state: 'pruned' })], options())).not.toEqual(random);
  });

  it.each(['minimize', 'maximize'] as const)('go where the best trials are: %s', (direction) => {
    const value = (x: number) => ({ value: (direction === 'minimize' ? 1 : -1) * (x - 0.3) ** 2 });
    const past = lineWith([0, 0], value);
    expect(sharesWithin(past, 0.2, 0.4, { direction })).toBeGreaterThan(0.8);
  });

  it('keep away from what is running', () => {
    const past = lineWith([0.2, 0.3]);
    const running = Array.from({ length: 8 }, (_, i) =>
      trial(40 + i, 0.25, { state: 'running', value: null }),
    );
    expect(sharesWithin(past, 0.23, 0.27)).toBeGreaterThan(0.3);
    expect(sharesWithin([...past, ...running], 0.23, 0.27)).toBeLessThan(0.15);
  });

  it('do not know of failed trials', () => {
    const past = lineWith([0.2, 0.3]);
    const failed = trial(40, 0.25, { state: 'failed', value: null });
    expect(suggest(LINE, [...past, failed], options())).toEqual(suggest(LINE, past, options()));
  });

  it('rank pruned trials after complete ones, whatever their windows', () => {
    const past = lineWith([0.2, 0.3], (x) =>
      x >= 0.7 ? { state: 'pruned', value: null, windows: [-9, -9] } : {},
    );
    expect(sharesWithin(past, 0.1, 0.4)).toBeGreaterThan(0.8);
  });

  it.each(['minimize', 'maximize'] as const)(
    'rank pruned trials by the windows they reached, then by the last: %s',
    (direction) => {
      const better = direction === 'minimize' ? -1 : 1;
      const isGood = (x: number) => x >= 0.2 && x < 0.3;
      const pruned = (windows: (x: number) => (number | null)[]) =>
        lineWith([0, 0], (x) => ({ state: 'pruned', value: null, windows: windows(x) }));
      const byWindows = pruned((x) => (isGood(x) ? [0, 0, -better] : [0, better]));
      expect(sharesWithin(byWindows, 0.1, 0.4, { direction })).toBeGreaterThan(0.8);
      const byLast = pruned((x) => (isGood(x) ? [0, better] : x < 0.8 ? [better, 0] : [0, null]));
      expect(sharesWithin(byLast, 0.1, 0.4, { direction })).toBeGreaterThan(0.8);
    },
  );

  it('hold fixed what cannot vary', () => {
    const space: SearchSpace = [
      ...LINE,
      { kind: 'int', name: 'n', min: 7, max: 7 },
      { kind: 'float', name: 'rate', min: 0.1, max: 0.1, log: true },
      { kind: 'float', name: 'one logarithm', min: 0.1, max: 0.1 + 2 ** -56, log: true },
      { kind: 'categorical', name: 'only', choices: [true] },
    ];
    const trials = runStudy(
      { space, minimise: ({ x }) => x as number },
      { seed: 1, trials: 30, sampler: 'tpe' },
    );
    const fixed = { n: 7, rate: 0.1, 'one logarithm': 0.1, only: true };
    for (const { params } of trials) expect(params).toMatchObject(fixed);
  });

  it('cover the whole range and every value while random', () => {
    const space: SearchSpace = [
      { kind: 'int', name: 'n', min: 1, max: 4 },
      { kind: 'int', name: 'wide', min: 1, max: 1000, log: true },
      { kind: 'float', name: 'step', min: 0.1, max: 0.75, step: 0.2 },
      { kind: 'categorical', name: 'c', choices: ['a', 2, true] },
    ];
    const points = Array.from({ length: 400 }, (_, number) =>
      suggest(space, [], options({ number, sampler: 'random' })),
    );
    const seen = (name: string) => new Set(points.map((point) => point[name]));
    expect(seen('n')).toEqual(new Set([1, 2, 3, 4]));
    expect([...seen('step')].map((x) => Math.round(10 * (x as number)) / 10).sort()).toEqual([
      0.1, 0.3, 0.5, 0.7,
    ]);
    expect(seen('c')).toEqual(new Set(['a', 2, true]));
    // Half of the logarithm lies below 31.
    const low = points.filter(({ wide }) => (wide as number) < 31).length / points.length;
    expect(Math.abs(low - 0.5)).toBeLessThan(0.15);
  });

  it('refuse trials of another space', () => {
    const past = lineWith([0.2, 0.3]);
    const other = [...past.slice(1), trial(0, 3)];
    expect(() => suggest(LINE, other, options())).toThrow('3 is no value of search dimension x');
    const without = [...past.slice(1), { ...past[0]!, params: {} as Point }];
    expect(() => suggest(LINE, without, options())).toThrow('undefined is no value of search dimension x');
  });
});

describe('search quality', () => {
  // Medians of 50 seeds: see the bench `tpe`. With 15 seeds these margins hold with room.
  it.each(TEST_FUNCTIONS.map((subject) => [subject.name, subject] as const))('%s', (_, subject) => {
    const best = bestValues(subject, 15, { trials: 100, sampler: 'tpe', lag: 1 });
    const behind = (best[7]! - subject.reference) / (subject.random - subject.reference);
    expect(behind).toBeLessThan(0.25);
  });
});

describe('a search space', () => {
  it.each<[string, Dimension[]]>([
    ['x is there twice', [...LINE, ...LINE] as Dimension[]],
    ['x has no choices', [{ kind: 'categorical', name: 'x', choices: [] }]],
    ['x has a choice twice', [{ kind: 'categorical', name: 'x', choices: [1, 1] }]],
    ['x has a min of 2 above its max of 1', [{ kind: 'float', name: 'x', min: 2, max: 1 }]],
    ['x needs finite ends', [{ kind: 'float', name: 'x', min: 0, max: Number.POSITIVE_INFINITY }]],
    ['x needs whole ends', [{ kind: 'int', name: 'x', min: 0, max: 1.5 }]],
    ['x is logarithmic: its min must be above 0', [{ kind: 'float', name: 'x', min: 0, max: 1, log: true }]],
    ['x is logarithmic: its min must be at least 1', [{ kind: 'int', name: 'x', min: 0, max: 9, log: true }]],
    ['x needs a step above 0', [{ kind: 'float', name: 'x', min: 0, max: 1, step: 0 }]],
    [
      'x cannot have a step and be logarithmic',
      [{ kind: 'float', name: 'x', min: 1, max: 2, log: true, step: 0.1 }],
    ],
  ])('is refused when %s', (message, space) => {
    expect(() => checkSpace(space)).toThrow(`Search dimension ${message}`);
  });

  it('is taken when whole', () => {
    for (const { space } of TEST_FUNCTIONS) expect(() => checkSpace(space)).not.toThrow();
  });
});
