import { describe, expect, it } from 'vitest';
import { editDistance, misspelledName, nearestName } from '#contract/values/nearest-name.ts';

describe('editDistance', () => {
  it.each([
    ['', '', 0],
    ['abc', '', 3],
    ['', 'abc', 3],
    ['kitten', 'sitting', 3],
    ['flaw', 'lawn', 2],
    ['ab', 'ba', 1],
    ['timefrmae', 'timeframe', 1],
    ['ca', 'abc', 3],
  ])('edit distance from %j to %j is %i', (from, to, distance) => {
    expect(editDistance(from, to)).toBe(distance);
    expect(editDistance(to, from)).toBe(distance);
  });
});

describe('nearestName', () => {
  const known = ['timeframe', 'timeframe_detail', 'stake_amount', 'pairs', 'fee'];

  it.each([
    ['timefrmae', 'timeframe'],
    ['timeframeDetail', 'timeframe_detail'],
    ['STAKE-AMOUNT', 'stake_amount'],
    ['stake_amout', 'stake_amount'],
    ['pair', 'pairs'],
    ['fe', 'fee'],
  ])('nearest name to %j is %j', (name, nearest) => {
    expect(nearestName(name, known)).toBe(nearest);
  });

  it.each(['leverage', '', 'x', 'wallet'])('nearest name to %j is undefined', (name) => {
    expect(nearestName(name, known)).toBeUndefined();
  });

  it('nearestName returns the first of equally near names', () => {
    expect(nearestName('axc', ['abc', 'adc'])).toBe('abc');
  });
});

describe('misspelledName', () => {
  const known = ['fee', 'seed', 'pairs', 'stoploss', 'max_open_trades'];

  it.each([
    // One edit.
    ['fees', 'fee'],
    ['fe', 'fee'],
    ['sede', 'seed'],
    ['FEE', 'fee'],
    ['pair', 'pairs'],
    // Two edits, from five letters on.
    ['stopploos', 'stoploss'],
    ['stop_los', 'stoploss'],
    ['max_opentrade', 'max_open_trades'],
    ['pairrs', 'pairs'],
    // Rejected: two edits of four letters, three of many, no near name.
    ['par', undefined],
    ['dees', undefined],
    ['free', 'fee'],
    ['feed', 'fee'],
    ['sd', undefined],
    ['maximum_open_trades', undefined],
    ['leverage', undefined],
    ['', undefined],
  ])('misspelled name %j resolves to %j', (name, meant) => {
    expect(misspelledName(name, known)).toBe(meant);
  });
});
