import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { CodedError } from '#contract/values/errors.ts';
import type { RunBenchmark } from '#engine/robustness/bitcoin.ts';
import { MIN_COVERED, MIN_DAYS } from '#engine/robustness/robustness.ts';
import { ceilToGrid, floorToGrid, TIMEFRAME_MS, type Timeframe, tradedRange } from '#engine/timeframe.ts';
import { chooseSource, sourceTimeframes } from '../data/candle-source.ts';
import type { Clock, SeriesInfo, SeriesKey, SeriesStore } from '../ports.ts';
import { CorruptFileError, recordCorruption } from '../shared/corrupt-file.ts';
import type { LoadCandlesDeps } from './load-candles.ts';
import { readAs } from './load-informative.ts';

type Run = Pick<ResolvedBacktestConfig, 'exchange' | 'pairs' | 'timeframe' | 'date_range' | 'trading_mode'>;

interface ChosenBenchmark {
  readonly pair: string;
  /** Undefined when all stored candles are too short. */
  readonly source: SeriesInfo | undefined;
  /** Stored candles that open with each candle of the run; undefined without any. */
  readonly exact: Timeframe | undefined;
  /** The whole days of the run, ms. */
  readonly start: number;
  readonly end: number;
}

/** The benchmark may take little of a run's time: reading as many candles takes some 10 ms. */
const MAX_CANDLES = 100_000;

/**
 * The stored series of bitcoin with which the days of a run are compared. Undefined when the run trades bitcoin, is too short to
 * be compared, or none is stored: none is ever collected for it.
 */
export async function chooseBenchmark(
  { series, clock }: { readonly series: Pick<SeriesStore, 'getMany'>; readonly clock: Clock },
  run: Run,
): Promise<ChosenBenchmark | undefined> {
  const range = tradedRange(run);
  const [start, end] = [ceilToGrid(range.start, DAY_MS), floorToGrid(range.end, DAY_MS)];
  const money = run.pairs[0]!.slice(run.pairs[0]!.indexOf('/') + 1);
  if (end - start < MIN_DAYS * DAY_MS || money.startsWith('BTC')) return undefined;
  if (run.pairs.some((pair) => pair.startsWith('BTC/'))) return undefined;
  const pair = `BTC/${money}`;
  const keys = sourceTimeframes('1d').map((timeframe) => ({ symbol: pair, timeframe }));
  const stored = await series.getMany(run.exchange, keys);
  if (stored.size === 0) return undefined;
  const affordable = [...stored].filter(
    ([, { timeframe }]) => (end - start) / TIMEFRAME_MS[timeframe] <= MAX_CANDLES,
  );
  const wanted = { pair, timeframe: '1d' as const };
  const source = chooseSource(new Map(affordable), wanted, { start, end }, clock.now());
  const exact = sourceTimeframes(run.timeframe).find((each) => stored.has(`${pair}#${each}`));
  return { pair, source: source?.series, exact, start, end };
}

/** Gaps beyond the tolerance, and a corrupt file. */
const isUnusable = (error: unknown) =>
  error instanceof CorruptFileError || (error instanceof CodedError && error.code === 'DATA002');

/** Price at the open of the last candle of a run, ms, where the run ends; null when none is stored. */
async function readLast(
  deps: LoadCandlesDeps,
  key: SeriesKey,
  time: number,
): Promise<{ readonly time: number; readonly open: number } | null> {
  const read = () => deps.candles.read(key, time, time + 1);
  const { timestamp, open } = await recordCorruption(deps, key, read);
  return timestamp[0] === time ? { time, open: open[0]! } : null;
}

/** Reads the benchmark of a run. Data that cannot be used are its reason, not an error: the run does not need them. */
export async function loadBenchmark(deps: LoadCandlesDeps, run: Run): Promise<RunBenchmark | undefined> {
  const chosen = await chooseBenchmark(deps, run);
  if (!chosen) return undefined;
  const { pair, source, exact, start, end } = chosen;
  if (source === undefined) {
    const reason = `The stored candles of ${pair} are too short for ${(end - start) / DAY_MS} days. Collect its 1h candles to compare with it.`;
    return { pair, reason };
  }
  const key = { exchange: run.exchange, symbol: pair, timeframe: source.timeframe };
  try {
    const time = floorToGrid(Date.parse(run.date_range.end) - 1, TIMEFRAME_MS[run.timeframe]);
    const range = { start, end, maxMissing: 1 - MIN_COVERED, isTraded: true };
    const candles = await readAs(deps, source, '1d', range);
    const last = exact ? await readLast(deps, { ...key, timeframe: exact }, time) : null;
    const benchmark = { pair, source: source.timeframe, candles, last };
    if (run.trading_mode === 'spot') return benchmark;
    const readFunding = () => deps.candles.readFunding(run.exchange, pair, start, end);
    return { ...benchmark, funding: await recordCorruption(deps, key, readFunding) };
  } catch (error) {
    if (!isUnusable(error)) throw error;
    return { pair, reason: `The stored candles of ${pair} cannot be used: ${(error as Error).message}.` };
  }
}
