import type { BenchmarkAttribution, ReportRobustness } from '#contract/backtests/report-robustness.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { formatCount } from '#contract/values/format-count.ts';
import { SIMULATED } from '#contract/values/names.ts';
import { dailyReturns, dayOf } from '../metrics/equity-curve.ts';
import type { ComputedMetrics } from '../metrics/metrics.ts';
import { hash32, mix32 } from '../random.ts';
import { withSimulationErrors } from '../run/prepare-pair.ts';
import type { PairInput } from '../simulator/types.ts';
import { deviation } from '../stats/moments.ts';
import { attribute, NO_ATTRIBUTION } from './attribution.ts';
import { daysWithCandles, type HeldPair, holdEquity } from './benchmark.ts';
import { candlesUntil, type RunBenchmark, unusable } from './bitcoin.ts';
import { bootstrap, NO_BOOTSTRAP } from './bootstrap.ts';
import { breakEven } from './break-even.ts';
import { findingsOf } from './findings.ts';
import { type RunDays, regimeCells, regimesOf } from './regimes.ts';
import { type RequestedInput, requestedTests } from './requested-tests.ts';
import { stressResults } from './stress.ts';

/** Fewer days say too little about a year, and a regime needs as many before it. */
export const MIN_DAYS = 90;

export interface RobustnessInput extends RequestedInput {
  readonly computed: ComputedMetrics;
  /** Digest of the inputs of the run: the only source of chance. */
  readonly inputs: string;
  /** Stored bitcoin for a run that does not trade it; absent when none is stored. */
  readonly benchmark?: RunBenchmark | undefined;
}

/**
 * Measures the robustness of a run; yields between the simulations of tests that the configuration asks for.
 *
 * @param onRequested called before what the configuration asks for
 */
export function* measureRobustness(
  input: RobustnessInput,
  onRequested: () => void = () => undefined,
): Generator<void, ReportRobustness> {
  const { pairs, settings, config, strategy } = input;
  const { trades } = input.computed;
  const seed = mix32(hash32(input.inputs));
  const thorough = config.robustness?.cost_sweep === true;
  const costs = () => withSimulationErrors(strategy, () => breakEven({ pairs, settings, trades, thorough }));
  const always = alwaysMeasured(input, seed);
  const cost = thorough ? undefined : costs();
  onRequested();
  const break_even = cost ?? costs();
  const requested = config.robustness && (yield* requestedTests(input, break_even.paid, seed));
  const figures = { break_even, ...always, ...requested };
  const wallet = input.settings.startingBalance;
  const profit = input.computed.daily.equity.at(-1)! - wallet;
  return { findings: findingsOf(figures, { profit, wallet }), ...figures };
}

/** The parts of the section that every report has, without the break-even cost. */
function alwaysMeasured({ pairs, settings, config, computed, benchmark }: RobustnessInput, seed: number) {
  const { daily, trades } = computed;
  const wallet = settings.startingBalance;
  const days: RunDays = {
    equity: daily.equity,
    returns: dailyReturns(wallet, daily.equity),
    trades: closedPerDay(trades.closedAt, daily.day),
  };
  const hold = (held: readonly HeldPair[]) => holdEquity(held, wallet, daily, settings);
  const market = hold(pairs);
  const marketReturns = dailyReturns(wallet, market);
  const against: Against = (held) => {
    const known = daysWithCandles(held, daily.day);
    const reason = tooFewDays(known, 'candles of the benchmark');
    return reason === undefined
      ? attribution(days.equity, hold(held), known, wallet)
      : { ...NO_ATTRIBUTION, reason };
  };
  return {
    regimes: regimesSection(market, days, wallet),
    // No crisis is in simulated candles.
    stress: config.exchange === SIMULATED ? [] : stressResults(daily.day, days, marketReturns),
    benchmarks: [
      { benchmark: 'equal_weight' as const, pair: null, ...against(pairs) },
      againstBitcoin(pairs, benchmark, daily.day, against),
    ],
    bootstrap: bootstrapSection(days.returns, seed),
  };
}

function closedPerDay(closedAt: Float64Array, day: Float64Array): Float64Array {
  const counts = new Float64Array(day.length);
  for (let row = 0; row < closedAt.length; row++) counts[(dayOf(closedAt[row]!) - day[0]!) / DAY_MS]!++;
  return counts;
}

function tooShort(days: number): string {
  return `The run has ${formatCount(days, 'day')}; ${MIN_DAYS} are needed.`;
}

const NO_CHANGE = 'The equity never changes.';

function regimesSection(market: Float64Array, days: RunDays, wallet: number): ReportRobustness['regimes'] {
  const regimes = regimesOf(market);
  const before = regimes.reduce((count, cell) => count + (cell < 0 ? 1 : 0), 0);
  const known = regimes.length - before;
  if (known > 0) return { days_before: before, cells: regimeCells(regimes, days, wallet), reason: null };
  const reason = `The run has ${formatCount(regimes.length, 'day')}; a regime needs ${MIN_DAYS + 1} before it.`;
  return { days_before: before, cells: [], reason };
}

type Attribution = Omit<BenchmarkAttribution, 'benchmark' | 'pair'>;

/** Share of a run's days on which a benchmark must have candles. */
export const MIN_COVERED = 0.9;

/** Attribution to holding pairs. */
type Against = (held: readonly HeldPair[]) => Attribution;

/** Why no attribution is possible over the known days; undefined: it is. @param what has candles on these days */
function tooFewDays(known: Uint8Array, what: string): string | undefined {
  const days = known.length;
  if (days < MIN_DAYS) return tooShort(days);
  const covered = known.reduce((count, each) => count + each, 0);
  if (covered >= days * MIN_COVERED) return undefined;
  return `The ${what} cover ${covered} of ${days} days.`;
}

/**
 * Attribution to a benchmark, over the days on which it has candles: a gap would look like days on which it does not move.
 *
 * @param own equity at the end of each day; `held`: that of the benchmark
 * @param known 1 for each day with candles of the benchmark
 */
function attribution(own: Float64Array, held: Float64Array, known: Uint8Array, wallet: number): Attribution {
  const none = (reason: string): Attribution => ({ ...NO_ATTRIBUTION, reason });
  const returns = returnsBetween(own, known, wallet);
  const benchmark = returnsBetween(held, known, wallet);
  if (!(deviation(returns, 'population') > 0)) return none(NO_CHANGE);
  // The first and the last day have the costs of its fills.
  const isFlat = !(deviation(benchmark.subarray(1, -1), 'population') > 0);
  const figures = isFlat ? undefined : attribute(returns, benchmark);
  return figures ? { ...figures, reason: null } : none('The price of the benchmark never changes.');
}

/** Returns from each known day to the next one, so that both series lose nothing of the days between; the first is from the day before. */
function returnsBetween(equity: Float64Array, known: Uint8Array, wallet: number): Float64Array {
  const first = known.indexOf(1);
  return dailyReturns(
    first > 0 ? equity[first - 1]! : wallet,
    equity.filter((_, day) => known[day] === 1),
  );
}

/** Attribution to the first pair of bitcoin that the run trades, else to stored bitcoin. */
function againstBitcoin(
  pairs: readonly PairInput[],
  stored: RunBenchmark | undefined,
  day: Float64Array,
  against: Against,
): BenchmarkAttribution {
  const bitcoin = pairs.find(({ pair }) => pair.startsWith('BTC/'));
  if (!bitcoin && stored) {
    const { pair } = stored;
    const reason = unusable(stored) ?? uncovered(stored, day);
    if (reason !== undefined || 'reason' in stored)
      return { benchmark: 'btc', pair, ...NO_ATTRIBUTION, reason: reason! };
    const source = { timeframe: stored.source, candles: stored.candles.timestamp.length };
    const end = Math.max(...pairs.map(({ candles }) => candles.timestamp.at(-1)!));
    const held = { ...stored, candles: candlesUntil(stored, end) };
    return { benchmark: 'btc', pair, ...against([held]), source };
  }
  if (!bitcoin)
    return { benchmark: 'btc', pair: null, ...NO_ATTRIBUTION, reason: withoutBitcoin(pairs, day) };
  return { benchmark: 'btc', pair: bitcoin.pair, ...against([bitcoin]) };
}

function uncovered(stored: RunBenchmark, day: Float64Array): string | undefined {
  if ('reason' in stored) return undefined;
  return tooFewDays(daysWithCandles([stored], day), `stored candles of ${stored.pair}`);
}

function withoutBitcoin(pairs: readonly PairInput[], { length: days }: Float64Array): string {
  if (pairs.every(({ pair }) => /[/:]BTC$/.test(pair))) {
    return 'The run is in bitcoin: holding it has no return.';
  }
  // Stored bitcoin is not read for it.
  if (days < MIN_DAYS) return tooShort(days);
  const money = pairs[0]!.pair.slice(pairs[0]!.pair.indexOf('/'));
  return `The run has no pair of bitcoin. Collect BTC${money} or add it to the pairs to compare with it.`;
}

function bootstrapSection(returns: Float64Array, seed: number): ReportRobustness['bootstrap'] {
  const none = (reason: string) => ({ ...NO_BOOTSTRAP, reason });
  if (returns.length < MIN_DAYS) return none(tooShort(returns.length));
  if (!(deviation(returns, 'population') > 0)) return none(NO_CHANGE);
  return { ...bootstrap(returns, seed), reason: null };
}
