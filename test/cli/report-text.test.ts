import { expect, it } from 'vitest';
import { tiersLines } from '../../bin/cli/report-text.ts';

it('tiersLines names the pairs with leverage tiers, their number and their source', () => {
  type Data = Parameters<typeof tiersLines>[0];
  const data = [
    { pair: 'BTC/USDT:USDT', leverage_tiers: { count: 12, source: 'import' } },
    { pair: 'ETH/USDT:USDT' },
    { pair: 'SOL/USDT:USDT', leverage_tiers: { count: 5, source: 'exchange' } },
  ] as Data;
  expect(tiersLines(data)).toEqual(['Leverage tiers: BTC/USDT:USDT 12 (import), SOL/USDT:USDT 5 (exchange)']);
  expect(tiersLines(data.slice(1, 2))).toEqual([]);
});
