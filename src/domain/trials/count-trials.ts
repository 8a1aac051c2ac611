import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { TrialRecord } from '#contract/backtests/trial-ledger.ts';
import { dailyReturns } from '#engine/metrics/equity-curve.ts';
import { roundNumbers } from '#engine/report/round.ts';
import {
  combineMoments,
  momentsOf,
  NO_VALUES,
  type RunningMoments,
  sampleVariance,
} from '#engine/stats/running-moments.ts';
import {
  deflatedSharpe,
  expectedMaximumSharpe,
  probabilisticSharpe,
  sharpeSample,
} from '#engine/stats/sharpe-ratio.ts';
import type { ClaimedJob } from '../ports.ts';
import type { NewTrials, OwnerTrials, TrialCandles, TrialGroup, TrialScope } from './owner-trials.ts';

/** A completed run. */
interface CompletedTrial {
  /** Digest of the results: equal inputs give equal results. */
  readonly digest: string;
  /** Equity at the end of each day. */
  readonly equity: readonly number[];
}

/** Trials and the moments of their Sharpe ratios. */
type Selection = Pick<TrialGroup, 'trials' | 'sharpe'>;

/** Larger Sharpe ratios have no meaning: the returns differ by rounding errors only. */
const MAX_SHARPE = 1_000;

/**
 * Counts a completed backtest as a trial of its owner and session, and returns what its job keeps. Undefined for a validation and
 * for a job of the canary, which try nothing. The job is completed afterwards: a run that is counted and then cancelled stays
 * counted. Throws DATA005.
 */
export async function countBacktest(
  ownerTrials: OwnerTrials,
  { kind, config, owner, session }: ClaimedJob,
  { digest, equity }: CompletedTrial,
): Promise<TrialRecord | undefined> {
  if (kind !== 'backtest' || owner === undefined) return undefined;
  const sample = boundedSample(dailyReturns(config.dry_run_wallet, Float64Array.from(equity)));
  const of = candlesOf(config);
  const trial: NewTrials = { of, digest, trials: 1, sharpe: momentsOf(sample ? [sample.sharpe] : []) };
  const overlapping = async (scope: TrialScope) =>
    (await ownerTrials.count(scope, trial)).filter((group) => overlaps(group, of));
  const [own, tried] = await Promise.all([
    overlapping({ owner, session: null }),
    session === undefined ? undefined : overlapping({ owner, session }),
  ]);
  const all = sumOf(own);
  const ofStrategy = sumOf(own.filter((group) => !group.of || group.of.strategy === of.strategy));
  const ofSession = tried && sumOf(tried);
  const deflated = (selection: Selection) => {
    const variance = varianceOf(selection);
    if (!sample || variance === undefined) return null;
    return deflatedSharpe(sample, { variance, trials: selection.trials });
  };
  const variance = varianceOf(all);
  return roundNumbers({
    owner: all.trials,
    strategy: ofStrategy.trials,
    session: ofSession?.trials ?? null,
    sharpe_ratio_daily: sample?.sharpe ?? null,
    probabilistic_sharpe_ratio: sample ? probabilisticSharpe(sample) : null,
    expected_max_sharpe_daily: variance === undefined ? null : expectedMaximumSharpe(variance, all.trials),
    deflated_sharpe_ratio: deflated(all),
    strategy_deflated_sharpe_ratio: deflated(ofStrategy),
    session_deflated_sharpe_ratio: ofSession ? deflated(ofSession) : null,
  });
}

/**
 * Counts the trials of a hyperopt job, one for each of its trials. Throws DATA005.
 *
 * @param job `digest`: equal for jobs with the same trials; `trials`: those that have ended
 * @param returns daily returns of the complete trials
 */
export async function countStudy(
  ownerTrials: OwnerTrials,
  job: TrialScope & {
    readonly base: ResolvedBacktestConfig;
    readonly digest: string;
    readonly trials: number;
  },
  returns: Iterable<ArrayLike<number>>,
): Promise<void> {
  const { owner, session, base, digest, trials } = job;
  const ratios = [...returns].flatMap((each) => boundedSample(each)?.sharpe ?? []);
  const study: NewTrials = { of: candlesOf(base), digest, trials, sharpe: momentsOf(ratios) };
  await Promise.all([
    ownerTrials.count({ owner, session: null }, study),
    ...(session === null ? [] : [ownerTrials.count({ owner, session }, study)]),
  ]);
}

function candlesOf({ strategy, date_range, pairs }: ResolvedBacktestConfig): TrialCandles {
  return { strategy, start: Date.parse(date_range.start), end: Date.parse(date_range.end), pairs };
}

/** The ranges intersect, and at least one pair is in both. */
function overlaps({ of }: Pick<TrialGroup, 'of'>, run: TrialCandles): boolean {
  if (!of) return true;
  return of.start < run.end && run.start < of.end && of.pairs.some((pair) => run.pairs.includes(pair));
}

function boundedSample(returns: ArrayLike<number>) {
  const sample = sharpeSample(returns);
  return sample && Math.abs(sample.sharpe) < MAX_SHARPE ? sample : undefined;
}

function sumOf(groups: readonly TrialGroup[]): Selection {
  return {
    trials: groups.reduce((sum, { trials }) => sum + trials, 0),
    sharpe: groups.reduce<RunningMoments>((sum, { sharpe }) => combineMoments(sum, sharpe), NO_VALUES),
  };
}

/** Variance of the trials' Sharpe ratios: 0 for a single trial, which was not selected. Undefined when fewer than two of several are known. */
function varianceOf({ trials, sharpe }: Selection): number | undefined {
  return trials === 1 ? 0 : sampleVariance(sharpe);
}
