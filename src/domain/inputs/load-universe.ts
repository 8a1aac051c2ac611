import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { LEFT_OUT_REASONS, type UniverseLeftOut } from '#contract/backtests/report-universe.ts';
import type { Universe } from '#contract/config/universe.ts';
import { BACKTEST_LIMITS } from '#contract/values/backtest-limits.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { CodedError } from '#contract/values/errors.ts';
import { listNames } from '#contract/values/list-names.ts';
import type { PairData } from '#engine/run/history.ts';
import { floorToGrid, TIMEFRAME_MS } from '#engine/timeframe.ts';
import { type DailyVolumes, dailyVolumes } from '#engine/universe/daily-volumes.ts';
import { firstVolumeDay } from '#engine/universe/membership.ts';
import { membershipOf, pairsToRead, planUniverse, type UniversePlan } from '#engine/universe/plan.ts';
import { chooseReads, type StrategyReads } from '../data/plan-reads.ts';
import { CorruptFileError, recordCorruption } from '../shared/corrupt-file.ts';
import { isoTime } from '../shared/iso-time.ts';
import type { LoadCandlesDeps, ReadPairs } from './load-candles.ts';

/** A run of which the pairs are known: its configuration has those that were ever in. */
interface ChosenUniverse {
  readonly config: ResolvedBacktestConfig;
  /** Pairs of which candles are read, those of the comparisons included. */
  readonly reads: ResolvedBacktestConfig;
  readonly plan: UniversePlan | undefined;
  readonly warnings: readonly string[];
}

/** What a universe chooses from. */
interface Candidates {
  readonly candidates: readonly DailyVolumes[];
  readonly leftOut: readonly UniverseLeftOut[];
}

/** The chosen pairs of a run with their candles. */
export interface LoadedUniverse extends ChosenUniverse {
  readonly loaded: readonly PairData[];
}

/**
 * Chooses the pairs of a run from the volumes of its candidates, which are read one after the other: only the candles of one are in
 * memory. Then loads the chosen pairs. A candidate of which something is missing or corrupt is left out; if that is seen only now,
 * the pairs are chosen again, and those that come in are loaded. A run without a universe stays as it is.
 * Throws DATA001 when no pair was ever in, VAL005 for more pairs than a run may have, and what `load` throws.
 */
export async function loadUniverse(
  deps: LoadCandlesDeps,
  config: ResolvedBacktestConfig,
  strategy: StrategyReads,
  pause: () => Promise<void>,
  load: (reads: ResolvedBacktestConfig, read?: ReadPairs) => Promise<PairData[]>,
): Promise<LoadedUniverse> {
  const { universe } = config;
  if (!universe) {
    return { config, reads: config, plan: undefined, warnings: [], loaded: await load(config) };
  }
  let from = await readVolumes(deps, config, strategy, pause);
  const loaded: ReadPairs['loaded'] = new Map();
  for (;;) {
    const chosen = choose(config, universe, from);
    const corrupt: CorruptFileError[] = [];
    const candles = await load(chosen.reads, { loaded, corrupt });
    if (corrupt.length === 0) return { ...chosen, loaded: candles };
    for (const error of corrupt) from = withoutCorrupt(config, from, error);
  }
}

/** Without the candidate of the corrupt file. Throws the error for a file of no candidate, which every choice would read. */
function withoutCorrupt(
  { pairs }: ResolvedBacktestConfig,
  { candidates, leftOut }: Candidates,
  error: CorruptFileError,
): Candidates {
  const { symbol } = error;
  const others = candidates.filter(({ pair }) => pair !== symbol);
  if (symbol === undefined || others.length === candidates.length) throw error;
  const all = [...leftOut, corruptCandidate(symbol, error)];
  return { candidates: others, leftOut: all.sort((a, b) => pairs.indexOf(a.pair) - pairs.indexOf(b.pair)) };
}

function choose(config: ResolvedBacktestConfig, universe: Universe, from: Candidates): ChosenUniverse {
  const { pairs } = config;
  const { candidates, leftOut } = from;
  const plan = planUniverse(universe, config, candidates, leftOut);
  const members = [...plan.membership.keys()];
  if (members.length === 0) throw noMembers(config, from);
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
    warnings: [...leftOutWarnings(leftOut), ...endWarnings(plan)],
  };
}

/** The loaded pairs of a run, with the times in which they may be entered, and those of the comparisons only. */
export function splitUniverse({ loaded, plan, config }: LoadedUniverse): {
  pairs: readonly PairData[];
  universe?: { plan: UniversePlan; others: readonly PairData[] };
} {
  if (!plan) return { pairs: loaded };
  const pairs = config.pairs.flatMap((pair) => {
    const data = loaded.find((each) => each.pair === pair);
    return data ? [{ ...data, membership: membershipOf(plan, plan.membership, pair)! }] : [];
  });
  return { pairs, universe: { plan, others: loaded.filter(({ pair }) => !plan.membership.has(pair)) } };
}

async function readVolumes(
  deps: LoadCandlesDeps,
  config: ResolvedBacktestConfig,
  strategy: StrategyReads,
  pause: () => Promise<void>,
): Promise<Candidates> {
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
  const instruments =
    config.precision === 'exchange' ? await deps.instruments.getMany(exchange, config.pairs) : undefined;
  const candidates: DailyVolumes[] = [];
  const leftOut: UniverseLeftOut[] = [];
  for (const pair of config.pairs) {
    const timeframe = sources.get(pair);
    const info = timeframe && stored.get(`${pair}#${timeframe}`);
    if (!info) {
      leftOut.push({ pair, reason: 'no_candles', missing: `${config.timeframe} candles` });
      continue;
    }
    if (instruments && !instruments.has(pair)) {
      leftOut.push({ pair, reason: 'no_instrument', missing: 'instrument' });
      continue;
    }
    const key = { exchange, symbol: pair, timeframe };
    const candles = await recordCorruption(deps, key, () =>
      deps.candles.read(key, start, Date.parse(date_range.end)),
    ).catch((error: unknown) => {
      if (!(error instanceof CorruptFileError)) throw error;
      leftOut.push(corruptCandidate(pair, error));
    });
    if (!candles) continue;
    // An age that suffices at the first choice suffices at all: candles that are stored later must not change the digest.
    const first = Math.max(Date.parse(info.first), oldest);
    candidates.push(dailyVolumes(candles, { pair, first, start, end, stepMs: TIMEFRAME_MS[timeframe] }));
    await pause();
  }
  return { candidates, leftOut };
}

function corruptCandidate(pair: string, { context }: CorruptFileError): UniverseLeftOut {
  return { pair, reason: 'corrupt_file', missing: String(context.file) };
}

const WHAT_TO_DO: Readonly<Record<UniverseLeftOut['reason'], string>> = {
  no_candles: 'Collect them, or import them for delisted pairs',
  no_instrument:
    'Collect the instruments with the candles, or set config.precision to none to choose from all',
  corrupt_file: 'Collect these months again',
};

/** One warning per reason: without these pairs, the choice may know who survived. */
function leftOutWarnings(leftOut: readonly UniverseLeftOut[]): string[] {
  return LEFT_OUT_REASONS.flatMap((reason) => {
    const own = leftOut.filter((each) => each.reason === reason);
    if (own.length === 0) return [];
    const names = own.map(({ pair, missing }) => `${pair} (${missing})`);
    return [
      `The universe could not choose candidates, because something is missing or corrupt: ${listNames(names)}. ${WHAT_TO_DO[reason]}`,
    ];
  });
}

/** A series that ends is of a delisted pair, or was not collected: only the user can tell. */
function endWarnings({ delistings, membership }: UniversePlan): string[] {
  const ended = [...delistings].flatMap(([pair, { at }]) =>
    membership.has(pair) ? [`${pair} (${isoTime(at)})`] : [],
  );
  if (ended.length === 0) return [];
  return [
    `Candles of the universe end before the run: ${listNames(ended)}. Open positions are closed there, less the haircut of config.universe.delisting_haircut; collect the candles of pairs that are still listed`,
  ];
}

function noMembers(config: ResolvedBacktestConfig, { candidates: ranked, leftOut }: Candidates): CodedError {
  const { universe, date_range } = config;
  const candidates = ranked.length;
  return new CodedError('DATA001', {
    message: `config.universe found no pair between ${date_range.start} and ${date_range.end}: none of ${candidates} stored candidates was ${universe!.min_age_days} days old and had volume on the day before a choice. ${[...leftOutWarnings(leftOut), 'Collect earlier candles, or lower min_age_days'].join('. ')}`,
    field: 'config.universe',
    context: { candidates },
  });
}
