import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import { CodedError } from '#contract/errors.ts';
import { BACKTEST_LIMITS } from '#contract/limits.ts';
import { DAY_MS, floorToGrid, TIMEFRAME_MS } from '#engine/timeframe.ts';
import { type DailyVolumes, dailyVolumes, endsBefore } from '#engine/universe/daily-volumes.ts';
import { firstVolumeDay } from '#engine/universe/membership.ts';
import { pairsToRead, planUniverse, type UniversePlan } from '#engine/universe/plan.ts';
import { recordCorruption } from './data/corrupt-file.ts';
import { chooseReads, type StrategyReads } from './data/plan-reads.ts';
import { listed } from './listed.ts';
import type { LoadCandlesDeps, PairCandles } from './load-candles.ts';
import { isoTime } from './validate.ts';

/** A run of which the pairs are known: its configuration has those that were ever in. */
export interface ChosenUniverse {
  readonly config: ResolvedBacktestConfig;
  /** Pairs of which candles are read, those of the comparisons included. */
  readonly reads: ResolvedBacktestConfig;
  readonly plan: UniversePlan | undefined;
  readonly warnings: readonly string[];
}

/**
 * Chooses the pairs of a run from the volumes of its candidates, which are read one after the other: only the candles of one are in
 * memory. A run without a universe stays as it is.
 * Throws DATA001 when no pair was ever in, VAL005 for more pairs than a run may have, CorruptFileError (DATA005).
 */
export async function chooseUniverse(
  deps: LoadCandlesDeps,
  config: ResolvedBacktestConfig,
  strategy: StrategyReads,
  pause: () => Promise<void>,
): Promise<ChosenUniverse> {
  const { universe, pairs } = config;
  if (!universe) return { config, reads: config, plan: undefined, warnings: [] };
  const { candidates, missing } = await readVolumes(deps, config, strategy, pause);
  const plan = planUniverse(universe, config, candidates);
  const members = [...plan.membership.keys()];
  if (members.length === 0) throw noMembers(config, candidates.length);
  const read = pairsToRead(plan);
  const { max } = BACKTEST_LIMITS.pairs;
  if (read.length > max) {
    throw new CodedError('VAL005', {
      message: `config.universe has ${read.length} pairs over the whole range, its comparisons included, and a run reads at most ${max}: lower n, rebalance less often, or shorten date_range`,
      field: 'config.universe',
      context: { count: read.length, max },
    });
  }
  return {
    config: { ...config, pairs: members },
    reads: { ...config, pairs: pairs.filter((pair) => read.includes(pair)) },
    plan,
    warnings: [...missingWarnings(config, missing), ...endWarnings(config, plan)],
  };
}

/** The loaded pairs of a run, with the times in which they may be entered, and those of the comparisons only. */
export function splitUniverse(
  loaded: readonly PairCandles[],
  { plan, config }: ChosenUniverse,
): { pairs: readonly PairCandles[]; universe?: { plan: UniversePlan; others: readonly PairCandles[] } } {
  if (!plan) return { pairs: loaded };
  const pairs = config.pairs.flatMap((pair) => {
    const data = loaded.find((each) => each.pair === pair);
    return data ? [{ ...data, members: plan.membership.get(pair)! }] : [];
  });
  return { pairs, universe: { plan, others: loaded.filter(({ pair }) => !plan.membership.has(pair)) } };
}

async function readVolumes(
  deps: LoadCandlesDeps,
  config: ResolvedBacktestConfig,
  strategy: StrategyReads,
  pause: () => Promise<void>,
): Promise<{ candidates: DailyVolumes[]; missing: string[] }> {
  const { exchange, date_range, universe } = config;
  const start = firstVolumeDay(universe!, Date.parse(date_range.start));
  const oldest = start + (universe!.lookback_days - universe!.min_age_days) * DAY_MS;
  // The last day counts for the comparisons once it has ended.
  const end = floorToGrid(Date.parse(date_range.end), DAY_MS);
  const sources = new Map(
    (await chooseReads(deps, config, strategy)).flatMap(({ pair, source }) =>
      source ? [[pair, source.timeframe] as const] : [],
    ),
  );
  const stored = await deps.series.getMany(
    exchange,
    [...sources].map(([symbol, timeframe]) => ({ symbol, timeframe })),
  );
  const candidates: DailyVolumes[] = [];
  const missing: string[] = [];
  for (const pair of config.pairs) {
    const timeframe = sources.get(pair);
    const info = timeframe && stored.get(`${pair}#${timeframe}`);
    if (!info) {
      missing.push(pair);
      continue;
    }
    const key = { exchange, symbol: pair, timeframe };
    const candles = await recordCorruption(deps, key, () =>
      deps.candles.read(key, start, Date.parse(date_range.end)),
    );
    // An age that suffices at the first choice suffices at all: candles that are stored later must not change the digest.
    const first = Math.max(Date.parse(info.first), oldest);
    candidates.push(dailyVolumes(candles, { pair, first, start, end, stepMs: TIMEFRAME_MS[timeframe] }));
    await pause();
  }
  return { candidates, missing };
}

function missingWarnings({ timeframe }: ResolvedBacktestConfig, missing: readonly string[]): string[] {
  if (missing.length === 0) return [];
  return [`No ${timeframe} candles are stored of ${listed(missing)}: the universe could not choose them`];
}

/** A series that ends is of a delisted pair, or was not collected: only the user can tell. */
function endWarnings(
  { date_range }: ResolvedBacktestConfig,
  { candidates, membership }: UniversePlan,
): string[] {
  const ended = candidates.flatMap((each) => {
    const end = membership.has(each.pair) ? endsBefore(each, Date.parse(date_range.end)) : null;
    return end === null ? [] : [`${each.pair} (${isoTime(end)})`];
  });
  if (ended.length === 0) return [];
  return [
    `Candles of the universe end before the run: ${listed(ended)}. Open positions are closed there; collect the candles of pairs that are still listed`,
  ];
}

function noMembers(config: ResolvedBacktestConfig, candidates: number): CodedError {
  const { universe, date_range } = config;
  return new CodedError('DATA001', {
    message: `config.universe found no pair between ${date_range.start} and ${date_range.end}: none of ${candidates} stored candidates was ${universe!.min_age_days} days old and had volume on the day before a choice. Collect earlier candles, or lower min_age_days`,
    field: 'config.universe',
    context: { candidates },
  });
}
