import { beforeAll } from 'vitest';
import { runExecutions } from '../support/hyperopt-executions.ts';
import { type FinishedHyperoptJob, hyperoptFixture } from '../support/hyperopt-fixture.ts';
import { essence } from '../support/hyperopt-workers.ts';
import { fail } from '../support/run-asl.ts';

/** Part of a job that must not depend on its workers. */
export const resultOf = ({ job, trials }: FinishedHyperoptJob) => ({
  trials: trials.map(essence),
  status: job.status,
  outcome: job.status === 'completed' && { ...job.outcome, study_name: null },
});

/** Hyperopt jobs in executions whose workers are killed. */
export function lostWorkersFixture() {
  const hyperopt = hyperoptFixture();
  const { deps, work, dying } = hyperopt;
  let tasks = 0;
  const nextTask = () => `task-${++tasks}`;
  const fixture = {
    ...hyperopt,
    /** Job that a single worker ran undisturbed. */
    one: {} as FinishedHyperoptJob,
    nextTask,
    executions: (jobId: string, worker: (execution: string) => unknown) =>
      runExecutions(hyperopt, jobId, worker),
    /** Worker that is killed during its nth trial. */
    async killedAt(jobId: string, nth: number): Promise<never> {
      const { deps: own, died } = dying(nth);
      void work(jobId, 0, own, nextTask());
      await died;
      return fail('States.TaskFailed', 'killed');
    },
    finishing: (jobId: string) => work(jobId, 0, deps(), nextTask()),
  };
  beforeAll(async () => {
    fixture.one = await hyperopt.runWithOneWorker();
  });
  return fixture;
}
