import { describe, expect, test } from 'vitest';
import { scaleOf } from '../../web/src/charts/scale.ts';
import { importanceOf } from '../../web/src/pages/hyperopt/importance.ts';
import { detailSearch, keptOf, writtenKept } from '../../web/src/pages/hyperopt/search.ts';
import { bestSoFar, pointOf, standingOf, type TrialRow } from '../../web/src/pages/hyperopt/trials.ts';

/** What the pages of hyperopt jobs compute without a browser. */

function trial(number: number, value: number | null, at: TrialRow['at']): TrialRow {
  const state = value === null ? 'pruned' : 'complete';
  return {
    number,
    sequence: number + 1,
    state,
    value,
    violation: value === null ? null : 0,
    best_value: null,
    at,
    params: { model_type: 'none', ...at },
  };
}

const higher = (a: number, b: number) => a > b;

test('parameters of the exits become one level, steps of the ROI table in the order of time', () => {
  const params = {
    model_type: 'none',
    fast: 7,
    minimal_roi: { '0': 0.2, '1740': 0, '360': 0.1 },
    trailing: { positive: 0.02, only_offset_is_reached: true },
  };
  expect(pointOf(params)).toEqual({
    model_type: 'none',
    fast: 7,
    'roi.1.minutes': 0,
    'roi.1.profit': 0.2,
    'roi.2.minutes': 360,
    'roi.2.profit': 0.1,
    'roi.3.minutes': 1740,
    'roi.3.profit': 0,
    'trailing.positive': 0.02,
    'trailing.only_offset_is_reached': true,
  });
});

test('the best is the earlier of equal trials, and pruned ones have no value', () => {
  const rows = [trial(3, 1, {}), trial(1, 2, {}), trial(2, null, {}), trial(0, 2, {})];
  const { best, complete, pruned } = standingOf(rows, higher);
  expect({ best: best?.number, complete, pruned }).toEqual({ best: 0, complete: 3, pruned: 1 });
  expect(bestSoFar(rows, higher)).toEqual([1, 2, 2, 2]);
  expect(bestSoFar(rows, (a, b) => a < b)).toEqual([1, 1, 1, 1]);
});

test('a feasible trial is better than one with a better value, and a low violation than a high one', () => {
  const broken = (number: number, value: number, violation: number) => ({
    ...trial(number, value, {}),
    violation,
  });
  const rows = [broken(0, 9, 0.5), broken(1, 8, 0.2), trial(2, 1, {}), broken(3, 7, 0.1)];
  expect(standingOf(rows.slice(0, 2), higher).best?.number).toBe(1);
  expect(standingOf(rows, higher).best?.number).toBe(2);
  expect(bestSoFar(rows, higher)).toEqual([9, 8, 1, 1]);
});

describe('importance', () => {
  /** mulberry32: the same sequence every time. */
  let seed = 7;
  const random = () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const rows = Array.from({ length: 200 }, (_, index) => {
    const [decides, idle] = [random(), random()];
    return trial(index, (decides - 0.5) ** 2, { decides, idle, kind: index % 2 === 0 ? 'a' : 'b' });
  });

  test('is high for a parameter that decides, also without a direction, and about 0 for others', () => {
    const found = importanceOf(rows, ['idle', 'decides', 'kind']);
    expect(found[0]!.name).toBe('decides');
    expect(found[0]!.share).toBeGreaterThan(0.7);
    for (const { share } of found.slice(1)) expect(share).toBeLessThan(0.06);
  });

  test('is empty with fewer than 20 different complete trials', () => {
    const same = rows.slice(0, 19).flatMap((row) => [row, { ...row, number: row.number + 500 }]);
    expect(importanceOf(same, ['decides'])).toEqual([]);
  });
});

describe('scales', () => {
  test('are logarithmic above a factor of 20, linear below and with zero', () => {
    expect(scaleOf('a', 'a', [0.001, 0.3]).kind).toBe('log');
    expect(scaleOf('a', 'a', [0.01, 0.2]).kind).toBe('linear');
    expect(scaleOf('a', 'a', [0, 1_000]).kind).toBe('linear');
    const { position } = scaleOf('a', 'a', [1, 10_000]);
    expect(position(100)).toBeCloseTo(0.5);
  });

  test('place categories in their order, and one value in the middle', () => {
    const scale = scaleOf('a', 'a', ['b', 'a', 'c', 'a']);
    expect(['a', 'b', 'c'].map(scale.position)).toEqual([0, 0.5, 1]);
    expect(scaleOf('a', 'a', [5, 5]).position(5)).toBe(0.5);
    expect(scaleOf('a', 'a', [true]).position(true)).toBe(0.5);
  });
});

describe('URL of a job', () => {
  test('keeps ranges of axes', () => {
    const kept = { fast: [0.25, 1], 'roi.1.profit': [0, 0.333] } as const;
    expect(keptOf(writtenKept(kept))).toEqual(kept);
    expect(writtenKept({})).toBeUndefined();
  });

  test('drops what does not fit', () => {
    expect(
      detailSearch({ tab: 'nowhere', trial: -1, state: 1, keep: 'fast:0.9..0.1;x;slow:0..7', x: 3 }),
    ).toEqual({
      x: '3',
    });
  });
});
