import { describe, expect, it } from 'vitest';
import { NO_TAG } from '#contract/values/backtest-limits.ts';
import { tradeMetrics } from '#engine/metrics/trade-metrics.ts';
import { buildTables, TOTAL } from '#engine/report/tables.ts';
import { columnsOf, lengthOf, trade } from '../metrics/samples.ts';

const BTC = 'BTC/USDT:USDT';
const ETH = 'ETH/USDT:USDT';
const SOL = 'SOL/USDT:USDT';

const TRADES = [
  trade(20, 1, { pair: BTC, enterTag: 'cross', exitReason: 'roi' }),
  trade(-10, 2, { pair: ETH, enterTag: 'cross', exitReason: 'stop_loss', side: 'short' }),
  trade(30, 3, { pair: ETH, enterTag: 'dip', exitReason: 'roi' }),
  trade(-25, 4, { pair: BTC, enterTag: null, exitReason: 'stop_loss' }),
  trade(-5, 5, { pair: ETH, enterTag: 'dip', exitReason: 'force_exit', leftOpen: true }),
];

const tablesOf = (trades: typeof TRADES, pairs: string[]) => {
  const columns = columnsOf(trades);
  return buildTables(pairs, 1000, {
    trades: columns,
    length: lengthOf(40),
    total: tradeMetrics(columns, 1000, lengthOf(40)),
  });
};
const tables = tablesOf(TRADES, [BTC, ETH, SOL]);
const summary = (rows: (typeof tables)['per_pair']) =>
  rows.map((row) => [row.key, row.total_trades, row.total_profit]);

describe('buildTables', () => {
  it('per_pair is sorted by profit, includes pairs without trades and ends with the total', () => {
    expect(summary(tables.per_pair)).toEqual([
      [ETH, 3, 15],
      [SOL, 0, 0],
      [BTC, 2, -5],
      [TOTAL, 5, 10],
    ]);
  });

  it('per_exit_reason merges the smallest groups beyond 199 into OTHERS', () => {
    const trades = Array.from({ length: 500 }, (_, i) =>
      trade(1, i + 1, { pair: BTC, exitReason: `reason ${Math.max(0, i - 9)}` }),
    );
    const rows = summary(tablesOf(trades, [BTC]).per_exit_reason);
    expect(rows).toHaveLength(201);
    expect(rows).toContainEqual(['reason 0', 10, 10]);
    expect(rows).toContainEqual(['OTHERS', 500 - 10 - 198, 500 - 10 - 198]);
    expect(rows.at(-1)).toEqual([TOTAL, 500, 500]);
  });

  it('OTHERS includes trades whose exit reason is OTHERS', () => {
    const trades = Array.from({ length: 500 }, (_, i) =>
      trade(1, i + 1, { pair: BTC, exitReason: i < 20 ? 'OTHERS' : `reason ${i}` }),
    );
    expect(summary(tablesOf(trades, [BTC]).per_exit_reason)).toContainEqual(['OTHERS', 500 - 199, 500 - 199]);
  });

  it('per_enter_tag groups by tag', () => {
    expect(summary(tables.per_enter_tag)).toEqual([
      ['dip', 2, 25],
      ['cross', 2, 10],
      [NO_TAG, 1, -25],
      [TOTAL, 5, 10],
    ]);
  });

  it('per_exit_reason groups by reason', () => {
    expect(summary(tables.per_exit_reason)).toEqual([
      ['roi', 2, 50],
      ['force_exit', 1, -5],
      ['stop_loss', 2, -35],
      [TOTAL, 5, 10],
    ]);
  });

  it('per_enter_tag_and_exit_reason groups by both', () => {
    expect(summary(tables.per_enter_tag_and_exit_reason)).toEqual([
      ['dip / roi', 1, 30],
      ['cross / roi', 1, 20],
      ['dip / force_exit', 1, -5],
      ['cross / stop_loss', 1, -10],
      [`${NO_TAG} / stop_loss`, 1, -25],
      [TOTAL, 5, 10],
    ]);
  });

  it('per_side always has both sides', () => {
    expect(summary(tables.per_side)).toEqual([
      ['long', 4, 20],
      ['short', 1, -10],
      [TOTAL, 5, 10],
    ]);
  });

  it('left_open contains and totals only open trades', () => {
    expect(summary(tables.left_open)).toEqual([
      [ETH, 1, -5],
      [TOTAL, 1, -5],
    ]);
  });

  it('row columns cover only the trades of the row', () => {
    expect(tables.per_pair[0]).toMatchObject({
      winning_trades: 1,
      losing_trades: 2,
      total_profit_pct: 1.5,
      profit_factor: 2,
      expectancy: 5,
      closed_trade_max_drawdown_abs: 10,
      avg_duration_minutes: 60,
    });
    // mean(q) = (-0.1 + 0.3 - 0.05) / 3
    expect(tables.per_pair[0]!.profit_mean_pct).toBeCloseTo(5, 12);
    expect(tables.per_pair[1]).toMatchObject({ win_rate: null, profit_factor: null, cagr_pct: 0 });
  });

  it('tables without trades contain only the total', () => {
    const empty = tablesOf([], [BTC]);
    expect(summary(empty.per_exit_reason)).toEqual([[TOTAL, 0, 0]]);
    expect(summary(empty.left_open)).toEqual([[TOTAL, 0, 0]]);
  });
});
