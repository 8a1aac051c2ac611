import { describe, expect, it } from 'vitest';
import { countSteps, gridPoint, listedDimension, steppedDimension } from '#engine/search/grid.ts';

function valuesOf(min: number, max: number, step: number): number[] {
  const { size, at } = steppedDimension('x', { min, max, step });
  return Array.from({ length: size }, (_, index) => Number(at(index)));
}

describe('steps of a grid', () => {
  it('are decimals, not sums of binary fractions', () => {
    expect(valuesOf(0.1, 0.7, 0.1)).toEqual([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]);
    expect(valuesOf(-0.35, -0.02, 0.11)).toEqual([-0.35, -0.24, -0.13, -0.02]);
    expect(valuesOf(1.005, 1.02, 0.005)).toEqual([1.005, 1.01, 1.015, 1.02]);
  });

  it('end at the last value that is not above the maximum', () => {
    expect(valuesOf(0, 1, 0.3)).toEqual([0, 0.3, 0.6, 0.9]);
    expect(valuesOf(5, 5, 1)).toEqual([5]);
    expect(valuesOf(5, 6, 10)).toEqual([5]);
    expect(valuesOf(1e21, 3e21, 1e21)).toEqual([1e21, 2e21, 3e21]);
    expect(valuesOf(1e-7, 3e-7, 1e-7)).toEqual([1e-7, 2e-7, 3e-7]);
  });

  it('are counted exactly for any size', () => {
    expect(countSteps({ min: 0, max: 1, step: 1e-9 })).toBe(1_000_000_001n);
    expect(countSteps({ min: 0, max: 1, step: 1e-300 })).toBe(10n ** 300n + 1n);
    expect(countSteps({ min: -1, max: 1e308, step: 0.5 })).toBe(2n * 10n ** 308n + 3n);
  });
});

it('points have the first dimension slowest and the last fastest', () => {
  const grid = [
    listedDimension('mode', ['x', 'y']),
    steppedDimension('fast', { min: 5, max: 6, step: 1 }),
    steppedDimension('slow', { min: 0.1, max: 0.3, step: 0.1 }),
  ];
  const points = Array.from({ length: 12 }, (_, number) => Object.values(gridPoint(grid, number)).join(' '));
  expect(points.slice(0, 7)).toEqual([
    'x 5 0.1',
    'x 5 0.2',
    'x 5 0.3',
    'x 6 0.1',
    'x 6 0.2',
    'x 6 0.3',
    'y 5 0.1',
  ]);
  expect(new Set(points).size).toBe(12);
});
