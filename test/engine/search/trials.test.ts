import { describe, expect, it } from 'vitest';
import type { Pruner } from '#contract/hyperopt/hyperopt.ts';
import { shouldPrune } from '#engine/search/pruner.ts';
import { bestTrial, duplicateOf, type PastTrial, samplerLag, visibleHistory } from '#engine/search/trials.ts';

const trial = (number: number, rest: Partial<PastTrial> = {}): PastTrial => ({
  number,
  params: { x: number },
  state: 'complete',
  value: number,
  windows: [number, number],
  ...rest,
});

describe('lagOf', () => {
  it.each([
    [1, 1],
    [19, 1],
    [20, 2],
    [100, 10],
    [10_000, 1000],
  ])('sampler lag of %d trials is %d', (trials, lag) => {
    expect(samplerLag(trials)).toBe(lag);
  });
});

describe('visibleHistory', () => {
  const past = Array.from({ length: 8 }, (_, number) => trial(number));

  it('visible history has results up to k - L and only parameters beyond', () => {
    const visible = visibleHistory(past, 6, 3);
    expect(visible.slice(0, 4)).toEqual(past.slice(0, 4));
    expect(visible.slice(4)).toEqual([
      { number: 4, params: { x: 4 }, state: 'running', value: null },
      { number: 5, params: { x: 5 }, state: 'running', value: null },
    ]);
  });

  it('visible history has all results with a lag of 1 and is empty for the first trial', () => {
    expect(visibleHistory(past, 8, 1)).toEqual(past);
    expect(visibleHistory(past, 0, 3)).toEqual([]);
  });

  it('visible history does not depend on later trials or on their order', () => {
    const early = past.map((one) =>
      one.number > 3 ? trial(one.number, { state: 'running', value: null, windows: [] }) : one,
    );
    expect(visibleHistory(early.reverse(), 6, 3)).toEqual(visibleHistory(past, 6, 3));
  });

  it('visible history rejects a trial that starts before its required results', () => {
    const running = past.map((one) => (one.number === 3 ? trial(3, { state: 'running', value: null }) : one));
    expect(() => visibleHistory(running, 6, 3)).toThrow('Trial 6 needs the result of trial 3 first');
    expect(() => visibleHistory(past.slice(0, 5), 6, 3)).toThrow(
      'Trial 6 needs the parameters of trial 5 first',
    );
  });
});

describe('duplicateOf', () => {
  it('duplicateOf returns the first trial with equal parameters in any state', () => {
    const params = { a: 1, b: 'x', c: true };
    const past = [
      trial(0, { params: { ...params, b: 'y' } }),
      trial(1, { params, state: 'running', value: null }),
      trial(2, { params, state: 'failed', value: null }),
      trial(3, { params: { c: true, a: 1, b: 'x' }, state: 'pruned' }),
      trial(4, { params }),
    ];
    expect(duplicateOf(past, params)?.number).toBe(1);
    expect(duplicateOf(past.slice(2), params)?.number).toBe(2);
    expect(duplicateOf(past.slice(3), params)?.number).toBe(3);
    expect(duplicateOf(past, { ...params, c: 'true' })).toBeUndefined();
    expect(duplicateOf(past.slice(0, 1), params)).toBeUndefined();
  });
});

describe('bestTrial', () => {
  const past = [
    trial(0, { value: 9, state: 'pruned' }),
    trial(1, { value: null, state: 'failed' }),
    ...[3, 5, 5, 2, 2].map((value, i) => trial(2 + i, { value })),
  ];

  it('bestTrial returns the earliest of the best complete trials in any order', () => {
    for (const given of [past, [...past].reverse()]) {
      expect(bestTrial(given, 'maximize')?.number).toBe(3);
      expect(bestTrial(given, 'minimize')?.number).toBe(5);
    }
    expect(bestTrial(past.slice(0, 2), 'maximize')).toBeUndefined();
  });
});

describe('Wilcoxon pruning', () => {
  const best = trial(0, { value: 9, windows: [5, 6, 7, 8, 9, 10] });
  const past = [best, trial(1, { value: 1, windows: [0, 0, 0, 0, 0, 0] })];
  const prune = (windows: (number | null)[], kind: Pruner = 'wilcoxon', history: PastTrial[] = past) =>
    shouldPrune(kind, windows, history, 'maximize');

  it('Wilcoxon pruner stops a trial at its fourth window when all are worse than the best', () => {
    expect(prune([4, 4, 4])).toBe(false);
    expect(prune([4, 4, 4, 4])).toBe(true);
    expect(prune([4, 4, 4, 4], 'none')).toBe(false);
  });

  it('Wilcoxon pruner keeps a trial that is worse in only some windows', () => {
    expect(prune([4, 5, 9, 7, 8])).toBe(false);
  });

  it('Wilcoxon pruner keeps a trial whose mean is not worse, regardless of ranks', () => {
    expect(prune([4.9, 5.8, 6.7, 7.6, 8.5, 99])).toBe(false);
    // Seven of eight windows are worse, the largest difference is better: p is 25/256, just below 0.1.
    const even = trial(0, { value: 9, windows: new Array(8).fill(5) });
    const worse = [4.9, 4.8, 4.7, 4.6, 4.5, 4.4, 4.3];
    expect(prune([...worse, 5.8], 'wilcoxon', [even])).toBe(true);
    expect(prune([...worse, 8], 'wilcoxon', [even])).toBe(false);
  });

  it('Wilcoxon pruner compares only windows that both trials have', () => {
    expect(prune([4, null, 4, 4])).toBe(false);
    expect(prune([4, null, 4, 4, 4])).toBe(true);
  });

  it('Wilcoxon pruner minimizes and compares only with complete trials', () => {
    const low = trial(0, { value: 1, windows: [1, 1, 1, 1] });
    expect(shouldPrune('wilcoxon', [2, 2, 2, 2], [low, trial(1)], 'minimize')).toBe(true);
    const others = [trial(0, { state: 'pruned' }), trial(1, { state: 'running', value: null })];
    expect(shouldPrune('wilcoxon', [2, 2, 2, 2], others, 'minimize')).toBe(false);
  });
});

describe('median pruning', () => {
  const past = [1, 2, 3, 4, 5].map((value, number) => trial(number, { value, windows: [value, 10 * value] }));
  const prune = (windows: (number | null)[], history = past) =>
    shouldPrune('median', windows, history, 'maximize');

  it('median pruner stops a trial whose best window is below the median at this window', () => {
    expect(prune([2.9])).toBe(true);
    expect(prune([3])).toBe(false);
    expect(prune([29, 1])).toBe(true);
    expect(prune([31, 1])).toBe(false);
    expect(shouldPrune('median', [3.1], past, 'minimize')).toBe(true);
  });

  it('median pruner waits for five complete trials', () => {
    expect(prune([0], past.slice(1))).toBe(false);
  });

  it('median pruner ignores windows without a value', () => {
    const history = [...past, trial(9, { windows: [100] }), trial(10, { windows: [100, null] })];
    expect(prune([25, 31], history)).toBe(false);
    expect(prune([null, null])).toBe(false);
  });
});
