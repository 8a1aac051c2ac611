import { describe, expect, it } from 'vitest';
import { editDistance, nearestName } from '#engine/nearest-name.ts';

describe('edit distance', () => {
  it.each([
    ['', '', 0],
    ['abc', '', 3],
    ['', 'abc', 3],
    ['kitten', 'sitting', 3],
    ['flaw', 'lawn', 2],
    ['ab', 'ba', 1],
    ['timefrmae', 'timeframe', 1],
    ['ca', 'abc', 3],
  ])('from %j to %j is %i', (from, to, distance) => {
    expect(editDistance(from, to)).toBe(distance);
    expect(editDistance(to, from)).toBe(distance);
  });
});

describe('the nearest name', () => {
  const known = ['timeframe', 'timeframe_detail', 'stake_amount', 'pairs', 'fee'];

  it.each([
    ['timefrmae', 'timeframe'],
    ['timeframeDetail', 'timeframe_detail'],
    ['STAKE-AMOUNT', 'stake_amount'],
    ['stake_amout', 'stake_amount'],
    ['pair', 'pairs'],
    ['fe', 'fee'],
  ])('to %j is %j', (name, nearest) => {
    expect(nearestName(name, known)).toBe(nearest);
  });

  it.each(['leverage', '', 'x', 'wallet'])('to %j is none', (name) => {
    expect(nearestName(name, known)).toBeUndefined();
  });

  it('is the first of equally near ones', () => {
    expect(nearestName('axc', ['abc', 'adc'])).toBe('abc');
  });
});
