import { describe, expect, it } from 'vitest';
import { walkForwardEfficiency } from '#engine/stats/walk-forward.ts';

describe('walk-forward efficiency', () => {
  it('compares annual returns', () => {
    // 21 % in two years is 10 % a year; 20 % in one year.
    const oneYear = { growth: 1.2, days: 365 };
    const twoYears = { growth: 1.21, days: 730 };
    expect(walkForwardEfficiency(oneYear, twoYears)).toBeCloseTo(0.5, 12);
    expect(walkForwardEfficiency(twoYears, oneYear)).toBeCloseTo(2, 12);
  });

  it('is below 0 for a loss out of sample, down to all', () => {
    expect(walkForwardEfficiency({ growth: 1.5, days: 365 }, { growth: 0.75, days: 365 })).toBeCloseTo(
      -0.5,
      12,
    );
    expect(walkForwardEfficiency({ growth: 1.5, days: 365 }, { growth: 0, days: 30 })).toBeCloseTo(-2, 12);
  });

  it('is undefined where nothing was earned in sample, and without days', () => {
    expect(walkForwardEfficiency({ growth: 1, days: 365 }, { growth: 1.1, days: 365 })).toBeNull();
    expect(walkForwardEfficiency({ growth: 0.9, days: 365 }, { growth: 0.9, days: 365 })).toBeNull();
    expect(walkForwardEfficiency({ growth: 1.1, days: 365 }, { growth: 1.1, days: 0 })).toBeNull();
  });
});
