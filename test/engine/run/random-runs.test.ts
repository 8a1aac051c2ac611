import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { type BacktestOutcome, runBacktest } from '#engine/backtest.ts';
import type { Candles } from '#engine/candles.ts';
import type { PairData } from '#engine/run/history.ts';
import { simulate } from '#engine/simulator/simulate.ts';
import type { SimulatedTrade } from '#engine/simulator/trade-table.ts';
import type { PairInput, Simulation, SimulationSettings } from '#engine/simulator/types.ts';
import { defineStrategy, type StrategyDefinition } from '#engine/strategy.ts';
import type { Timeframe } from '#engine/timeframe.ts';
import { balanceFamily, equityResource } from '../metrics/balance-family.ts';
import { type ClosedTrade, tradeFamily } from '../metrics/trade-family.ts';
import { HOUR, START } from '../simulator/market.ts';
import { pairs, settings } from '../simulator/random-pairs.ts';

/**
 * Complete runs of random pairs. What is expected of them: the candles that are traded, cut and filled here row by row, the trades that
 * `simulate` makes of these, and numbers of these trades by the formulas of `trade-family.ts` and `balance-family.ts`.
 */

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const TIMEFRAMES: Readonly<Record<number, Timeframe>> = { 5: '5m', 60: '1h', 1440: '1d' };
const TAGS = ['', 'first', 'second', 'left'];
const SIGNALS = ['enterLong', 'exitLong', 'enterShort', 'exitShort'] as const;
const COLUMNS = ['timestamp', 'open', 'high', 'low', 'close', 'volume'] as const;

interface Run {
  readonly inputs: readonly PairInput[];
  readonly settings: SimulationSettings;
  /** Number of candles before the run that the strategy requires. */
  readonly startup: number;
  /** From the first candle to the start of the range, and from its end to the last candle, ms. */
  readonly late: number;
  readonly early: number;
  /** Every n-th candle is missing from the data; 0 for none. */
  readonly gap: number;
}

const isSet = (flags: Uint8Array | undefined, row: number) => flags?.[row] === 1;

/** The candles with the signals in their volume, so that these are a function of the candles only. */
function speaking({ candles, signals }: PairInput): Candles {
  const bits = (row: number) => SIGNALS.map((name, bit) => (isSet(signals[name], row) ? 2 ** bit : 0));
  // Entries have one of three tags, exits one of two.
  const volume = candles.volume.map(
    (_, row) => sum(bits(row)) + 16 * (row % 3) + 64 * (row % 2 === 0 ? 3 : 0),
  );
  return { ...candles, volume };
}

/** What the volumes say. */
function signalsOf({ volume }: Pick<Candles, 'volume'>): PairInput['signals'] {
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
}

/** The pair in candles of another length. */
function stretched({ candles, funding, ...input }: PairInput, minutes: number): PairInput {
  const times = (column: Float64Array) =>
    column.map((time) => START + ((time - START) / HOUR) * minutes * MINUTE);
  return {
    ...input,
    candles: { ...candles, timestamp: times(candles.timestamp) },
    ...(funding && { funding: { ...funding, timestamp: times(funding.timestamp) } }),
  };
}

const runs: fc.Arbitrary<Run> = fc
  .record({
    drawn: pairs(3),
    settings,
    minutes: fc.constantFrom(5, 60, 1440),
    startup: fc.nat(3),
    late: fc.nat(4),
    early: fc.nat(4),
    offGrid: fc.constantFrom(0, 0, MINUTE),
    gap: fc.constantFrom(0, 0, 3, 7),
  })
  .map(({ drawn, settings: base, minutes, startup, late, early, offGrid, gap }) => ({
    inputs: drawn.map((input) => {
      const own = stretched(input, minutes);
      return { ...own, candles: speaking(own) };
    }),
    settings: { ...base, timeframeMs: minutes * MINUTE },
    startup,
    late: late * minutes * MINUTE + offGrid,
    early: early * minutes * MINUTE + offGrid,
    gap,
  }));

function strategyOf(run: SimulationSettings, startup: number): StrategyDefinition {
  return defineStrategy({
    name: 'scripted',
    description: 'Does what the volume says.',
    timeframe: '1h',
    pairs: [],
    stakeAmount: 100,
    parameters: {},
    startupCandles: () => startup,
    indicators: () => ({}),
    signals: signalsOf,
    stoploss: -0.5,
    canShort: run.canShort,
    useExitSignal: run.useExitSignal,
    exitProfitOnly: run.exitProfitOnly,
    exitProfitOffset: run.exitProfitOffset,
    ignoreRoiIfEntrySignal: run.ignoreRoiIfEntrySignal,
  });
}

function configOf(
  run: SimulationSettings,
  names: readonly string[],
  start: number,
  end: number,
): ResolvedBacktestConfig {
  const { stake } = run;
  return {
    strategy: 'scripted',
    exchange: 'sim',
    pairs: [...names],
    timeframe: TIMEFRAMES[run.timeframeMs / MINUTE]!,
    date_range: { start: new Date(start).toISOString(), end: new Date(end).toISOString() },
    stake_amount: stake.kind === 'fixed' ? stake.amount : 'unlimited',
    dry_run_wallet: run.startingBalance,
    max_open_trades: run.maxOpenTrades,
    fee: run.fee,
    slippage: run.slippage,
    leverage: run.leverage,
    params: {},
    stoploss: run.stoploss,
    minimal_roi: run.minimalRoi ?? {},
    trailing: run.trailing ? { offset: 0, only_offset_is_reached: false, ...run.trailing } : null,
    timeframe_detail: null,
    fill_model: run.fillModel,
    precision: 'none',
    seed: 0,
  };
}

const isGap = (row: number, { gap }: Run): boolean => gap > 0 && row % gap === gap - 1;

const rowsOf = (candles: Candles, rows: readonly number[]): Candles =>
  Object.fromEntries(
    COLUMNS.map((name) => [name, Float64Array.from(rows, (row) => candles[name][row]!)]),
  ) as unknown as Candles;

/** Stored data, with gaps. */
function dataOf({ pair, candles, funding }: PairInput, run: Run): PairData {
  const rows = [...candles.timestamp.keys()].filter((row) => !isGap(row, run));
  return { pair, candles: rowsOf(candles, rows), ...(funding && { funding }) };
}

/** Traded part of a pair: inside the range, gaps filled flat, startup candles removed (docs/simulation.md#candles-and-clock). */
function tradedOf(input: PairInput, run: Run, start: number, end: number): PairInput {
  const step = run.settings.timeframeMs;
  const from = Math.ceil(start / step) * step - run.startup * step;
  const { timestamp, ...prices } = input.candles;
  const filled: number[][] = [];
  for (const [row, time] of timestamp.entries()) {
    if (time < from || time >= end || isGap(row, run)) continue;
    for (let before = filled.at(-1); before && before[0]! + step < time; before = filled.at(-1)) {
      const close = before[4]!;
      filled.push([before[0]! + step, close, close, close, close, 0]);
    }
    filled.push([time, ...COLUMNS.slice(1).map((name) => prices[name as 'open'][row]!)]);
  }
  const inRange = filled.findIndex(([time]) => time! >= start);
  const rows = filled.slice(Math.max(run.startup, inRange < 0 ? filled.length : inRange));
  const column = (at: number) => Float64Array.from(rows, (row) => row[at]!);
  const candles = Object.fromEntries(COLUMNS.map((name, at) => [name, column(at)])) as unknown as Candles;
  return { ...input, candles, signals: signalsOf(candles) };
}

const closedOf = (trades: readonly SimulatedTrade[]): ClosedTrade[] =>
  trades.map(({ profit, profitRatio, openedAt, closedAt }) => ({
    profit,
    ratio: profitRatio,
    openTime: openedAt,
    closeTime: closedAt,
  }));

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
  readonly simulation: Simulation;
  readonly traded: readonly PairInput[];
  readonly wallet: number;
  readonly days: number;
  readonly points: readonly { time: number; value: number }[];
}

function expectedOf(run: Run, traded: readonly PairInput[]): Expected {
  const wallet = run.settings.startingBalance;
  const simulation = simulate(traded, run.settings);
  const { timestamp, equity } = simulation.curve!;
  const first = Math.min(...traded.map(({ candles }) => candles.timestamp[0]!));
  const last = Math.max(...traded.map(({ candles }) => candles.timestamp.at(-1)!));
  return {
    simulation,
    traded,
    wallet,
    days: Math.max(1, Math.floor((last - first) / DAY)),
    points: [
      { time: first, value: wallet },
      ...Array.from(timestamp, (time, row) => ({ time, value: equity[row]! })),
    ],
  };
}

function checkNine(
  { result }: BacktestOutcome,
  { simulation: { trades, finalBalance }, wallet, days, points }: Expected,
): void {
  const family = tradeFamily(closedOf(trades), wallet, days);
  const balance = balanceFamily(points, wallet, days);
  const wins = trades.filter(({ profit }) => profit > 0).length;
  const losses = trades.filter(({ profit }) => profit < 0).length;
  expect(result.total_trades).toBe(trades.length);
  expect(result.winning_trades).toBe(wins);
  expect(result.losing_trades).toBe(losses);
  close(result.total_profit, family.profitTotal, 'total_profit');
  close(result.total_profit_pct, family.profitTotalRatio * 100, 'total_profit_pct');
  close(result.profit_factor, family.profitFactor ?? (wins > 0 ? 999 : 0), 'profit_factor');
  close(result.win_rate, (family.winRate ?? 0) * 100, 'win_rate');
  close(result.max_drawdown_pct, balance.daily.share * 100, 'max_drawdown_pct');
  close(result.final_balance, finalBalance, 'final_balance');
  // A deviation caused by rounding is not comparable.
  if ((balance.volatility ?? 0) > 1e-5) close(result.sharpe_ratio, balance.sharpe ?? 0, 'sharpe_ratio');
  for (const value of Object.values(result).slice(0, 9)) expect(Number.isFinite(value)).toBe(true);
}

function checkEquity({ equity, result }: BacktestOutcome, { points, wallet }: Expected): void {
  const resource = equityResource(points, wallet);
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
  keyOf: (trade: SimulatedTrade) => string,
  expected: Expected,
): void {
  const { simulation, wallet, days } = expected;
  expect(rows.at(-1)?.key).toBe('TOTAL');
  const grouped = Map.groupBy(simulation.trades, keyOf);
  expect(rows.filter(({ total_trades }) => total_trades > 0)).toHaveLength(
    grouped.size + (simulation.trades.length > 0 ? 1 : 0),
  );
  for (const row of rows) {
    const trades = row.key === 'TOTAL' ? simulation.trades : (grouped.get(row.key) ?? []);
    const family = tradeFamily(closedOf(trades), wallet, days);
    const minutes = trades.map(({ openedAt, closedAt }) => (closedAt - openedAt) / MINUTE);
    expect(row.total_trades, row.key).toBe(trades.length);
    expect(row.draws, row.key).toBe(trades.filter(({ profit }) => profit === 0).length);
    close(row.total_profit, family.profitTotal, `${row.key} total_profit`);
    close(
      row.profit_sum_pct,
      100 * sum(trades.map(({ profitRatio }) => profitRatio)),
      `${row.key} profit_sum_pct`,
    );
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
  const { traded, simulation } = expected;
  const { trades, curve } = simulation;
  const { tables, costs, counters, metrics, periods } = report;
  const tagOf = ({ enterTag }: SimulatedTrade) => enterTag ?? '(none)';
  checkTable(tables.per_pair, ({ pair }) => pair, expected);
  checkTable(tables.per_exit_reason, ({ exitReason }) => exitReason, expected);
  checkTable(tables.per_enter_tag, tagOf, expected);
  checkTable(
    tables.per_enter_tag_and_exit_reason,
    (trade) => `${tagOf(trade)} / ${trade.exitReason}`,
    expected,
  );
  checkTable(tables.per_side, ({ side }) => side, expected);
  expect(counters.rejected_signals).toBe(simulation.counters.rejectedSignals);
  close(costs.fees.amount, sum(trades.map(({ fees }) => fees)), 'fees');
  close(costs.funding.amount, -sum(trades.map(({ funding }) => funding)), 'funding');
  close(costs.slippage.amount, sum(trades.map(({ slippageCost }) => slippageCost)), 'slippage');
  const changes = traded.map(({ candles: { close } }) => close.at(-1)! / close[0]! - 1);
  close(metrics.account.market_change_pct, (100 * sum(changes)) / changes.length, 'market_change_pct');
  const busy = curve!.openTrades.filter((count) => count > 0).length;
  close(metrics.activity.exposure_pct, (100 * busy) / curve!.openTrades.length, 'exposure_pct');
  for (const [kind, length] of [
    ['day', 10],
    ['month', 7],
    ['year', 4],
  ] as const) {
    const closes = Map.groupBy(trades, ({ closedAt }) => new Date(closedAt).toISOString().slice(0, length));
    expect(sum(periods[kind].map((row) => row.total_trades))).toBe(trades.length);
    for (const row of periods[kind]) {
      const profits = (closes.get(row.key) ?? []).map(({ profit }) => profit);
      expect(row.total_trades, row.key).toBe(profits.length);
      close(row.total_profit, sum(profits), `profit of ${row.key}`);
    }
  }
}

const digest = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex');

/** Outcome of the complete run, and what is expected of it. */
function both(run: Run): { outcome: BacktestOutcome; expected: Expected } {
  const first = Math.min(...run.inputs.map(({ candles }) => candles.timestamp[0]!));
  const last = Math.max(...run.inputs.map(({ candles }) => candles.timestamp.at(-1)!));
  const start = first + run.late;
  const end = last - run.early;
  const traded = run.inputs.map((input) => tradedOf(input, run, start, end));
  const tradable = traded.filter(({ candles }) => candles.timestamp.length >= 3);
  fc.pre(tradable.length > 0);
  const expected = expectedOf(run, tradable);
  // Ratios of a negative balance are not comparable.
  fc.pre(expected.points.every(({ value }) => value > 1));
  const names = run.inputs.map(({ pair }) => pair);
  const outcome = runBacktest(
    {
      strategy: strategyOf(run.settings, run.startup),
      config: configOf(run.settings, names, start, end),
      pairs: run.inputs.map((input) => dataOf(input, run)),
      strategyDigest: digest('scripted'),
    },
    { digest },
  );
  return { outcome, expected };
}

describe('runBacktest of random runs', () => {
  it('result, equity and report are those of the trades of the candles that are traded', () => {
    fc.assert(
      fc.property(runs, (run) => {
        const { outcome, expected } = both(run);
        checkNine(outcome, expected);
        checkEquity(outcome, expected);
        checkReport(outcome, expected);
      }),
      { numRuns: 150 },
    );
  });

  it('runBacktest returns the same bytes twice', () => {
    fc.assert(
      fc.property(runs, (run) => {
        const { timing: _first, ...first } = both(run).outcome;
        const { timing: _second, ...second } = both(run).outcome;
        expect(JSON.stringify(second)).toBe(JSON.stringify(first));
      }),
      { numRuns: 20 },
    );
  });
});
