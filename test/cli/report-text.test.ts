import { expect, it } from 'vitest';
import { fillModelRows, locksText, tiersLines, warningLines } from '../../bin/cli/reports/report-text.ts';

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
    without(btc),
    jump(btc, 11.2),
    without(eth),
    jump(pepe, 25.5),
    without(pepe),
    without(eth),
    `${btc} and ${eth} are left out.`,
    `${eth} and ${pepe} are left out.`,
    'Another one, of no pair.',
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

it('fillModelRows compares the trades of both models, and has only the profit of a report that lacks the rest', () => {
  const old = {
    used: 'freqtrade',
    alternative: 'conservative',
    differing_trades: 3,
    alternative_trades: 1,
    alternative_total_profit: 396,
    alternative_total_profit_pct: 39.6,
  } as const;
  const profit = ['Profit with fill model conservative', '39.60 %'];
  expect(fillModelRows(old)).toEqual([profit]);
  const report = {
    ...old,
    differing_trades: 0,
    shifted_trades: 2,
    unmatched_trades: 5,
    freed_later_entries: 5,
    freed_later_profit: 6005.38,
    freed_later_profit_pct: 600.538,
  };
  expect(fillModelRows(report)).toEqual([
    profit,
    ['Trades with another exit / shifted / unmatched', '0 / 2 / 5'],
    ['Entries on what is freed later in the candle', '5, which earned 600.54 %'],
  ]);
  expect(fillModelRows({ ...report, freed_later_entries: 0 }).at(-1)).toEqual([
    'Entries on what is freed later in the candle',
    '0',
  ]);
});

it('locksText states of how many locks the counts are', () => {
  const lock = (method: string) => ({ reason: `${method}: a reason` });
  const newest = ['CooldownPeriod', 'MaxDrawdown', 'CooldownPeriod'].map(lock);
  const text = (total: number) => locksText({ total, newest } as unknown as Parameters<typeof locksText>[0]);
  expect(text(3)).toBe('Locks by protections: 3, CooldownPeriod 2, MaxDrawdown 1');
  expect(text(1200)).toBe('Locks by protections: 1,200, of the newest 3 CooldownPeriod 2, MaxDrawdown 1');
  expect(locksText({ total: 0, newest: [] })).toBe('Locks by protections: 0');
});
