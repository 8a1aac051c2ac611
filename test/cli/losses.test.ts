import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platformFixture } from './platform-fixture.ts';

/** Candles of one's own, traded by given signals from a terminal: what leverage may lose, and what a slot that frees later earns. */

type Row = readonly [open: number, high: number, low: number, close: number];

const HOUR = 3_600_000;
const START = Date.UTC(2025, 2, 3);
const flat = (price: number): Row => [price, price, price, price];
const BEFORE = [flat(100), flat(100)];
const CHAIN: Row[] = [flat(100), [100, 145, 100, 145], flat(145)];

/** Candles by pair; the signal is in the first one. */
const CANDLES: Record<string, readonly Row[]> = {
  GAP: [...BEFORE, [80, 81, 79, 80], flat(80)],
  RETURN: [...BEFORE, [80, 120, 79, 119], flat(119)],
  SHORT: [...BEFORE, [120, 121, 80, 81], flat(81)],
  // The liquidation of a long at 10x is at 90.93, its stop of -99 % at 90.1.
  BOTH: [...BEFORE, [100, 100, 90, 92], flat(92)],
  ...Object.fromEntries(['C1', 'C2', 'C3', 'C4', 'C5', 'C6'].map((name) => [name, CHAIN])),
};
const pairOf = (name: string) => `${name}/USDT:USDT`;

const folder = mkdtempSync(join(tmpdir(), 'touchstone-losses-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const touchstone = platformFixture('touchstone-losses-home-', {}, async () => undefined);
const signals = join(folder, 'signals.csv');

beforeAll(async () => {
  mkdirSync(join(folder, 'candles'));
  for (const [name, rows] of Object.entries(CANDLES)) {
    const lines = rows.map((row, index) => [START + index * HOUR, ...row, 1].join());
    writeFileSync(
      join(folder, `candles/${name}_USDT_USDT-1h.csv`),
      `timestamp_ms,open,high,low,close,volume\n${lines.join('\n')}\n`,
    );
  }
  const { code, err } = await touchstone('import', join(folder, 'candles'), '--exchange', 'binanceusdm');
  expect(code, err).toBe(0);
});

async function backtest(names: readonly string[], ...options: readonly string[]) {
  const start = new Date(START).toISOString();
  const entries = names.map((name) => `${start},${pairOf(name)},${name === 'SHORT' ? ',1' : '1,'}`);
  writeFileSync(signals, `timestamp,pair,enter_long,enter_short\n${entries.join('\n')}\n`);
  const market = `backtest --exchange binanceusdm --offline --json --precision none --timeframe 1h --start ${start}`;
  const account = '--fee 0 --wallet 1000 --stake 100';
  const run = await touchstone(
    ...`${market} ${account}`.split(' '),
    '--signals',
    signals,
    '--pairs',
    names.map(pairOf).join(),
    ...options,
  );
  expect([run.code, run.err]).toEqual([0, expect.any(String)]);
  const { report } = JSON.parse(run.out);
  const trades = (await touchstone('trades', 'last', '--json')).out;
  return { report, trades: JSON.parse(trades).items };
}

describe.each(['freqtrade', 'conservative'])('losses with fill model %s', (model) => {
  it('isolated margin loses its collateral at most', async () => {
    const names = ['GAP', 'RETURN', 'SHORT', 'BOTH'];
    const { report, trades } = await backtest(names, '--fill-model', model, '--leverage', '10');
    const results = trades.map((trade: any) => [trade.pair, trade.exit_reason, trade.profit]);
    expect(results.sort()).toEqual([
      [pairOf('BOTH'), 'liquidation', expect.closeTo(-90.70351759, 8)],
      [pairOf('GAP'), 'liquidation', -100],
      [pairOf('RETURN'), 'liquidation', -100],
      [pairOf('SHORT'), 'liquidation', -100],
    ]);
    expect(JSON.stringify(report.biases)).toContain(
      'A trade loses at most its collateral, fees and funding inside.',
    );
  });

  it('cross margin loses the account at most', async () => {
    const options = ['--fill-model', model, '--leverage', '10', '--margin-mode', 'cross', '--stake', '900'];
    // The open is beyond the stop of -99 % too, which closes the trade as freqtrade orders them.
    const { trades } = await backtest(['GAP'], ...options);
    expect(trades).toMatchObject([{ exit_reason: 'stop_loss', profit: -1000 }]);
  });
});

it('entries on a slot that frees later in the candle are counted, with what they earned', async () => {
  const names = ['C1', 'C2', 'C3', 'C4', 'C5', 'C6'];
  const options = ['--stake', 'unlimited', '--max-open-trades', '1', '--roi', '0=0.4'];
  const { report } = await backtest(names, ...options);
  expect(report.fill_model).toMatchObject({ freed_later_entries: 5, unmatched_trades: 5 });
  // 7,401.37671921 of freqtrade, less the 1,396 that the first trade alone ends with.
  expect(report.fill_model.freed_later_profit).toBeCloseTo(6005.37671921, 6);
});
