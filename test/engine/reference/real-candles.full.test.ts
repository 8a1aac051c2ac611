import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { analyze } from '#engine/analysis/analyze.ts';
import { fillGaps } from '#engine/analysis/candle-checks.ts';
import { type Candles, sliceCandles } from '#engine/candles.ts';
import { defaultParameters } from '#engine/definitions/parameters.ts';
import { predicting } from '#engine/ml/fit-window.ts';
import { mlEngineOf, planWindows } from '#engine/ml/windows.ts';
import { startupRows, trainingRows } from '#engine/run/history.ts';
import { simulate } from '#engine/simulator/simulate.ts';
import { builtInStrategies } from '#engine/strategies/built-in.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import { disagreements } from './agreement.ts';
import { PLAIN } from './reference-scenarios.ts';
import { runReference } from './simulator.ts';
import { candlesOf, pairInputOf, settingsOf } from './translate.ts';
import type { Bar, FundingEvent, Market, Rules, Signals } from './types.ts';

/** Runs signals of the built-in strategies on real perpetuals through the engine and the reference implementation. */

const DATA = join(import.meta.dirname, '../../../../shared/data');
const BASES = ['BTC', 'ETH', 'SOL', 'BNB'];
const present = existsSync(DATA);
if (!present) console.warn(`Skipped: no real candles in ${DATA}`);

function rowsOf(file: string): number[][] {
  const text = gunzipSync(readFileSync(join(DATA, `${file}.csv.gz`))).toString();
  return text
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(',').map(Number));
}

function readCandles(file: string): { bars: Bar[]; candles: Candles } {
  const rows = rowsOf(file);
  const bars = rows.map(([time, open, high, low, close]) => ({ time, open, high, low, close }) as Bar);
  const candles = candlesOf(bars);
  rows.forEach((row, i) => {
    candles.volume[i] = row[5] as number;
  });
  return { bars, candles };
}

/** Funding events with the open of the mark candle of the same time. */
function readFunding(base: string): FundingEvent[] {
  const marks = new Map(
    rowsOf(`futures-funding/${base}_USDT_USDT-8h-mark`).map(([time, mark]) => [time, mark]),
  );
  return rowsOf(`futures-funding/${base}_USDT_USDT-8h-funding_rate`).flatMap(([time, rate]) => {
    const mark = marks.get(time);
    return mark === undefined ? [] : [{ time: time as number, rate: rate as number, mark }];
  });
}

/** Analysis of the candles, with models where the strategy reads predictions, and the first traded row. */
function analyzeFrom(strategy: StrategyDefinition, candles: Candles, limit: number) {
  const params = defaultParameters(strategy.parameters);
  if (!strategy.mlEngine) {
    return { analysis: analyze(strategy, params, candles), from: strategy.startupCandles(params) };
  }
  const config = mlEngineOf(strategy, { train_period_days: 10, n_estimators: 10 });
  const firstRow = startupRows(strategy, params, strategy.timeframe, config);
  const from = firstRow + trainingRows(strategy.timeframe, config);
  const stepMs = TIMEFRAME_MS[strategy.timeframe];
  const [start, end] = [candles.timestamp[from]!, candles.timestamp[from]! + limit * stepMs];
  const windows = planWindows(start, end, config);
  const steps = predicting(strategy, params, candles, {
    config,
    windows,
    seed: 0,
    pair: '',
    informative: [],
    stepMs,
    firstRow,
  });
  for (;;) {
    const step = steps.next();
    if (step.done) return { analysis: step.value, from };
  }
}

/** Signals after the startup candles, and stop distances if the strategy has that callback. */
function marketOf(strategy: StrategyDefinition, base: string, timeframe: Timeframe, limit: number): Market {
  const { bars, candles } = readCandles(`candles/${base}_USDT_USDT-${timeframe}`);
  const { analysis, from } = analyzeFrom({ ...strategy, timeframe }, candles, limit);
  const said = analysis.signals;
  const is = (column: Uint8Array | undefined, row: number) => column?.[row] === 1;
  const signals: Signals[] = bars.map((_, row) => ({
    enterLong: is(said.enterLong, row),
    exitLong: is(said.exitLong, row),
    enterShort: is(said.enterShort, row),
    exitShort: is(said.exitShort, row),
  }));
  const distance = analysis.columns.stopDistance;
  return {
    pair: `${base}/USDT:USDT`,
    bars: bars.slice(from, from + limit),
    signals: signals.slice(from, from + limit),
    funding: readFunding(base),
    detail: [],
    ...(distance && { customStop: [...distance].slice(from - 1, from - 1 + limit) }),
  };
}

function rulesOf(strategy: StrategyDefinition, timeframe: Timeframe): Rules {
  const { trailing } = strategy;
  return {
    ...PLAIN,
    timeframeMinutes: TIMEFRAME_MS[timeframe] / 60_000,
    fee: 0.0005,
    maxOpenTrades: 3,
    stake: 'unlimited',
    leverage: strategy.leverage ?? 1,
    canShort: strategy.canShort ?? false,
    stoploss: -strategy.stoploss,
    trailing: trailing && {
      positive: trailing.positive,
      offset: trailing.offset ?? 0,
      onlyOffset: trailing.only_offset_is_reached ?? false,
    },
    roi: Object.entries(strategy.minimalRoi ?? {}).map(([minutes, ratio]) => [Number(minutes), ratio]),
    useExitSignal: strategy.useExitSignal ?? true,
    exitProfitOnly: strategy.exitProfitOnly ?? false,
    exitProfitOffset: strategy.exitProfitOffset ?? 0,
    ignoreRoiIfEntrySignal: strategy.ignoreRoiIfEntrySignal ?? false,
    hasCustomStop: strategy.callbacks?.customStoploss !== undefined,
  };
}

/** Tight stops and targets, so that every exit occurs. */
const TIGHT: Partial<Rules> = {
  leverage: 5,
  stoploss: 0.03,
  trailing: { positive: 0.01, offset: 0.02, onlyOffset: true },
  roi: [
    [0, 0.06],
    [30, 0.03],
    [240, 0.01],
  ],
  slippage: 0.0002,
};

function compare(markets: Market[], rules: Rules): { trades: number; wrong: string[] } {
  const reference = runReference(markets, rules);
  const engine = simulate(markets.map(pairInputOf), settingsOf(rules, markets));
  return { trades: reference.trades.length, wrong: disagreements(engine, reference, rules) };
}

describe.skipIf(!present)('real candles through the engine and the reference implementation', () => {
  const strategies = builtInStrategies.map((strategy) => [strategy.name, strategy] as const);

  it.each(strategies)('engine equals the reference on four pairs with funding: %s', (_, strategy) => {
    const markets = BASES.map((base) => marketOf(strategy, base, '15m', 1500));
    const rules = rulesOf(strategy, '15m');
    const plain = compare(markets, rules);
    expect(plain.wrong).toEqual([]);
    expect(plain.trades).toBeGreaterThan(0);
    expect(compare(markets, { ...rules, ...TIGHT }).wrong).toEqual([]);
  });

  it.each(strategies)('engine equals the reference on one pair: %s', (_, strategy) => {
    const market = marketOf(strategy, 'BTC', '5m', 4000);
    const rules = rulesOf(strategy, '5m');
    expect(compare([market], rules).wrong).toEqual([]);
    expect(compare([market], { ...rules, ...TIGHT }).wrong).toEqual([]);
  });

  it('engine equals the reference on 1m detail candles within 5m', () => {
    const strategy = strategies.find(([name]) => name === 'supertrend')?.[1] ?? builtInStrategies[0]!;
    const params = defaultParameters(strategy.parameters);
    const markets = ['BTC', 'ETH'].map((base): Market => {
      const { bars, candles } = readCandles(`candles-derived/${base}_USDT_USDT-5m`);
      const { signals } = analyze({ ...strategy, timeframe: '5m' }, params, candles);
      const first = bars[0] as Bar;
      const fine = readCandles(`candles/${base}_USDT_USDT-1m`).bars;
      return {
        pair: `${base}/USDT:USDT`,
        bars: bars.slice(0, 800),
        signals: bars.slice(0, 800).map((_, row) => ({
          enterLong: signals.enterLong?.[row] === 1,
          exitLong: signals.exitLong?.[row] === 1,
          enterShort: signals.enterShort?.[row] === 1,
          exitShort: signals.exitShort?.[row] === 1,
        })),
        funding: [],
        detail: fine.filter(({ time }) => time >= first.time).slice(0, 4000),
      };
    });
    const rules: Rules = {
      ...rulesOf(strategy, '5m'),
      ...TIGHT,
      stoploss: 0.01,
      maxOpenTrades: 1,
      detailMinutes: 1,
    };
    const { trades, wrong } = compare(markets, rules);
    expect(trades).toBeGreaterThan(5);
    expect(wrong).toEqual([]);
  });

  it('fillGaps fills real gaps flat at the previous close', () => {
    const { bars, candles } = readCandles('candles/XRP_ETH-5m');
    const { candles: full, filled } = fillGaps(candles, TIMEFRAME_MS['5m']);
    expect(filled).toBe(6);
    const known = new Map(bars.map((bar) => [bar.time, bar]));
    let before = bars[0] as Bar;
    for (let row = 0; row < full.timestamp.length; row += 1) {
      const time = (bars[0] as Bar).time + row * TIMEFRAME_MS['5m'];
      const { close } = before;
      const bar = known.get(time) ?? { time, open: close, high: close, low: close, close };
      expect([full.timestamp[row], full.open[row], full.high[row], full.low[row], full.close[row]]).toEqual([
        bar.time,
        bar.open,
        bar.high,
        bar.low,
        bar.close,
      ]);
      before = bar;
    }
  });
});

describe.skipIf(!present)('built-in strategies on truncated real candles', () => {
  it.each(builtInStrategies.map((strategy) => [strategy.name, strategy] as const))(
    'signals of %s do not change when later candles are removed',
    (_, strategy) => {
      const params = defaultParameters(strategy.parameters);
      const { candles } = readCandles('candles/ETH_USDT_USDT-15m');
      const full = analyze({ ...strategy, timeframe: '15m' }, params, candles);
      const rows = candles.timestamp.length;
      for (let known = 700; known <= rows; known += 149) {
        const cut = analyze({ ...strategy, timeframe: '15m' }, params, sliceCandles(candles, 0, known));
        for (const name of ['enterLong', 'exitLong', 'enterShort', 'exitShort'] as const) {
          const computed = cut.signals[name];
          if (computed === undefined) continue;
          // Look-ahead would change the last rows.
          expect([...computed], `${name} of ${known} candles`).toEqual([
            ...(full.signals[name] as Uint8Array).subarray(0, known),
          ]);
        }
      }
    },
  );
});
