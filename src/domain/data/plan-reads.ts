import type { BacktestExecutionInput, ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { type InformativeSeries, informativeSeries, informativeStart } from '#engine/analysis/informative.ts';
import { firstDecision, type HistoryFacts, historyStartOf } from '#engine/run/history.ts';
import { withCostDays } from '#engine/slippage/cost-days.ts';
import { type Startup, startupOn } from '#engine/startup.ts';
import type { Timeframe } from '#engine/timeframe.ts';
import { withUniverseDays } from '#engine/universe/membership.ts';
import type { Clock, SeriesInfo, SeriesStore } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import {
  type CandleSource,
  chooseSource,
  collectedTimeframe,
  isCollected,
  sourceTimeframes,
} from './candle-source.ts';
import { hasOwnGrid } from './exchange-grid.ts';

/** Facts of a strategy that decide which candles a run reads. */
export interface StrategyReads {
  readonly facts: HistoryFacts;
  /** Startup candles for the parameters of the run. */
  readonly startup: Startup;
}

type Run = Pick<
  ResolvedBacktestConfig,
  | 'exchange'
  | 'pairs'
  | 'timeframe'
  | 'date_range'
  | 'ml_engine'
  | 'slippage_model'
  | 'robustness'
  | 'universe'
>;

/** An informative series with the stored series of which it is read; undefined when none is stored. */
export interface InformativeRead extends InformativeSeries {
  readonly from: number;
  readonly source: CandleSource | undefined;
}

/** What a run reads of one pair. */
export interface PairReads {
  readonly pair: string;
  /** Stored series of the traded candles; undefined when none is stored. */
  readonly source: CandleSource | undefined;
  /** Open time of the first candle, ms. */
  readonly start: number;
  /** Series that are not aggregated from the traded candles. */
  readonly informative: readonly InformativeRead[];
}

interface ReadDeps {
  readonly series: Pick<SeriesStore, 'getMany'>;
  readonly clock: Clock;
}

/** True for a run that reads its own candles only, as they are stored. */
export function readsOwnCandles({ timeframe }: Run, { facts }: StrategyReads): boolean {
  const others = [...(facts.informativeTimeframes ?? []), ...(facts.informative ?? [])];
  return others.length === 0 && isCollected(timeframe);
}

/**
 * Chooses the stored series of everything that a run reads. A stored series of an informative timeframe is preferred to
 * candles computed from others, and these to candles aggregated from the run's own.
 */
export async function chooseReads(
  { series, clock }: ReadDeps,
  run: Run,
  strategy: StrategyReads,
): Promise<PairReads[]> {
  const { exchange, pairs, timeframe } = run;
  const end = Date.parse(run.date_range.end);
  const decisions = firstDecision(run);
  const wanted = pairs.map((pair) => informativeSeries(strategy.facts, pair));
  const own = sourceTimeframes(timeframe);
  const keys = [
    ...pairs.flatMap((symbol) => own.map((each) => ({ symbol, timeframe: each }))),
    ...wanted
      .flat()
      .flatMap((each) =>
        sourceTimeframes(each.timeframe).map((source) => ({ symbol: each.pair, timeframe: source })),
      ),
  ];
  const stored = await series.getMany(exchange, unique(keys));
  const now = clock.now();
  return pairs.map((pair, index) => {
    const reads = wanted[index]!.map((each) => {
      const from = informativeStart(decisions, startupOn(strategy.startup, each.timeframe), each.timeframe);
      const read = { start: from, end };
      return { ...each, from, source: chooseSource(stored, each, read, now) };
    });
    const aggregated = reads.filter(
      ({ key, timeframe: other, source }) =>
        key === other && (source?.timeframe ?? timeframe) === timeframe && !hasOwnGrid(exchange, other),
    );
    const start = startOf(
      run,
      strategy,
      aggregated.map((each) => each.timeframe),
    );
    return {
      pair,
      start,
      source: ownSource(stored, { pair, timeframe }, { start, end }, now),
      informative: reads.filter((each) => !aggregated.includes(each)),
    };
  });
}

/**
 * Candles of the six timeframes are read as stored, where they are. Others are computed of the series that has most of them; so are
 * those of the six where only shorter ones are stored, such as files of 1m.
 */
function ownSource(
  stored: ReadonlyMap<string, SeriesInfo>,
  own: { readonly pair: string; readonly timeframe: Timeframe },
  range: { readonly start: number; readonly end: number },
  now: number,
): CandleSource | undefined {
  const series = stored.get(`${own.pair}#${own.timeframe}`);
  if (series && isCollected(own.timeframe)) return { timeframe: own.timeframe, missingMs: 0, series };
  return chooseSource(stored, own, range, now);
}

function startOf(
  run: Run,
  { facts, startup }: StrategyReads,
  informativeTimeframes: readonly Timeframe[],
): number {
  const start = Date.parse(run.date_range.start);
  const used = { ...facts, informativeTimeframes };
  const from = withCostDays(run, historyStartOf(used, startup, run.timeframe, start, run.ml_engine));
  return withUniverseDays(run, from);
}

/** Collection before a run: its own candles from `start`, and other series. */
export interface CollectionPlan {
  /** Timeframe of the run's own candles as they are collected. */
  readonly timeframe: Timeframe;
  readonly start: number;
  readonly informative?: readonly {
    readonly symbol: string;
    readonly timeframe: Timeframe;
    readonly start: number;
  }[];
  /** True when a part of `informative` is not stored. */
  readonly isStale: boolean;
}

/** The candles that must be stored for a run. */
export async function planCollection(
  deps: ReadDeps,
  run: Run,
  strategy: StrategyReads,
): Promise<CollectionPlan> {
  const reads = await chooseReads(deps, run, strategy);
  const others = reads.flatMap(({ informative }) => informative);
  const starts = new Map<string, { symbol: string; timeframe: Timeframe; start: number }>();
  for (const { pair: symbol, timeframe, source, from } of others) {
    const stored = source?.timeframe ?? collectedTimeframe(timeframe);
    const known = starts.get(`${symbol}#${stored}`)?.start ?? Number.POSITIVE_INFINITY;
    starts.set(`${symbol}#${stored}`, { symbol, timeframe: stored, start: Math.min(known, from) });
  }
  return {
    timeframe: collectedFor(run.timeframe, reads),
    start: Math.min(...reads.map(({ start }) => start)),
    ...(starts.size > 0 && { informative: [...starts.values()] }),
    isStale: others.some(({ source }) => source === undefined || source.missingMs > 0),
  };
}

/** One timeframe for all pairs. Weekly candles cannot be named in the check before a run. */
function collectedFor(timeframe: Timeframe, reads: readonly PairReads[]): Timeframe {
  const [first, ...more] = new Set(
    reads.map(({ source }) => (source?.missingMs === 0 ? source.timeframe : undefined)),
  );
  // Candles of an exchange are collected; those of files are computed of what is stored.
  if (isCollected(timeframe)) {
    const isImported = reads.every(({ source }) => source?.series.imported);
    return first !== undefined && more.length === 0 && isImported ? first : timeframe;
  }
  return first === undefined || first === '1w' || more.length > 0 ? collectedTimeframe(timeframe) : first;
}

function unique<T extends { readonly symbol: string; readonly timeframe: string }>(keys: readonly T[]): T[] {
  return [...new Map(keys.map((key) => [`${key.symbol}#${key.timeframe}`, key])).values()];
}

/** Fields of a state machine's input for the other series of a run; none without any. */
export function informativeInput({
  informative,
  isStale,
}: CollectionPlan): Pick<BacktestExecutionInput, 'informative' | 'informative_stale'> {
  if (!informative) return {};
  const series = informative.map((each) => ({ ...each, start: isoTime(each.start) }));
  return { informative: series, ...(isStale && { informative_stale: true as const }) };
}
