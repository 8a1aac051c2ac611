import { describe, expect, test } from 'vitest';
import { computing } from '../support/hyperopt-workers.ts';
import { fail } from '../support/run-asl.ts';
import { lostWorkersFixture, resultOf } from './lost-workers-fixture.ts';

describe('hyperopt job with lost workers', () => {
  const fixture = lostWorkersFixture();
  const { deps, newHyperopt, read, work, nextTask, executions, killedAt, finishing } = fixture;

  test('next execution writes the result when workers die before it', async () => {
    const jobId = await newHyperopt();
    const sample = () => Promise.reject(new Error('killed'));
    const names = await executions(jobId, async (execution) => {
      if (execution !== `${jobId}-1`) return finishing(jobId);
      await work(jobId, 0, deps({ ...computing, sample }), nextTask()).catch(() => undefined);
      const { job } = await read(jobId);
      expect(job).toMatchObject({ status: 'running', trials: fixture.one.job.trials });
      return fail('States.TaskFailed', 'killed');
    });
    expect(names).toEqual([`${jobId}-1`, `${jobId}-2`]);
    expect(resultOf(await read(jobId))).toEqual(resultOf(fixture.one));
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
