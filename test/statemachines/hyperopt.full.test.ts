import { beforeAll, describe, expect, test } from 'vitest';
import { runExecutions } from '../support/hyperopt-executions.ts';
import { type FinishedHyperoptJob, hyperoptFixture } from '../support/hyperopt-fixture.ts';
import { computing, essence } from '../support/hyperopt-workers.ts';
import { fail } from '../support/run-asl.ts';

describe('hyperopt job with lost workers', () => {
  const fixture = hyperoptFixture();
  const { deps, newHyperopt, read, work, dying } = fixture;
  let one: FinishedHyperoptJob;
  beforeAll(async () => {
    one = await fixture.runWithOneWorker();
  });

  const executions = (jobId: string, worker: (execution: string) => unknown) =>
    runExecutions(fixture, jobId, worker);

  let tasks = 0;
  /** Worker that is killed during its nth trial. */
  async function killedAt(jobId: string, nth: number): Promise<never> {
    const { deps: own, died } = dying(nth);
    void work(jobId, 0, own, `task-${++tasks}`);
    await died;
    return fail('States.TaskFailed', 'killed');
  }
  const finishing = (jobId: string) => work(jobId, 0, deps(), `task-${++tasks}`);
  const resultOf = ({ job, trials }: FinishedHyperoptJob) => ({
    trials: trials.map(essence),
    status: job.status,
    outcome: job.status === 'completed' && { ...job.outcome, study_name: null },
  });

  test('next execution writes the result when workers die before it', async () => {
    const jobId = await newHyperopt();
    const close = () => Promise.reject(new Error('killed'));
    const names = await executions(jobId, async (execution) => {
      if (execution !== `${jobId}-1`) return finishing(jobId);
      await work(jobId, 0, deps({ ...computing, close }), `task-${++tasks}`).catch(() => undefined);
      const { job } = await read(jobId);
      expect(job).toMatchObject({ status: 'running', trials: one.job.trials });
      return fail('States.TaskFailed', 'killed');
    });
    expect(names).toEqual([`${jobId}-1`, `${jobId}-2`]);
    expect(resultOf(await read(jobId))).toEqual(resultOf(one));
  });

  test('five executions count from the last finished trial', async () => {
    const jobId = await newHyperopt();
    const third = `${jobId}-3`;
    let alive = true;
    const names = await executions(jobId, (execution) => {
      if (execution !== third || !alive) return fail('States.TaskFailed', 'killed');
      alive = false;
      return killedAt(jobId, 2);
    });
    expect(names).toHaveLength(8);
    expect((await read(jobId)).job).toMatchObject({ status: 'failed', runs: 8, progress_run: 3 });
  });
});
