import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { strategyFilesFixture, weekOf } from './strategy-files-fixture.ts';

/** The strategy of the section "Example" in docs/account.md. */
const SOURCE = /```ts\n([^`]+name: 'my_limits'[^`]+)```/.exec(
  readFileSync(new URL('../../docs/account.md', import.meta.url), 'utf8'),
)![1]!;

/** The same with an entry signal in every candle of a rise. */
const STACKING = SOURCE.replace("name: 'my_limits'", "name: 'my_stack'").replace(
  'crossedAbove(fast, slow)',
  'Uint8Array.from(fast, (value, row) => Number(value > slow[row]))',
);

const range = { start: '2026-01-01T00:00:00Z', end: '2026-03-08T00:00:00Z' };

describe('account and orders', () => {
  const fixture = strategyFilesFixture({ 'my_limits.ts': SOURCE, 'my_stack.ts': STACKING });

  const run = async (options: object = {}, strategy = 'my_limits') => {
    const { platform } = fixture;
    const { job_id } = await platform.run({ ...weekOf(strategy), date_range: range, ...options });
    const path = `/api/v1/backtests/${job_id}`;
    const [report, list] = await Promise.all([
      platform.get(`${path}/report-data?trades=false`),
      platform.get(`${path}/trades?limit=5000`),
    ]);
    return { report: report.body, trades: list.body.items };
  };

  it('a strategy declares order types and timeouts, and a request replaces them', async () => {
    const [own, patient, limits, all] = await Promise.all([
      run(),
      run({ unfilled_timeout: { entry: 10_000 } }),
      run({ order_types: { exit: 'limit' } }),
      run({ order_types: { entry: 'market' }, tradable_balance_ratio: 0.5 }),
    ]);
    expect(own.report.warnings).toContain(
      'ignoreEntryAfterCandles of the strategy has no effect without config.timeframe_detail',
    );
    expect(own.report.settings).toMatchObject({
      order_types: { entry: 'limit', exit: 'market' },
      unfilled_timeout: { entry: 121, exit: 10 },
      unfilled_timeout_minutes: 121,
      tradable_balance_ratio: 0.99,
    });
    expect(own.report.counters.timed_out_entries).toBeGreaterThan(0);
    expect(patient.report.counters.timed_out_entries).toBe(0);
    expect(patient.trades.length).toBeGreaterThan(own.trades.length);
    expect(own.report.counters.timed_out_exits).toBe(0);
    expect(limits.report.settings).not.toHaveProperty('order_types');
    expect(limits.report.counters.timed_out_exits).toBeGreaterThan(0);
    expect(all.report.counters.timed_out_entries).toBe(0);
    expect(all.report.settings.tradable_balance_ratio).toBe(0.5);
  });

  it('a stake beyond the capital makes no trade, unless the last stake may be lowered', async () => {
    const capital = { available_capital: 50 };
    const [none, amended] = await Promise.all([
      run(capital),
      run({ ...capital, amend_last_stake_amount: true, last_stake_amount_min_ratio: 0.3 }),
    ]);
    expect(none.trades).toEqual([]);
    expect(none.report.warnings).toContain(
      'No trades: the stake of 100 exceeds the tradable balance of 50 (available_capital).',
    );
    expect(amended.trades[0].stake).toBe(50);
    expect(amended.report.settings).toMatchObject({ ...capital, last_stake_amount_min_ratio: 0.3 });
  });

  it('a pair has several trades at a time with stacking, and the account as margin', async () => {
    const options = { position_stacking: true, max_open_trades: 3, margin_mode: 'cross', leverage: 5 };
    const { report, trades } = await run({ ...options, order_types: { entry: 'market' } }, 'my_stack');
    const isOpen = (trade: { opened_at: string; closed_at: string }, at: string) =>
      trade.opened_at < at && trade.closed_at > at;
    const most = Math.max(
      ...trades.map(
        (trade: { opened_at: string }) =>
          trades.filter((each: { opened_at: string; closed_at: string }) => isOpen(each, trade.opened_at))
            .length,
      ),
    );
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(3);
    expect(report.settings).toMatchObject(options);
    expect(JSON.stringify(report.biases)).toContain('A pair may have several open trades');
  });
});
