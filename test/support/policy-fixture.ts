import type { JobIn } from '#contract/backtests/backtest.ts';
import type { LookAhead } from '#contract/config/look-ahead.ts';
import type { TrialRecord } from '#contract/jobs/trial-ledger.ts';
import type { StoredVersion } from '#contract/registry/stored-registry.ts';
import type { StagingChecks, StagingOutcome } from '#domain/transitions/check-status.ts';
import type { Principal } from '#runtime/authenticate.ts';
import { pendingJob, SOME_RESULT, SOME_RESULTS, SOME_TIMING } from './jobs.ts';
import type { RegistryFixture } from './registry-fixture.ts';

/** Fixture of release policy tests: callers by role, and staging checks that a test ends. */

type Role = Principal['roles'][number];

/** The token names the role of the caller; default: researcher. Every caller but the admin is the owner. */
export const byRole = {
  authenticate: async (token: string | null): Promise<Principal> => {
    const role = (token ?? 'researcher') as Role;
    return { id: role === 'admin' ? 'root' : 'anonymous', roles: [role], groups: [] };
  },
};

export const as = (role: Role) => ({ Authorization: role });

const TASK_CHECKS = ['smoke_run', 'determinism', 'look_ahead'];

interface TaskChecks extends StagingChecks {
  readonly started: StoredVersion[];
  readonly end: (outcome: StagingOutcome) => void;
}

/** Staging checks that the test ends. */
export function taskChecks(): TaskChecks {
  const started: StoredVersion[] = [];
  let outcome: StagingOutcome | undefined;
  return {
    started,
    end: (given) => {
      outcome = given;
    },
    start: async (version) => {
      started.push(version);
      return `va-${version.version}`;
    },
    outcome: async () => outcome,
  };
}

/** Result of the checks of a task; `changes` override statuses by name. */
export function ended(
  status: 'passed' | 'failed',
  changes: Readonly<Record<string, StagingOutcome['checks'][number]['status']>> = {},
): StagingOutcome {
  const checks = TASK_CHECKS.map((name) => {
    const found = changes[name] ?? status;
    const value = name === 'look_ahead' && found === 'passed' ? 'certified' : null;
    return { name, status: found, message: 'm', value, threshold: null };
  });
  return { status, checks };
}

/** Stores a completed backtest with a changed job and result. */
export async function completedBacktest(
  fixture: Pick<RegistryFixture, 'jobs'>,
  jobId: string,
  changes: {
    readonly job?: Partial<JobIn<'pending'>>;
    readonly result?: Partial<typeof SOME_RESULT>;
    readonly results?: typeof SOME_RESULTS;
    readonly trials?: TrialRecord;
    readonly look_ahead?: LookAhead;
  },
): Promise<void> {
  const at = '2025-03-02T00:00:00.000Z';
  await fixture.jobs.create(pendingJob(jobId, changes.job));
  await fixture.jobs.claim(jobId, 'task', at);
  const result = { ...SOME_RESULT, ...changes.result };
  const { results = SOME_RESULTS, trials, look_ahead } = changes;
  const outcome = {
    result,
    results,
    timing: SOME_TIMING,
    warnings: [],
    ...(trials && { trials }),
    ...(look_ahead && { look_ahead }),
  };
  await fixture.jobs.complete(jobId, 1, outcome, at);
}
