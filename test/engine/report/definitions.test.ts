import { describe, expect, it } from 'vitest';
import { runBacktest } from '#engine/backtest.ts';
import { tradeRecord } from '#engine/report/trades.ts';
import { CONFIG, SAMPLE_STRATEGY, STARTUP, STEP, sampleInput, sha256 } from '../backtest-sample.ts';
import { START, walk } from '../run/candles.ts';
import { learningInput } from '../walk-forward/sample.ts';

/** Run with limit entries, leverage, funding, slippage and both sides, so that every report field occurs. */
const sample = sampleInput({
  strategy: {
    ...SAMPLE_STRATEGY,
    callbacks: { customEntryPrice: ({ index }, _side, proposed) => proposed * (index % 2 ? 1 : 0.999) },
  },
});
const { report, table } = runBacktest(sample, { digest: sha256 });
const withModels = runBacktest(learningInput({ days: 3 }), { digest: sha256 }).report;
const modelled = runBacktest(
  {
    ...sample,
    config: { ...CONFIG, slippage_model: { spread: 'edge', spread_days: 3, participation: 0.5 } },
  },
  { digest: sha256 },
).report;
/** Long enough for every part of its robustness. */
const long = runBacktest(
  sampleInput({
    config: {
      ...CONFIG,
      // Crises of the market are in real candles only.
      exchange: 'binanceusdm',
      timeframe: '4h',
      stoploss: -0.2,
      leverage: 1,
      trailing: null,
      minimal_roi: { 0: 0.1 },
      date_range: { start: '2024-01-01T00:00:00.000Z', end: '2024-08-20T00:00:00.000Z' },
    },
    pairs: CONFIG.pairs.map((pair, i) => ({
      pair,
      candles: walk(1_392 + STARTUP, 48 * STEP, i + 1, START - STARTUP * 48 * STEP),
    })),
  }),
  { digest: sha256 },
).report;
const items = Array.from({ length: table.length }, (_, row) => tradeRecord(table, row, row + 1));

describe('report definitions', () => {
  it.each([
    ['', report],
    [' of 200 days', long],
    [' with models', withModels],
    [' with a slippage model', modelled],
  ])('definitions cover every number of a report%s', (_, each) => {
    const { settings, definitions, notation, provenance, schema_version, ...parts } = each;
    const unexplained = new Set<string>();
    const visit = (part: string, value: unknown, key: string): void => {
      if (Array.isArray(value)) for (const each of value) visit(part, each, key);
      else if (typeof value === 'object' && value !== null) {
        // The quantiles of a field have its definition.
        const isQuantiles = 'median' in value && 'high' in value;
        for (const [name, each] of Object.entries(value)) visit(part, each, isQuantiles ? key : name);
      } else if (typeof value === 'number' && !definitions[`${part}.${key}`] && !definitions[key]) {
        unexplained.add(`${part}.${key}`);
      }
    };
    for (const [part, value] of Object.entries(parts)) visit(part, value, part);
    for (const trade of items) visit('trades', trade, 'trades');
    expect([...unexplained]).toEqual([]);
  });

  it('definitions name only fields that a report has', () => {
    const text = JSON.stringify([report, long.robustness, withModels.models, items]);
    for (const name of Object.keys(withModels.definitions)) {
      expect(text).toContain(`"${name.split('.').at(-1)}":`);
    }
  });

  it('trade definitions reproduce fees, profit and amount from the fields', () => {
    expect(new Set(items.map(({ side }) => side)).size).toBe(2);
    for (const trade of items) {
      const { amount, entry_price, exit_price, leverage, stake } = trade;
      const sign = trade.side === 'long' ? 1 : -1;
      const fees = CONFIG.fee * amount * (entry_price + exit_price);
      const profit = amount * (exit_price - entry_price) * sign - fees + trade.funding;
      expect(trade.fees).toBeCloseTo(fees, 9);
      expect(trade.profit).toBeCloseTo(profit, 7);
      expect(amount).toBeCloseTo((stake * leverage) / entry_price, 9);
      const own = (profit * leverage) / (amount * entry_price * (1 + sign * CONFIG.fee));
      expect(trade.profit_pct).toBeCloseTo(own * 100, 4);
    }
  });

  it('exposure definitions reproduce exposure and open trades from the trades', () => {
    const { first_candle, last_candle } = report.settings;
    const candles = (Date.parse(last_candle) - Date.parse(first_candle)) / STEP;
    const open = new Array(candles + 1).fill(0);
    for (const { pair, opened_at, closed_at, entry_price } of items) {
      const [ordered, to] = [opened_at, closed_at].map(
        (time) => (Date.parse(time) - Date.parse(first_candle)) / STEP,
      );
      const { candles: all } = sample.pairs.find((each) => each.pair === pair)!;
      // A limit order opens a trade when a candle contains its price. Others are market orders at a slipped open.
      const isFilled = (row: number) => {
        const at = row + STARTUP;
        const holds = all.low[at]! <= entry_price && entry_price <= all.high[at]!;
        return holds || Math.abs(entry_price / all.open[at]! - 1) < 1.01 * CONFIG.slippage;
      };
      let from = ordered!;
      while (!isFilled(from)) from++;
      for (let row = from; row < to!; row++) open[row]++;
    }
    expect(open[0]).toBe(0);
    const { exposure_pct, avg_open_trades } = report.metrics.activity;
    expect(exposure_pct).toBeCloseTo((open.filter((count) => count > 0).length / candles) * 100, 8);
    expect(avg_open_trades).toBeCloseTo(open.reduce((sum, count) => sum + count, 0) / candles, 8);
  });
});
