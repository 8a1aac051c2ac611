import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { analyze } from '#engine/analysis/analyze.ts';
import { type BacktestOutcome, runBacktest } from '#engine/backtest.ts';
import type { Candles } from '#engine/candles.ts';
import { createStrategyRegistry } from '#engine/definitions/registry.ts';
import { startupCandles } from '#engine/run/history.ts';
import { ownStartup } from '#engine/startup.ts';
import { builtInStrategies } from '#engine/strategies/built-in.ts';
import type { CallbackContext, Signals, TradeView } from '#engine/strategy.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import example from '#strategies/example_pullback.ts';
import { marketCandles } from '../indicators/market.ts';
import { exactEma, exactMacd, exactRsi, twoPassDeviation } from '../indicators/reference.ts';

const registry = createStrategyRegistry([...builtInStrategies, example]);

function signalsOf(name: string, candles: Candles, overrides = {}): Signals {
  const strategy = registry.get(name)!;
  const { values, problems } = registry.resolveParams(strategy, overrides);
  expect(problems).toEqual([]);
  return analyze(strategy, values, candles).signals;
}

const rowsOf = (column: Uint8Array | undefined) =>
  [...(column ?? [])].flatMap((value, row) => (value === 1 ? [row] : []));

/** Rows from 1 on where `holds` becomes true and all `columns` were defined one row before. */
function beginnings(columns: readonly Float64Array[], holds: (row: number) => boolean): number[] {
  return [...columns[0]!.keys()].filter(
    (row) =>
      row > 0 && columns.every((column) => !Number.isNaN(column[row - 1]!)) && holds(row) && !holds(row - 1),
  );
}

function runOn(name: string, pairs: readonly string[], length = 2_500): BacktestOutcome {
  const strategy = registry.get(name)!;
  const step = TIMEFRAME_MS[strategy.timeframe];
  const start = Date.UTC(2024, 0, 1) + 1_100 * step;
  return runBacktest(
    {
      strategy,
      strategyDigest: 'none',
      pairs: pairs.map((pair, i) => ({ pair, candles: marketCandles(40 + i, length, strategy.timeframe) })),
      config: {
        strategy: name,
        exchange: 'sim',
        pairs: [...pairs],
        timeframe: strategy.timeframe,
        date_range: {
          start: new Date(start).toISOString(),
          end: new Date(Date.UTC(2024, 0, 1) + length * step).toISOString(),
        },
        stake_amount: strategy.stakeAmount,
        dry_run_wallet: 1000,
        max_open_trades: pairs.length,
        fee: 0.0005,
        slippage: 0,
        leverage: 1,
        params: registry.resolveParams(strategy, {}).values,
        stoploss: strategy.stoploss,
        minimal_roi: strategy.minimalRoi ?? {},
        trailing: strategy.trailing ?? null,
        timeframe_detail: null,
        fill_model: 'freqtrade',
        precision: 'none',
        seed: 0,
      },
    },
    { digest: (data) => createHash('sha256').update(data).digest('hex') },
  );
}

describe('built-in strategies in a backtest', () => {
  const pairs = ['BTC/USDT:USDT', 'ETH/USDT:USDT', 'SOL/USDT:USDT'];

  it.each([
    ['bollinger_breakout', ['exit_signal', 'stop_loss', 'trailing_stop_loss']],
    ['donchian_trend', ['trailing_stop_loss']],
    ['ema_crossover', ['exit_signal', 'stop_loss']],
    ['macd_momentum', ['exit_signal', 'roi', 'stop_loss']],
    ['rsi_mean_reversion', ['exit_signal', 'roi', 'stop_loss']],
    ['supertrend', ['exit_signal', 'stop_loss']],
    ['example_pullback', ['exit_signal', 'stop_loss', 'too_old']],
  ])('%s trades both sides and uses each of its exit reasons', (name, reasons) => {
    const { trades } = runOn(name, pairs);
    expect(trades.length).toBeGreaterThanOrEqual(10);
    expect(new Set(trades.map((trade) => trade.side))).toEqual(new Set(['long', 'short']));
    expect([...new Set(trades.map((trade) => trade.exitReason))]).toEqual(expect.arrayContaining(reasons));
  });

  it('buy_and_hold buys every pair at the open of the second candle and holds it to the end', () => {
    const { trades } = runOn('buy_and_hold', pairs);
    const step = TIMEFRAME_MS['1h'];
    const start = Date.UTC(2024, 0, 1);
    expect(trades.map(({ pair }) => pair).sort()).toEqual([...pairs].sort());
    for (const [i, pair] of pairs.entries()) {
      const trade = trades.find((each) => each.pair === pair)!;
      expect(trade).toMatchObject({
        side: 'long',
        openedAt: start + 1_101 * step,
        closedAt: start + 2_499 * step,
        exitReason: 'force_exit',
        entryPrice: marketCandles(40 + i, 2_500).open[1_101],
      });
    }
  });
});

describe('signals of built-in strategies', () => {
  it('ema_crossover enters and exits at crossings of its averages', () => {
    const candles = marketCandles(50, 1_500);
    const fast = exactEma(candles.close, 20);
    const slow = exactEma(candles.close, 50);
    const signals = signalsOf('ema_crossover', candles);
    const up = beginnings([slow], (row) => fast[row]! > slow[row]!);
    const down = beginnings([slow], (row) => fast[row]! < slow[row]!);
    expect(up.length).toBeGreaterThan(5);
    expect(rowsOf(signals.enterLong)).toEqual(up);
    expect(rowsOf(signals.exitShort)).toEqual(up);
    expect(rowsOf(signals.enterShort)).toEqual(down);
    expect(rowsOf(signals.exitLong)).toEqual(down);
  });

  it('rsi_mean_reversion enters only in the trend of closed hours', () => {
    const candles = marketCandles(51, 6_000, '15m');
    const { close } = candles;
    const index = exactRsi(close, 14);
    // Row `i` may use the last hour that is complete when candle `i` closes.
    const hourCloses = close.filter((_, row) => row % 4 === 3);
    const trend = exactEma(hourCloses, 50);
    const hourOf = (row: number) => Math.floor((row + 1) / 4) - 1;
    const isUp = (row: number) => hourCloses[hourOf(row)]! > trend[hourOf(row)]!;
    const isDown = (row: number) => hourCloses[hourOf(row)]! < trend[hourOf(row)]!;
    const signals = signalsOf('rsi_mean_reversion', candles);
    const longs = beginnings([index], (row) => index[row]! > 35).filter(isUp);
    expect(longs.length).toBeGreaterThan(5);
    expect(rowsOf(signals.enterLong)).toEqual(longs);
    expect(rowsOf(signals.enterShort)).toEqual(beginnings([index], (row) => index[row]! < 65).filter(isDown));
    expect(rowsOf(signals.exitLong)).toEqual(beginnings([index], (row) => index[row]! > 55));
    expect(rowsOf(signals.exitShort)).toEqual(beginnings([index], (row) => index[row]! < 45));
  });

  it('bollinger_breakout tags every entry as squeeze or breakout', () => {
    const candles = marketCandles(52, 1_500);
    const { close } = candles;
    const { mean, deviation } = twoPassDeviation(close, 20);
    const width = mean.map((value, row) => (4 * deviation[row]!) / value);
    const signals = signalsOf('bollinger_breakout', candles);
    const longs = beginnings([mean], (row) => close[row]! > mean[row]! + 2 * deviation[row]!);
    expect(rowsOf(signals.enterLong)).toEqual(longs);
    expect(rowsOf(signals.enterShort)).toEqual(
      beginnings([mean], (row) => close[row]! < mean[row]! - 2 * deviation[row]!),
    );
    expect(rowsOf(signals.exitLong)).toEqual(beginnings([mean], (row) => close[row]! < mean[row]!));
    expect(rowsOf(signals.exitShort)).toEqual(beginnings([mean], (row) => close[row]! > mean[row]!));
    const tags = longs.map((row) => signals.tags![signals.enterTag![row]!]);
    const expected = longs.map((row) => {
      const usual = width.subarray(row - 100, row).reduce((sum, value) => sum + value, 0) / 100;
      return width[row - 1]! < usual ? 'squeeze' : 'breakout';
    });
    expect(tags).toEqual(expected);
    expect(new Set(tags)).toEqual(new Set(['squeeze', 'breakout']));
  });

  it('donchian_trend enters and exits beyond its channels', () => {
    const candles = marketCandles(53, 1_000, '4h');
    const { high, low, close } = candles;
    const rows = [...close.keys()];
    const above = (row: number, n: number) =>
      row >= n && close[row]! > Math.max(...high.subarray(row - n, row));
    const below = (row: number, n: number) =>
      row >= n && close[row]! < Math.min(...low.subarray(row - n, row));
    const signals = signalsOf('donchian_trend', candles, { entry_period: 15, exit_period: 8 });
    expect(rowsOf(signals.enterLong)).toEqual(rows.filter((row) => above(row, 15)));
    expect(rowsOf(signals.enterShort)).toEqual(rows.filter((row) => below(row, 15)));
    expect(rowsOf(signals.exitLong)).toEqual(rows.filter((row) => below(row, 8)));
    expect(rowsOf(signals.exitShort)).toEqual(rows.filter((row) => above(row, 8)));
    expect(rowsOf(signals.enterLong).length).toBeGreaterThan(20);
  });

  it('donchian_trend sets its stop by the average range of the last closed candle, times leverage', () => {
    const strategy = registry.get('donchian_trend')!;
    const stopDistance = Float64Array.of(Number.NaN, 0.05, 0.5);
    const ask = (index: number, leverage: number) =>
      strategy.callbacks!.customStoploss!(
        { index, columns: { stopDistance } } as unknown as CallbackContext,
        { leverage } as TradeView,
        100,
        0,
      );
    expect(ask(2, 3)).toBeCloseTo(0.15, 15);
    expect(ask(1, 3)).toBeNull();
    expect(ask(0, 3)).toBeNull();
    const candles = marketCandles(53, 400, '4h');
    const { columns } = analyze(
      strategy,
      registry.resolveParams(strategy, { stop_ranges: 2 }).values,
      candles,
    );
    const ranges = [...candles.close.keys()].map((row) =>
      row === 0
        ? Number.NaN
        : Math.max(candles.high[row]!, candles.close[row - 1]!) -
          Math.min(candles.low[row]!, candles.close[row - 1]!),
    );
    const mean = ranges.slice(1, 21).reduce((sum, value) => sum + value, 0) / 20;
    expect(columns.stopDistance![20]).toBeCloseTo((2 * mean) / candles.close[20]!, 12);
  });

  it('macd_momentum enters only when ADX is high enough', () => {
    const candles = marketCandles(54, 1_500);
    const lines = exactMacd(candles.close, 12, 26, 9);
    const up = beginnings([lines.signal], (row) => lines.macd[row]! > lines.signal[row]!);
    const entries = (adx_least: number) =>
      rowsOf(signalsOf('macd_momentum', candles, { adx_least }).enterLong);
    expect(rowsOf(signalsOf('macd_momentum', candles).exitShort)).toEqual(up);
    expect(entries(0)).toEqual(up);
    expect(entries(20).every((row) => up.includes(row))).toBe(true);
    expect(entries(20).length).toBeLessThan(up.length);
    expect(entries(45).length).toBeLessThan(entries(20).length);
  });

  it('supertrend reverses at every signal', () => {
    const signals = signalsOf('supertrend', marketCandles(55, 1_500));
    const [longs, shorts] = [rowsOf(signals.enterLong), rowsOf(signals.enterShort)];
    expect(rowsOf(signals.exitLong)).toEqual(shorts);
    expect(rowsOf(signals.exitShort)).toEqual(longs);
    const turns = [...longs, ...shorts].sort((a, b) => a - b);
    expect(turns.length).toBeGreaterThan(10);
    for (const [i, row] of turns.slice(1).entries()) {
      expect(longs.includes(row)).toBe(!longs.includes(turns[i]!));
    }
  });
});

describe('built-in definitions', () => {
  it('built-in registry holds eight strategies by name', () => {
    expect(createStrategyRegistry(builtInStrategies).names()).toEqual([
      'bollinger_breakout',
      'buy_and_hold',
      'donchian_trend',
      'ema_crossover',
      'macd_momentum',
      'ml_classifier',
      'rsi_mean_reversion',
      'supertrend',
    ]);
  });

  it.each(builtInStrategies.map((strategy) => [strategy.name, strategy] as const))(
    '%s has defined columns after its startup candles at both ends of every parameter range',
    (_name, strategy) => {
      for (const parameter of [undefined, ...Object.keys(strategy.parameters)]) {
        for (const end of ['min', 'max'] as const) {
          const range = parameter === undefined ? undefined : strategy.parameters[parameter];
          const overrides = range && range.kind !== 'choice' ? { [parameter!]: range[end] } : {};
          const params = registry.resolveParams(strategy, overrides).values;
          const startup = ownStartup(startupCandles(strategy, params));
          const { columns } = analyze(strategy, params, marketCandles(1, startup + 1, strategy.timeframe));
          // Excludes predictions: no model is trained here.
          const { ml_probability: _, ...own } = columns;
          for (const column of Object.values(own)) expect(column[startup]).not.toBeNaN();
        }
      }
    },
  );

  it('example_pullback opens no short with shorts: false', () => {
    const candles = marketCandles(56, 2_000);
    expect(rowsOf(signalsOf('example_pullback', candles).enterShort).length).toBeGreaterThan(0);
    expect(rowsOf(signalsOf('example_pullback', candles, { shorts: false }).enterShort)).toEqual([]);
  });
});
