import { describe, expect, it } from 'vitest';
import { plateauWidth } from '#engine/search/overfitting.ts';
import type { Point, SearchSpace } from '#engine/search/space.ts';
import type { PastTrial } from '#engine/search/trials.ts';

const LINE: SearchSpace = [{ kind: 'float', name: 'x', min: 0, max: 10 }];

/** Trials at these points with their values. */
function trialsAt(points: readonly Point[], worth: (point: Point) => number): PastTrial[] {
  return points.map((params, number) => ({ number, params, state: 'complete', value: worth(params) }));
}

/** Every tenth from 0 to 10. */
const EVEN = Array.from({ length: 101 }, (_, i) => ({ x: i / 10 }));

describe('plateauWidth', () => {
  it('plateau width is a flat top plus a quarter, because one of five trials may be off it', () => {
    // 41 trials from 3.0 to 7.0 are on the top. 51 trials are within 2.5 of 5: 41 of 51 is the last share above 0.8.
    const flat = trialsAt(EVEN, ({ x }) => (Math.abs(Number(x) - 5) <= 2 ? 1 : 0));
    const best = flat.map((trial) =>
      Object.values(trial.params)[0] === 5 ? { ...trial, value: 1.001 } : trial,
    );
    expect(plateauWidth(LINE, best, 'maximize')).toEqual({ width: expect.closeTo(0.25, 12), trials: 51 });
  });

  it('plateau width is 0 for an isolated peak', () => {
    const isolatedPeak = trialsAt(EVEN, ({ x }) => (x === 5 ? 1 : Math.abs(Number(x) - 5) / 100));
    expect(plateauWidth(LINE, isolatedPeak, 'maximize')).toEqual({ width: 0, trials: 1 });
  });

  it('plateau width is equal for minimization and on a logarithmic scale', () => {
    const flat = trialsAt(EVEN, ({ x }) => -(Number(x) === 5 ? 1.001 : Math.abs(Number(x) - 5) <= 2 ? 1 : 0));
    expect(plateauWidth(LINE, flat, 'minimize')?.width).toBeCloseTo(0.25, 12);
    const space: SearchSpace = [{ kind: 'float', name: 'x', min: 1, max: 1e10, log: true }];
    const log = flat.map((trial) => ({
      ...trial,
      params: { x: 10 ** Number(Object.values(trial.params)[0]) },
    }));
    expect(plateauWidth(space, log, 'minimize')?.width).toBeCloseTo(0.25, 9);
  });

  it('plateau width is that of the narrowest parameter', () => {
    const space: SearchSpace = [...LINE, { kind: 'int', name: 'n', min: 0, max: 20 }];
    const grid = Array.from({ length: 21 * 21 }, (_, i) => ({ x: (i % 21) / 2, n: Math.floor(i / 21) }));
    const ridge = trialsAt(grid, ({ x, n }) =>
      n === 10 && x === 5 ? 2 : Math.abs(Number(n) - 10) <= 2 ? 1.9 : 0,
    );
    const { width } = plateauWidth(space, ridge, 'maximize')!;
    expect(width).toBeGreaterThanOrEqual(0.1);
    expect(width).toBeLessThan(0.2);
  });

  it('plateau width is the whole range when another choice is equally good', () => {
    const space: SearchSpace = [...LINE, { kind: 'categorical', name: 'c', choices: ['a', 'b'] }];
    const points = EVEN.flatMap(({ x }) => [
      { x, c: 'a' },
      { x, c: 'b' },
    ]);
    expect(
      plateauWidth(
        space,
        trialsAt(points, () => 1),
        'maximize',
      )?.width,
    ).toBe(1);
    const oneGood = trialsAt(points, ({ c, x }) => (c === 'a' ? 1 + (x === 5 ? 0.01 : 0) : 0));
    expect(plateauWidth(space, oneGood, 'maximize')?.width).toBeCloseTo(0.5, 12);
  });

  it('plateau width is null for fewer than 10 complete trials', () => {
    expect(
      plateauWidth(
        LINE,
        trialsAt(EVEN.slice(0, 9), () => 1),
        'maximize',
      ),
    ).toBeNull();
    const failed = trialsAt(EVEN, () => 1).map((trial) => ({
      ...trial,
      state: 'failed' as const,
      value: null,
    }));
    expect(plateauWidth(LINE, failed, 'maximize')).toBeNull();
  });
});
