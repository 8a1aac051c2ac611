import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { UniverseLeftOut } from '#contract/backtests/report-universe.ts';
import type { Universe } from '#contract/config/universe.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { floorToGrid, tradedRange } from '../timeframe.ts';
import { type DailyVolumes, endsBefore } from './daily-volumes.ts';
import { chooseOver, type Delisting, type Membership, membersAt, type PairMembership } from './membership.ts';

/** Pairs that a run trades, and those of the choices that it is compared with. */
export interface UniversePlan {
  /** In the order of the run. */
  readonly candidates: readonly DailyVolumes[];
  /** Candidates that could not be chosen. */
  readonly leftOut: readonly UniverseLeftOut[];
  readonly membership: Membership;
  /** Candidates whose candles end a day or more before the run. */
  readonly delistings: ReadonlyMap<string, Delisting>;
  readonly rebalances: number;
  /** Choices with fewer pairs than asked for. */
  readonly short: number;
  /** The same rule among the candidates that still trade at the end. */
  readonly survivors: Membership;
  /** The pairs that rank highest at the end, over the whole range. */
  readonly finalRanking: Membership;
}

/** Chooses the pairs of a run from the volumes of its candidates. Pure: the same volumes, the same choice. */
export function planUniverse(
  universe: Universe,
  config: Pick<ResolvedBacktestConfig, 'date_range' | 'timeframe'>,
  candidates: readonly DailyVolumes[],
  leftOut: readonly UniverseLeftOut[] = [],
): UniversePlan {
  const range = tradedRange(config);
  const lastDay = floorToGrid(range.end, DAY_MS);
  const { membership, rebalances, short } = chooseOver(universe, candidates, range);
  const delistings = delistingsOf(universe, candidates, range.end);
  // A pair that ended on the last whole day of a run, which ends within the next day, was delisted as well.
  const alive = candidates.filter(
    ({ pair, start, candles }) =>
      !delistings.has(pair) && candles[Math.round((lastDay - start) / DAY_MS) - 1],
  );
  const final = membersAt(universe, alive, lastDay);
  return {
    candidates,
    leftOut,
    rebalances,
    short,
    delistings,
    membership: inOrder(membership, candidates),
    survivors: inOrder(chooseOver(universe, alive, range).membership, candidates),
    finalRanking: inOrder(
      new Map(final.map((pair) => [pair, [{ from: range.start, to: range.end }]])),
      candidates,
    ),
  };
}

/** All pairs of which a run reads candles: those that were ever in, then those of the comparisons. */
export function pairsToRead({ membership, survivors, finalRanking }: UniversePlan): string[] {
  return [...new Set([...membership.keys(), ...survivors.keys(), ...finalRanking.keys()])];
}

function delistingsOf(
  { delisting_haircut: haircut }: Universe,
  candidates: readonly DailyVolumes[],
  end: number,
): UniversePlan['delistings'] {
  return new Map(
    candidates.flatMap((each) => {
      const at = endsBefore(each, end);
      return at === null ? [] : [[each.pair, { at, haircut }] as const];
    }),
  );
}

/** Membership of a pair in a run or in one of its comparisons; undefined when it was never in. */
export function membershipOf(
  { delistings }: UniversePlan,
  members: Membership,
  pair: string,
): PairMembership | undefined {
  const intervals = members.get(pair);
  const delisting = delistings.get(pair);
  return intervals && { intervals, ...(delisting && { delisting }) };
}

/** In the order of the candidates, in which pairs of a run have their slots. */
function inOrder(membership: Membership, candidates: readonly DailyVolumes[]): Membership {
  return new Map(
    candidates.flatMap(({ pair }) => {
      const intervals = membership.get(pair);
      return intervals ? [[pair, intervals] as const] : [];
    }),
  );
}
