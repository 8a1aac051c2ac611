import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { simulate } from '#engine/simulator/simulate.ts';
import { disagreements, endsInDust } from './agreement.ts';
import { type Case, cases, manyPairs, onePair, withDetail, withOrders } from './random-markets.ts';
import { GOLDEN } from './reference-scenarios.ts';
import { runReference } from './simulator.ts';
import { pairInputOf, settingsOf } from './translate.ts';

function compare({ markets, rules }: Case): string[] {
  const reference = runReference(markets, rules);
  fc.pre(!endsInDust(reference));
  return disagreements(simulate(markets.map(pairInputOf), settingsOf(rules, markets)), reference, rules);
}

describe('simulate and the reference implementation', () => {
  it.each(GOLDEN)('simulate equals the reference on $name', ({ market, rules }) => {
    expect(compare({ markets: [market], rules })).toEqual([]);
  });

  it.each([
    ['one pair', onePair],
    ['many pairs', manyPairs],
    ['detail candles', withDetail],
    ['limit orders', withOrders],
  ])('simulate equals the reference on random %s', (_name, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, (drawn) => {
        expect(compare(drawn)).toEqual([]);
      }),
      cases(400),
    );
  });
});
