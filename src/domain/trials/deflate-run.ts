import type { Deflation } from '#contract/jobs/trial-ledger.ts';
import { lowestOf } from '#contract/values/deflated-ratio.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { formatCount } from '#contract/values/format-count.ts';
import type { TrialScope } from '#contract/values/trial-scopes.ts';
import {
  combineMoments,
  momentsOf,
  type RunningMoments,
  sampleVariance,
} from '#engine/stats/running-moments.ts';
import {
  expectedMaximumSharpe,
  MIN_PROBABILITY_DAYS,
  probabilisticSharpe,
  type SharpeSample,
  selectionVariance,
} from '#engine/stats/sharpe-ratio.ts';
import type { TrialRun, TrialSum, TrialsOfOwner } from './owner-trials.ts';

/** A run as it is deflated. */
export interface DeflatedRun extends TrialRun {
  readonly digest: string;
  /** Number of daily returns. */
  readonly days: number;
  /** Undefined when the daily returns do not vary. */
  readonly sample: SharpeSample | undefined;
}

/** Part of the date range of a run that a trial shares, to count against it. */
const MIN_SHARED = 0.05;

/** Number of trials and moments of their Sharpe ratios. */
interface Selection {
  readonly trials: number;
  readonly sharpe: RunningMoments;
}

/** A run deflated by each scope. */
export interface Deflations {
  readonly owner: Deflation;
  readonly strategy: Deflation;
  /** Null without a session. */
  readonly session: Deflation | null;
  /** The lowest of them. */
  readonly lowest: Deflation;
}

/** Deflates a run by the trials of its owner. */
export function deflateRun(run: DeflatedRun, known: TrialsOfOwner): Deflations {
  return deflaterOf(known)(run);
}

/** Deflates runs of one owner. What counts against runs of the same range, assets, strategy and session is selected once. */
export function deflaterOf(known: TrialsOfOwner): (run: DeflatedRun) => Deflations {
  const counted = new Map<string, Counted>();
  return (run) => {
    const { simulated, assets, start, end, days, strategy, session } = run;
    const key = JSON.stringify([simulated, assets, start, end, days, strategy, session]);
    const against = counted.get(key) ?? countedAgainst(run, known);
    counted.set(key, against);
    return deflateBy(run, against);
  };
}

/** Trials of a scope that count against a run: each digest once, in one order, because sums of floating-point numbers depend on it. */
interface CountedScope {
  readonly digests: readonly string[];
  readonly ratios: ReadonlyMap<string, number | null>;
  readonly sums: readonly TrialSum[];
}

interface Counted {
  readonly owner: CountedScope;
  readonly strategy: CountedScope;
  /** Null without a session. */
  readonly session: CountedScope | null;
}

function countedAgainst(run: DeflatedRun, known: TrialsOfOwner): Counted {
  const trials = known.trials.filter((trial) => countsAgainst(run, trial));
  const sums = known.sums.filter(({ of }) => countsAgainst(run, of));
  const scope = (isOf: (of: TrialSum['of']) => boolean): CountedScope => {
    const ratios = new Map(trials.filter(isOf).map((trial) => [trial.digest, trial.sharpe]));
    return { digests: [...ratios.keys()].sort(), ratios, sums: sums.filter(({ of }) => isOf(of)) };
  };
  return {
    owner: scope(() => true),
    strategy: scope(({ strategy }) => strategy === null || strategy === run.strategy),
    // The session of a sum may be unknown: the owner's ratio has its trials.
    session: run.session === null ? null : scope(({ session }) => session === run.session),
  };
}

function deflateBy(run: DeflatedRun, against: Counted): Deflations {
  const by = (scope: TrialScope, counted: CountedScope) => deflate(run, scope, selectionOf(run, counted));
  const owner = by('owner', against.owner);
  const strategy = by('strategy', against.strategy);
  const session = against.session && by('session', against.session);
  return { owner, strategy, session, lowest: lowestOf(owner, session ? [strategy, session] : [strategy]) };
}

/** The rule by which a trial counts against a run. Unknown parts of a sum overlap with every run. */
function countsAgainst(run: DeflatedRun, { simulated, assets, start, end }: TrialSum['of']): boolean {
  if (simulated !== null && simulated !== run.simulated) return false;
  if (assets && !assets.some((asset) => run.assets.includes(asset))) return false;
  if (start === null || end === null) return true;
  const shared = Math.min(end, run.end) - Math.max(start, run.start);
  // A requested range may begin long before the first candle: only the days that were traded make it the run's own.
  return shared >= MIN_SHARED * Math.min(run.end - run.start, run.days * DAY_MS);
}

/** The run and the trials with other daily returns than its own, each once, and the sums. */
function selectionOf({ digest, sample }: DeflatedRun, { digests, ratios, sums }: CountedScope): Selection {
  const own = sample?.sharpe ?? null;
  const all = ratios.has(digest) ? digests : [...digests, digest].sort();
  const known = all.flatMap((each) => (each === digest ? own : ratios.get(each)) ?? []);
  return {
    trials: sums.reduce((count, sum) => count + sum.trials, all.length),
    sharpe: sums.reduce((moments, { sharpe }) => combineMoments(moments, sharpe), momentsOf(known)),
  };
}

function deflate({ days, sample }: DeflatedRun, scope: TrialScope, { trials, sharpe }: Selection): Deflation {
  const undefinedBecause = (reason: string): Deflation => ({
    scope,
    trials,
    sharpe_variance_daily: null,
    expected_max_sharpe_daily: null,
    deflated_sharpe_ratio: null,
    reason,
  });
  if (days < MIN_PROBABILITY_DAYS) {
    return undefinedBecause(
      `the run has ${formatCount(days, 'daily return')}, and at least ${MIN_PROBABILITY_DAYS} are needed`,
    );
  }
  const spread = trials === 1 ? 0 : sampleVariance(sharpe);
  if (spread === undefined) {
    return undefinedBecause(`fewer than two of the ${trials} trials have a Sharpe ratio`);
  }
  const variance = selectionVariance(spread, days);
  const expected = expectedMaximumSharpe(variance, trials);
  const ratio = sample ? probabilisticSharpe(sample, expected) : null;
  return {
    scope,
    trials,
    sharpe_variance_daily: variance,
    expected_max_sharpe_daily: expected,
    deflated_sharpe_ratio: ratio,
    reason: ratio === null ? reasonOf(sample) : null,
  };
}

function reasonOf(sample: SharpeSample | undefined): string {
  return sample
    ? 'the skewness of the daily returns leaves the Sharpe ratio without a standard error'
    : 'the daily returns do not vary';
}
