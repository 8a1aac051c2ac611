import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { TrialRecord } from '#contract/jobs/trial-ledger.ts';
import { assetsOf } from '#contract/values/currency.ts';
import type { Digest } from '#contract/values/digest.ts';
import { SIMULATED } from '#contract/values/names.ts';
import { dailyReturns } from '#engine/metrics/equity-curve.ts';
import { roundNumbers } from '#engine/round.ts';
import {
  MIN_PROBABILITY_DAYS,
  probabilisticSharpe,
  type SharpeSample,
  sharpeSample,
} from '#engine/stats/sharpe-ratio.ts';
import type { ListedJobRow } from '../jobs/job-list-ports.ts';
import type { ClaimedJob } from '../ports.ts';
import { type DeflatedRun, deflateRun } from './deflate-run.ts';
import type { OwnerTrials, TrialResult, TrialRun } from './owner-trials.ts';

export interface CountTrialsDeps {
  readonly ownerTrials: Pick<OwnerTrials, 'count' | 'endRunning'>;
  readonly digest: Digest;
}

/** Larger Sharpe ratios have no meaning: the returns differ by rounding errors only. */
const MAX_SHARPE = 1_000;

/** Hex digits of a digest of daily returns: 48 bits, for at most 10,000 trials of an owner. */
const DIGEST_LENGTH = 12;

/**
 * Counts a completed backtest as a trial of its owner and session, and returns what its job keeps. Undefined for a validation and
 * for a job of the canary, which try nothing. The job is completed afterwards: a run that is counted and then cancelled stays
 * counted. Throws DATA005.
 *
 * @param equity at the end of each day, as the results have it
 */
export async function countBacktest(
  deps: CountTrialsDeps,
  { kind, config, owner, session }: Pick<ClaimedJob, 'kind' | 'config' | 'owner' | 'session'>,
  equity: readonly number[],
): Promise<TrialRecord | undefined> {
  if (kind !== 'backtest' || owner === undefined) return undefined;
  const returns = dailyReturns(config.dry_run_wallet, Float64Array.from(equity));
  const { sample, ...result } = resultOf(deps.digest, returns);
  const run: DeflatedRun = {
    ...trialRunOf(config, session ?? null),
    digest: result.digest,
    days: returns.length,
    sample,
  };
  const by = deflateRun(run, await deps.ownerTrials.count(owner, run, [result]));
  return roundNumbers({
    owner: by.owner.trials,
    strategy: by.strategy.trials,
    session: by.session?.trials ?? null,
    sharpe_ratio_daily: result.sharpe,
    probabilistic_sharpe_ratio:
      sample && run.days >= MIN_PROBABILITY_DAYS ? probabilisticSharpe(sample) : null,
    expected_max_sharpe_daily: by.owner.expected_max_sharpe_daily,
    deflated_sharpe_ratio: by.owner.deflated_sharpe_ratio,
    strategy_deflated_sharpe_ratio: by.strategy.deflated_sharpe_ratio,
    session_deflated_sharpe_ratio: by.session?.deflated_sharpe_ratio ?? null,
    lowest: by.lowest,
    returns: {
      count: run.days,
      digest: run.digest,
      skewness: sample?.skewness ?? null,
      kurtosis: sample?.kurtosis ?? null,
    },
  });
}

/**
 * Counts the trials of a hyperopt job. Throws DATA005.
 *
 * @param job `unknown`: digests of the trials that ended without daily returns, equal for equal trials
 * @param returns daily returns of the complete trials
 */
export async function countStudy(
  { ownerTrials, digest }: CountTrialsDeps,
  job: {
    readonly owner: string;
    readonly session: string | null;
    readonly base: ResolvedBacktestConfig;
    readonly unknown: readonly string[];
  },
  returns: Iterable<Float64Array>,
): Promise<void> {
  const { owner, session, base, unknown } = job;
  const results = new Map<string, TrialResult>();
  const all = [
    ...[...returns].map((each) => resultOf(digest, each)),
    ...unknown.map((each) => ({ digest: each.slice(0, DIGEST_LENGTH), sharpe: null })),
  ];
  for (const each of all) results.set(each.digest, { digest: each.digest, sharpe: each.sharpe });
  await ownerTrials.count(owner, trialRunOf(base, session), [...results.values()]);
}

/** What a run of this configuration tries. Exchange and timeframe do not matter: other candles of an asset show the same market. */
export function trialRunOf(
  config: Pick<ListedJobRow, 'strategy' | 'exchange' | 'pairs' | 'date_range'>,
  session: string | null,
): TrialRun {
  const { strategy, exchange, pairs, date_range } = config;
  return {
    strategy,
    simulated: exchange === SIMULATED,
    assets: assetsOf(pairs),
    start: Date.parse(date_range.start),
    end: Date.parse(date_range.end),
    session,
  };
}

function resultOf(
  digest: Digest,
  returns: Float64Array,
): TrialResult & { readonly sample: SharpeSample | undefined } {
  const found = sharpeSample(returns);
  // Rounded as the job stores it, so that lists compute the same.
  const sample = found && Math.abs(found.sharpe) < MAX_SHARPE ? roundNumbers(found) : undefined;
  return { digest: digestOf(digest, returns), sharpe: sample?.sharpe ?? null, sample };
}

/** Digest of daily returns, bit by bit. Runs that never traded are one trial, however long they are. */
function digestOf(digest: Digest, returns: Float64Array): string {
  const bytes = returns.every((each) => each === 0)
    ? 'no trades'
    : new Uint8Array(returns.buffer, returns.byteOffset, returns.byteLength);
  return digest(bytes).slice(0, DIGEST_LENGTH);
}
