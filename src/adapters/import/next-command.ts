import { TOUCHSTONE } from '#contract/values/names.ts';
import { TIMEFRAMES } from '#contract/values/timeframes.ts';
import { allowedTimeframes } from '#domain/config/check-timeframes.ts';
import { tradingModeOf } from '#domain/shared/validate.ts';
import { resolveParameters } from '#engine/definitions/parameters.ts';
import { startupCandles } from '#engine/run/history.ts';
import { ownStartup } from '#engine/startup.ts';
import { buyAndHold } from '#engine/strategies/buy-and-hold.ts';
import { donchianTrend } from '#engine/strategies/donchian-trend.ts';
import { emaCrossover } from '#engine/strategies/ema-crossover.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { divides, floorToGrid, TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import type { ImportedSeries } from './summary.ts';

/** Built-in strategies, the one with the most startup candles first. */
const STRATEGIES: readonly StrategyDefinition[] = [emaCrossover, donchianTrend, buyAndHold];
/** Candles to trade, besides the startup candles: fewer show nothing. */
const MIN_TRADED = 50;
/** Fewer candles than this are no backtest. */
const MIN_CANDLES = 4;
/** Pairs of the command. */
const MAX_PAIRS = 3;

interface CandleSeries extends ImportedSeries {
  readonly series: Timeframe;
}

const isCandles = (series: ImportedSeries): series is CandleSeries => series.series !== 'funding';

/** Backtests that run on imported candles, one for each exchange and trading mode. */
export function nextCommands(imported: readonly ImportedSeries[]): string[] {
  const groups = Map.groupBy(
    imported.filter(isCandles),
    ({ exchange, symbol }) => `${tradingModeOf(symbol)} ${exchange}`,
  );
  return [...groups.values()].flatMap((series) => commandFor(series) ?? []);
}

/** A backtest on the longest timeframe that has enough candles for a strategy, else on the one with the most candles. */
function commandFor(all: readonly CandleSeries[]): string | undefined {
  const runs = all.flatMap((series) => {
    // Candles of more than a day make none of the timeframes that every strategy has.
    const timeframe = TIMEFRAMES.find((each) => divides(series.series, each)) ?? series.series;
    const candles = (endOf(series) - Date.parse(series.first)) / TIMEFRAME_MS[timeframe];
    return candles < MIN_CANDLES ? [] : [{ series, timeframe, candles: Math.floor(candles) }];
  });
  const byLength = runs.sort((a, b) => TIMEFRAME_MS[b.timeframe] - TIMEFRAME_MS[a.timeframe]);
  const most = [...byLength].sort((a, b) => b.candles - a.candles)[0];
  const run =
    byLength.find(
      ({ candles, timeframe }) =>
        candles >= startupOf(emaCrossover) + MIN_TRADED &&
        allowedTimeframes(emaCrossover).includes(timeframe),
    ) ?? most;
  if (!run) return undefined;
  const { exchange, symbol } = run.series;
  const strategy =
    STRATEGIES.find(
      (each) =>
        run.candles >= startupOf(each) + MIN_TRADED && allowedTimeframes(each).includes(run.timeframe),
    ) ?? buyAndHold;
  const mode = tradingModeOf(symbol) === 'spot' ? ' --trading-mode spot' : '';
  return `${TOUCHSTONE} backtest ${strategy.name}${mode} --exchange ${exchange} --pairs ${pairsWith(run.series, all).join(',')} --timeframe ${run.timeframe} --offline`;
}

/** The symbol of a series, and those that have the candles of the same time. */
function pairsWith(series: CandleSeries, all: readonly CandleSeries[]): string[] {
  const same = all.filter(
    (each) => each.series === series.series && each.first <= series.first && each.last >= series.last,
  );
  return [...new Set([series.symbol, ...same.map(({ symbol }) => symbol)])].slice(0, MAX_PAIRS);
}

function endOf({ last, series }: CandleSeries): number {
  return floorToGrid(Date.parse(last), TIMEFRAME_MS[series]) + TIMEFRAME_MS[series];
}

function startupOf(strategy: StrategyDefinition): number {
  return ownStartup(startupCandles(strategy, resolveParameters(strategy.parameters, {}).values));
}
