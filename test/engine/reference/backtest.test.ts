import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { type BacktestOutcome, runBacktest } from '#engine/backtest.ts';
import type { Candles } from '#engine/candles.ts';
import type { PairData } from '#engine/run/history.ts';
import { defineStrategy, type RoiTable, type StrategyDefinition } from '#engine/strategy.ts';
import type { Timeframe } from '#engine/timeframe.ts';
import { endsInDust } from './agreement.ts';
import { balanceFamily, equityResource } from './balance-family.ts';
import { type Case, cases, manyPairs, NO_SIGNALS } from './random-markets.ts';
import { runReference } from './simulator.ts';
import { type ClosedTrade, tradeFamily } from './trade-family.ts';
import { candlesOf, pairInputOf } from './translate.ts';
import type { Bar, Market, Outcome, ReferenceTrade, Rules, Signals } from './types.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const TIMEFRAMES: Readonly<Record<number, Timeframe>> = { 5: '5m', 60: '1h', 1440: '1d' };
const TAGS = ['', 'first', 'second', 'left'];

/** Encodes signals in the volume, so that they are a function of the candles only. */
function volumeOf({ enterLong, exitLong, enterShort, exitShort, enterTag, exitTag }: Signals): number {
  const bits = Number(enterLong) + 2 * Number(exitLong) + 4 * Number(enterShort) + 8 * Number(exitShort);
  return bits + 16 * TAGS.indexOf(enterTag ?? '') + 64 * TAGS.indexOf(exitTag ?? '');
}

function speakingCandles(market: Market): Candles {
  const candles = candlesOf(market.bars);
  market.signals.forEach((said, row) => {
    candles.volume[row] = volumeOf(said);
  });
  return candles;
}

function strategyOf(rules: Rules, startup: number): StrategyDefinition {
  return defineStrategy({
    name: 'scripted',
    description: 'Does what the volume says.',
    timeframe: '1h',
    pairs: [],
    stakeAmount: 100,
    parameters: {},
    startupCandles: () => startup,
    indicators: () => ({}),
    signals: ({ volume }) => {
      const bit = (mask: number) => Uint8Array.from(volume, (said) => (said & mask ? 1 : 0));
      return {
        enterLong: bit(1),
        exitLong: bit(2),
        enterShort: bit(4),
        exitShort: bit(8),
        enterTag: Uint8Array.from(volume, (said) => (said >> 4) & 3),
        exitTag: Uint8Array.from(volume, (said) => (said >> 6) & 3),
        tags: TAGS,
      };
    },
    stoploss: -0.5,
    canShort: rules.canShort,
    useExitSignal: rules.useExitSignal,
    exitProfitOnly: rules.exitProfitOnly,
    exitProfitOffset: rules.exitProfitOffset,
    ignoreRoiIfEntrySignal: rules.ignoreRoiIfEntrySignal,
  });
}

function configOf(
  rules: Rules,
  pairs: readonly string[],
  start: number,
  end: number,
): ResolvedBacktestConfig {
  const { trailing } = rules;
  return {
    strategy: 'scripted',
    exchange: 'sim',
    pairs: [...pairs],
    timeframe: TIMEFRAMES[rules.timeframeMinutes] as Timeframe,
    date_range: { start: new Date(start).toISOString(), end: new Date(end).toISOString() },
    stake_amount: rules.stake,
    dry_run_wallet: rules.wallet,
    max_open_trades: Number.isFinite(rules.maxOpenTrades) ? rules.maxOpenTrades : 0,
    fee: rules.fee,
    slippage: rules.slippage,
    leverage: rules.leverage,
    params: {},
    stoploss: -rules.stoploss,
    minimal_roi: Object.fromEntries(rules.roi) as RoiTable,
    trailing: trailing
      ? {
          ...(trailing.positive !== undefined && { positive: trailing.positive }),
          offset: trailing.offset,
          only_offset_is_reached: trailing.onlyOffset,
        }
      : null,
    timeframe_detail: null,
    fill_model: 'freqtrade',
    precision: 'none',
    seed: 0,
  };
}

interface Run extends Case {
  /** Number of candles before the run that the strategy requires. */
  startup: number;
  /** Minutes from the first candle to the start of the range, and from its end to the last candle. */
  late: number;
  early: number;
  /** Every n-th candle is missing from the data; 0 for none. */
  gap: number;
}

const runs: fc.Arbitrary<Run> = fc
  .record({
    drawn: manyPairs,
    startup: fc.nat(3),
    late: fc.nat(4),
    early: fc.nat(4),
    offGrid: fc.constantFrom(0, 0, 1),
    gap: fc.constantFrom(0, 0, 3, 7),
  })
  .map(({ drawn: { markets, rules }, startup, late, early, offGrid, gap }) => ({
    markets: markets.map(({ customStop: _, ...market }) => market),
    // Rules that a run's configuration does not contain.
    rules: { ...rules, hasCustomStop: false, tradableBalanceRatio: 0.99, liquidationBuffer: 0.05 },
    startup,
    late: late * rules.timeframeMinutes + offGrid,
    early: early * rules.timeframeMinutes + offGrid,
    gap,
  }));

const isGap = (row: number, run: Run): boolean => run.gap > 0 && row % run.gap === run.gap - 1;

/** Stored data, with gaps. */
function dataOf(market: Market, run: Run): PairData {
  const rows = market.bars.map((_, row) => row).filter((row) => !isGap(row, run));
  const bars = rows.map((row) => market.bars[row] as Bar);
  const signals = rows.map((row) => market.signals[row] as Signals);
  const { funding } = pairInputOf(market);
  return {
    pair: market.pair,
    candles: speakingCandles({ ...market, bars, signals }),
    ...(funding && { funding }),
  };
}

/** Traded part of a pair: inside the range, gaps filled flat, startup candles removed (docs/simulation.md#candles-and-clock). */
function tradedOf(market: Market, run: Run, start: number, end: number): Market {
  const step = run.rules.timeframeMinutes * MINUTE;
  const from = Math.ceil(start / step) * step - run.startup * step;
  const bars: Bar[] = [];
  const signals: Signals[] = [];
  const stored = market.bars.map((bar, row) => ({ bar, said: market.signals[row] as Signals, row }));
  const read = stored.filter(({ bar, row }) => bar.time >= from && bar.time < end && !isGap(row, run));
  for (const { bar, said } of read) {
    const before = bars.at(-1);
    for (let time = (before?.time ?? bar.time) + step; time < bar.time; time += step) {
      const { close } = before as Bar;
      bars.push({ time, open: close, high: close, low: close, close });
      signals.push(NO_SIGNALS);
    }
    bars.push(bar);
    signals.push(said);
  }
  const inRange = bars.findIndex(({ time }) => time >= start);
  const cut = Math.max(run.startup, inRange < 0 ? bars.length : inRange);
  return { ...market, bars: bars.slice(cut), signals: signals.slice(cut) };
}

const closedOf = (trades: readonly ReferenceTrade[]): ClosedTrade[] =>
  trades.map(({ profit, ratio, openTime, closeTime }) => ({ profit, ratio, openTime, closeTime }));

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** Expects equality to 8 digits, or within the rounding of profits for small numbers. */
function close(actual: number | null, expected: number | null, name: string): void {
  if (actual === null || expected === null) {
    expect({ [name]: actual }).toEqual({ [name]: expected });
    return;
  }
  const bound = 2e-6 + 1e-8 * Math.max(Math.abs(actual), Math.abs(expected));
  expect(Math.abs(actual - expected), `${name}: ${actual}, expected ${expected}`).toBeLessThanOrEqual(bound);
}

interface Expected {
  reference: Outcome;
  traded: Market[];
  rules: Rules;
  days: number;
  points: { time: number; value: number }[];
}

function expectedOf(run: Run, traded: Market[]): Expected {
  const { rules } = run;
  const reference = runReference(traded, rules);
  const first = Math.min(...traded.map(({ bars }) => (bars[0] as Bar).time));
  const last = Math.max(...traded.map(({ bars }) => (bars.at(-1) as Bar).time));
  return {
    reference,
    traded,
    rules,
    days: Math.max(1, Math.floor((last - first) / DAY)),
    points: [{ time: first, value: rules.wallet }, ...reference.equity],
  };
}

function checkNine({ result }: BacktestOutcome, { reference, rules, days, points }: Expected): void {
  const family = tradeFamily(closedOf(reference.trades), rules.wallet, days);
  const balance = balanceFamily(points, rules.wallet, days);
  const wins = reference.trades.filter(({ profit }) => profit > 0).length;
  const losses = reference.trades.filter(({ profit }) => profit < 0).length;
  expect(result.total_trades).toBe(reference.trades.length);
  expect(result.winning_trades).toBe(wins);
  expect(result.losing_trades).toBe(losses);
  close(result.total_profit, family.profitTotal, 'total_profit');
  close(result.total_profit_pct, family.profitTotalRatio * 100, 'total_profit_pct');
  close(result.profit_factor, family.profitFactor ?? (wins > 0 ? 999 : 0), 'profit_factor');
  close(result.win_rate, (family.winRate ?? 0) * 100, 'win_rate');
  close(result.max_drawdown_pct, balance.daily.share * 100, 'max_drawdown_pct');
  close(result.final_balance, reference.finalBalance, 'final_balance');
  // A deviation caused by rounding is not comparable.
  if ((balance.volatility ?? 0) > 1e-5) close(result.sharpe_ratio, balance.sharpe ?? 0, 'sharpe_ratio');
  for (const value of Object.values(result).slice(0, 9)) expect(Number.isFinite(value)).toBe(true);
}

function checkEquity({ equity, result }: BacktestOutcome, { points, rules }: Expected): void {
  const resource = equityResource(points, rules.wallet);
  expect(equity.dates).toEqual(resource.dates);
  resource.equity.forEach((value, i) => {
    close(equity.equity[i] as number, value, `equity on ${equity.dates[i]}`);
    close(equity.drawdown[i] as number, resource.drawdown[i] as number, `drawdown on ${equity.dates[i]}`);
  });
  expect(Object.keys(equity.monthly_returns)).toEqual(Object.keys(resource.monthly));
  for (const [month, value] of Object.entries(resource.monthly)) {
    close(equity.monthly_returns[month] as number, value, `return of ${month}`);
  }
  expect(result.max_drawdown_pct).toBeCloseTo(Math.max(...equity.drawdown.map((each) => -each)), 9);
}

type Row = BacktestOutcome['report']['tables']['per_pair'][number];

function checkTable(
  rows: readonly Row[],
  keyOf: (trade: ReferenceTrade) => string,
  expected: Expected,
): void {
  const { reference, rules, days } = expected;
  expect(rows.at(-1)?.key).toBe('TOTAL');
  const grouped = Map.groupBy(reference.trades, keyOf);
  expect(rows.filter(({ total_trades }) => total_trades > 0)).toHaveLength(
    grouped.size + (reference.trades.length > 0 ? 1 : 0),
  );
  for (const row of rows) {
    const trades = row.key === 'TOTAL' ? reference.trades : (grouped.get(row.key) ?? []);
    const family = tradeFamily(closedOf(trades), rules.wallet, days);
    const minutes = trades.map(({ openTime, closeTime }) => (closeTime - openTime) / MINUTE);
    expect(row.total_trades, row.key).toBe(trades.length);
    expect(row.draws, row.key).toBe(trades.filter(({ profit }) => profit === 0).length);
    close(row.total_profit, family.profitTotal, `${row.key} total_profit`);
    close(row.profit_sum_pct, 100 * sum(trades.map(({ ratio }) => ratio)), `${row.key} profit_sum_pct`);
    close(row.win_rate, family.winRate === null ? null : family.winRate * 100, `${row.key} win_rate`);
    close(
      row.avg_duration_minutes,
      trades.length === 0 ? null : sum(minutes) / trades.length,
      `${row.key} avg_duration_minutes`,
    );
    close(row.closed_trade_max_drawdown_abs, family.drawdownAbs, `${row.key} drawdown`);
  }
}

function checkReport({ report }: BacktestOutcome, expected: Expected): void {
  const { reference, traded } = expected;
  const { tables, costs, counters, metrics, periods } = report;
  const tagOf = ({ enterTag }: ReferenceTrade) => enterTag ?? '(none)';
  checkTable(tables.per_pair, ({ pair }) => pair, expected);
  checkTable(tables.per_exit_reason, ({ reason }) => reason, expected);
  checkTable(tables.per_enter_tag, tagOf, expected);
  checkTable(tables.per_enter_tag_and_exit_reason, (trade) => `${tagOf(trade)} / ${trade.reason}`, expected);
  checkTable(tables.per_side, ({ side }) => side, expected);
  expect(counters.rejected_signals).toBe(reference.rejectedSignals);
  close(costs.fees.amount, sum(reference.trades.map(({ fees }) => fees)), 'fees');
  close(costs.funding.amount, -sum(reference.trades.map(({ funding }) => funding)), 'funding');
  close(costs.slippage.amount, sum(reference.trades.map(({ slippageCost }) => slippageCost)), 'slippage');
  const changes = traded.map(({ bars }) => (bars.at(-1) as Bar).close / (bars[0] as Bar).close - 1);
  close(metrics.account.market_change_pct, (100 * sum(changes)) / changes.length, 'market_change_pct');
  const busy = reference.equity.filter(({ openTrades }) => openTrades > 0).length;
  close(metrics.activity.exposure_pct, (100 * busy) / reference.equity.length, 'exposure_pct');
  for (const [kind, length] of [
    ['day', 10],
    ['month', 7],
    ['year', 4],
  ] as const) {
    const closes = Map.groupBy(reference.trades, ({ closeTime }) =>
      new Date(closeTime).toISOString().slice(0, length),
    );
    expect(sum(periods[kind].map((row) => row.total_trades))).toBe(reference.trades.length);
    for (const row of periods[kind]) {
      const profits = (closes.get(row.key) ?? []).map(({ profit }) => profit);
      expect(row.total_trades, row.key).toBe(profits.length);
      close(row.total_profit, sum(profits), `profit of ${row.key}`);
    }
  }
}

const digest = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex');

/** Outcome of the complete run by the engine, and the expectation of the reference implementation. */
function both(run: Run): { outcome: BacktestOutcome; expected: Expected } {
  const first = Math.min(...run.markets.map(({ bars }) => (bars[0] as Bar).time));
  const last = Math.max(...run.markets.map(({ bars }) => (bars.at(-1) as Bar).time));
  const start = first + run.late * MINUTE;
  const end = last - run.early * MINUTE;
  const traded = run.markets.map((market) => tradedOf(market, run, start, end));
  const tradable = traded.filter(({ bars }) => bars.length >= 3);
  fc.pre(tradable.length > 0);
  const expected = expectedOf(run, tradable);
  fc.pre(!endsInDust(expected.reference));
  // Ratios of a negative balance are not comparable.
  fc.pre(expected.points.every(({ value }) => value > 1));
  const pairs = run.markets.map(({ pair }) => pair);
  const outcome = runBacktest(
    {
      strategy: strategyOf(run.rules, run.startup),
      config: configOf(run.rules, pairs, start, end),
      pairs: run.markets.map((market) => dataOf(market, run)),
      strategyDigest: digest('scripted'),
    },
    { digest },
  );
  return { outcome, expected };
}

describe('runBacktest and the reference implementation', () => {
  it('runBacktest equals the reference in result, equity and report of random runs', () => {
    fc.assert(
      fc.property(runs, (run) => {
        const { outcome, expected } = both(run);
        checkNine(outcome, expected);
        checkEquity(outcome, expected);
        checkReport(outcome, expected);
      }),
      cases(150),
    );
  });

  it('runBacktest returns the same bytes twice for random runs', () => {
    fc.assert(
      fc.property(runs, (run) => {
        const { timing: _first, ...first } = both(run).outcome;
        const { timing: _second, ...second } = both(run).outcome;
        expect(JSON.stringify(second)).toBe(JSON.stringify(first));
      }),
      cases(20),
    );
  });
});
