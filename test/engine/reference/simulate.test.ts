import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { simulate } from '#engine/simulator/simulate.ts';
import { disagreements, endsInDust } from './agreement.ts';
import {
  type Case,
  cases,
  manyPairs,
  onePair,
  withAdjustments,
  withDetail,
  withOrders,
} from './random-markets.ts';
import { GOLDEN } from './reference-scenarios.ts';
import { runReference } from './simulator.ts';
import { pairInputOf, settingsOf } from './translate.ts';

function compare({ markets, rules }: Case): string[] {
  const reference = runReference(markets, rules);
  const engine = simulate(markets.map(pairInputOf), settingsOf(rules, markets));
  fc.pre(!endsInDust(reference, engine));
  return disagreements(engine, reference, rules);
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
    ['additions and partial exits', withAdjustments],
  ])('simulate equals the reference on random %s', (_name, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, (drawn) => {
        expect(compare(drawn)).toEqual([]);
      }),
      cases(400),
    );
  });
});
