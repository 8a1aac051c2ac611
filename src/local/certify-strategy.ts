import {
  type CheckOptions,
  type CheckOutcome,
  type CheckRequest,
  checkStrategy,
} from '#adapters/definitions/strategy-check.ts';
import { SimExchange } from '#adapters/exchange/sim.ts';
import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { SIMULATED } from '#contract/values/names.ts';
import { spotPairs } from '#domain/config/resolve-trading-mode.ts';
import { chooseSource, sourceTimeframes } from '#domain/data/candle-source.ts';
import { chooseReads, type PairReads, type StrategyReads } from '#domain/data/plan-reads.ts';
import { InformativeLoader, readAs } from '#domain/inputs/load-informative.ts';
import type { Clock, SeriesInfo } from '#domain/ports.ts';
import type { PairData } from '#engine/run/history.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import { type CheckCandles, folderCandles, simulatedCandles } from './candles-of-check.ts';

/** End of simulated candles without a range; fixed, so that a check is repeatable. */
const SIM_END = Date.UTC(2025, 0, 1);
const MAX_PAIRS = 3;

type CandleCheck = Omit<CheckRequest, 'available' | 'maxPairs' | 'end'> & {
  /** Data folder of stored candles. */
  readonly home: string;
};

/**
 * Certifies a strategy on simulated candles, or on stored ones of the data folder.
 *
 * @throws Error when the strategy fails, or no candles are stored
 */
export async function checkOnCandles(
  { home, pairs, ...request }: CandleCheck,
  options: Omit<CheckOptions, 'loadCandles'>,
): Promise<CheckOutcome> {
  const { exchange, tradingMode, seed } = request;
  const sim = new SimExchange({ seed });
  const listed = await sim.symbols();
  return checkStrategy(
    {
      ...request,
      pairs: pairs?.length ? pairs : undefined,
      available: exchange === SIMULATED ? (tradingMode === 'spot' ? spotPairs(listed) : listed) : undefined,
      maxPairs: MAX_PAIRS,
      end: SIM_END,
    },
    {
      ...options,
      loadCandles: async (config, strategy, from) => {
        // A candle of up to a week may contain the first or the last time.
        const week = TIMEFRAME_MS['1w'];
        const range = { start: from - week, end: Date.parse(config.date_range.end) + week };
        const stored = exchange === SIMULATED ? simulatedCandles(sim) : folderCandles(home, range);
        return loadPairs({ ...stored, clock: Date }, config, strategy, home);
      },
    },
  );
}

/** Chooses and reads the candles of each pair as the task of a backtest does. */
async function loadPairs(
  deps: CheckCandles & { readonly clock: Clock },
  config: ResolvedBacktestConfig,
  strategy: StrategyReads,
  home: string,
): Promise<PairData[]> {
  const { timeframe } = config;
  const end = Date.parse(config.date_range.end);
  const informative = new InformativeLoader(deps, config);
  const loaded: PairData[] = [];
  for (const reads of await chooseReads(deps, config, strategy)) {
    const { pair, start, informative: others } = reads;
    const source = reads.source?.series ?? (await finerSource(deps, config, reads));
    const missing = source ? others.find((each) => !each.source) : { pair, timeframe };
    if (!source || missing) throw notStored(home, config, missing!);
    loaded.push({
      pair,
      candles: await readAs(deps, source, timeframe, { start, end, isTraded: true }),
      ...(others.length > 0 && { informative: await informative.load(others) }),
      ...(source.timeframe !== timeframe && { source: source.timeframe }),
    });
  }
  return loaded;
}

/** A backtest collects the candles of its timeframe. A check cannot, and computes them of finer ones. */
async function finerSource(
  { series, clock }: Pick<CheckCandles, 'series'> & { readonly clock: Clock },
  { exchange, timeframe, date_range }: ResolvedBacktestConfig,
  { pair, start }: PairReads,
): Promise<SeriesInfo | undefined> {
  const keys = sourceTimeframes(timeframe).map((each) => ({ symbol: pair, timeframe: each }));
  const stored = await series.getMany(exchange, keys);
  const range = { start, end: Date.parse(date_range.end) };
  return chooseSource(stored, { pair, timeframe }, range, clock.now())?.series;
}

function notStored(
  home: string,
  { exchange, date_range: { start, end } }: ResolvedBacktestConfig,
  { pair, timeframe }: { readonly pair: string; readonly timeframe: Timeframe },
): Error {
  return new Error(
    `No ${timeframe} candles of ${pair} on ${exchange} are stored in ${home} for ${start} to ${end}. Import or collect them first.`,
  );
}
