import { expect, it } from 'vitest';
import { tiersLines, warningLines } from '../../bin/cli/report-text.ts';

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

it('warningLines is one line for each reason, with the pairs', () => {
  const without = (pair: string) =>
    `No funding rates of ${pair} are stored between 2026-01-01T00:00:00.000Z and 2026-01-09T00:00:00.000Z: no funding is paid or received in that interval.`;
  const jump = (pair: string, pct: number) =>
    `The price of ${pair} jumps by ${pct.toFixed(1)} % between a close and the next open.`;
  const [btc, eth, pepe] = ['BTC/USDT:USDT', 'ETH/USDT:USDT', '1000PEPE/USDT:USDT'];
  const warnings = [
    ...[without(btc), jump(btc, 11.2), without(eth), jump(pepe, 25.5), without(pepe), without(eth)],
    ...[`${btc} and ${eth} are left out.`, `${eth} and ${pepe} are left out.`, 'Another one, of no pair.'],
    'ETH/USDT ends before the range.',
  ];
  expect(warningLines({ status: 'completed', collection: null, warnings })).toEqual([
    `Warning: ${without(btc)} The same for ${eth}, ${pepe}.`,
    `Warning: ${jump(btc, 11.2)} The same, with other values, for ${pepe}.`,
    `Warning: ${btc} and ${eth} are left out.`,
    `Warning: ${eth} and ${pepe} are left out.`,
    'Warning: Another one, of no pair.',
    'Warning: ETH/USDT ends before the range.',
  ]);
});
