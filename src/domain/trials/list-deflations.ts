import type { Deflation, TrialRecord } from '#contract/jobs/trial-ledger.ts';
import { roundNumbers } from '#engine/round.ts';
import type { JobRow } from '../jobs/job-list-ports.ts';
import { trialRunOf } from './count-trials.ts';
import { type DeflatedRun, deflaterOf } from './deflate-run.ts';
import type { OwnerTrials } from './owner-trials.ts';

/**
 * Ratios of listed backtests, deflated by the trials of now, by the ID of their job. Jobs that are not completed, and those that an
 * earlier version completed, have none. It reads the trials of each owner once. Throws DATA005.
 */
export async function listDeflations(
  { ownerTrials }: { readonly ownerTrials: Pick<OwnerTrials, 'read'> },
  rows: readonly JobRow[],
): Promise<ReadonlyMap<string, Deflation>> {
  const runs = rows.flatMap((row) => {
    const run = deflatedRunOf(row);
    return run ? [{ jobId: row.job_id, owner: row.owner, run }] : [];
  });
  const found = new Map<string, Deflation>();
  for (const [owner, own] of Map.groupBy(runs, (each) => each.owner)) {
    const sessions = own.flatMap(({ run }) => run.session ?? []);
    const known = await ownerTrials.read(owner, [...new Set(sessions)]);
    const deflate = deflaterOf(known);
    for (const [index, { jobId, run }] of own.entries()) {
      found.set(jobId, roundNumbers(deflate(run).lowest));
      // Each may take a millisecond: other requests have their turn.
      if (index % RUNS_OF_A_TURN === RUNS_OF_A_TURN - 1)
        await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return found;
}

const RUNS_OF_A_TURN = 20;

/** Deflated ratio of each of the rows, by the ID of its job, for the order of a list. Throws DATA005. */
export async function listDeflatedRatios(
  deps: { readonly ownerTrials: Pick<OwnerTrials, 'read'> },
  rows: readonly JobRow[],
): Promise<ReadonlyMap<string, number | null>> {
  const deflations = await listDeflations(deps, rows);
  return new Map([...deflations].map(([jobId, deflation]) => [jobId, deflation.deflated_sharpe_ratio]));
}

/** The run of a row; undefined without daily returns. */
function deflatedRunOf(row: JobRow): DeflatedRun | undefined {
  const { trial_record: record, session } = row;
  if (!record?.returns) return undefined;
  const { count, digest } = record.returns;
  return { ...trialRunOf(row, session), digest, days: count, sample: sampleOf(record) };
}

function sampleOf({ sharpe_ratio_daily: sharpe, returns }: TrialRecord): DeflatedRun['sample'] {
  const { count = 0, skewness = null, kurtosis = null } = returns ?? {};
  if (sharpe === null || skewness === null || kurtosis === null) return undefined;
  return { sharpe, periods: count, skewness, kurtosis };
}
