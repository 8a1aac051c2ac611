import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { simulateLoop } from '#engine/simulator/loop/loop.ts';
import { simulate } from '#engine/simulator/simulate.ts';
import { disagreements, endsInDust } from './agreement.ts';
import { type Case, cases, manyPairs, onePair, withDetail } from './arbitraries.ts';
import { GOLDEN } from './golden.ts';
import { runOracle } from './oracle.ts';
import { pairInputOf, settingsOf } from './translate.ts';

function compare(run: typeof simulate, { markets, rules }: Case): string[] {
  const oracle = runOracle(markets, rules);
  fc.pre(!endsInDust(oracle));
  return disagreements(run(markets.map(pairInputOf), settingsOf(rules, markets)), oracle, rules);
}

describe.each([
  ['simulate', simulate],
  ['simulateLoop', simulateLoop],
] as const)('%s and the oracle', (_, run) => {
  it.each(GOLDEN)('agree on $name', ({ market, rules }) => {
    expect(compare(run, { markets: [market], rules })).toEqual([]);
  });

  it.each([
    ['one pair', onePair],
    ['many pairs', manyPairs],
    ['detail candles', withDetail],
  ])('agree on random %s', (_name, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, (drawn) => {
        expect(compare(run, drawn)).toEqual([]);
      }),
      cases(400),
    );
  });
});
