import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { simulate } from '#engine/simulator/simulate.ts';
import { disagreements, endsInDust } from './agreement.ts';
import { type Case, cases, manyPairs, onePair, withDetail } from './arbitraries.ts';
import { GOLDEN } from './golden.ts';
import { runOracle } from './oracle.ts';
import { pairInputOf, settingsOf } from './translate.ts';

function compare({ markets, rules }: Case): string[] {
  const oracle = runOracle(markets, rules);
  fc.pre(!endsInDust(oracle));
  return disagreements(simulate(markets.map(pairInputOf), settingsOf(rules, markets)), oracle, rules);
}

describe('simulate and the reference implementation', () => {
  it.each(GOLDEN)('agree on $name', ({ market, rules }) => {
    expect(compare({ markets: [market], rules })).toEqual([]);
  });

  it.each([
    ['one pair', onePair],
    ['many pairs', manyPairs],
    ['detail candles', withDetail],
  ])('agree on random %s', (_name, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, (drawn) => {
        expect(compare(drawn)).toEqual([]);
      }),
      cases(400),
    );
  });
});
