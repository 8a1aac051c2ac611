import {
  ConditionalCheckFailedException,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { repairHyperoptOf } from '#domain/hyperopt/reconcile-hyperopts.ts';
import { type FinishedHyperoptJob, hyperoptFixture } from '../support/hyperopt-fixture.ts';
import { computing, essence, pendingHyperopt } from '../support/hyperopt-workers.ts';
import { fail, HYPEROPT_ASL, runAsl, type Step } from '../support/run-asl.ts';

const inputOf = (jobId: string, workers: number) => pendingHyperopt(jobId, { workers }).execution_input;
const response = (all_fresh: unknown) => () => ({
  Payload: { statusCode: 200, body: { success: true, data: { result: { all_fresh } } } },
});
const fresh = response(true);

describe('hyperopt job with lost workers', () => {
  const fixture = hyperoptFixture();
  const { deps, newHyperopt, read, work, dying } = fixture;
  let one: FinishedHyperoptJob;
  beforeAll(async () => {
    one = await fixture.runWithOneWorker();
  });

  /** Real write of the state on a real table. */
  const RecordFailure: Step = async (parameters) => {
    const { client, tables } = fixture.engine();
    const input = { ...(parameters as UpdateItemCommandInput), TableName: tables.jobs };
    await client.send(new UpdateItemCommand(input)).catch((error: unknown) => {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      fail('DynamoDB.ConditionalCheckFailedException');
    });
  };

  /** Runs executions of a hyperopt job with a reconcile run after each. `worker` gets the name of its execution. */
  async function executions(jobId: string, worker: (execution: string) => unknown): Promise<string[]> {
    const names = [jobId];
    const own = {
      ...deps(),
      graceMs: 0,
      tasks: { stop: async () => undefined },
      hyperoptExecutions: {
        start: async (_: unknown, __: number, name = jobId) => void names.push(name),
        stop: async () => undefined,
        state: async () => ({ status: 'failed' as const }),
      },
    };
    for (const name of names) {
      const task: Step = () => worker(name);
      const steps = { CheckFreshness: fresh, RunWorker: task, RunWorkerOnDemand: task, RecordFailure };
      const { failure, path } = await runAsl(HYPEROPT_ASL, inputOf(jobId, 1), steps);
      expect([path.at(-1), failure === undefined]).toEqual(
        failure ? ['AllWorkersLost', false] : ['Done', true],
      );
      await repairHyperoptOf(own, name);
    }
    return names;
  }

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
      if (execution !== jobId) return finishing(jobId);
      await work(jobId, 0, deps({ ...computing, close }), `task-${++tasks}`).catch(() => undefined);
      const { job } = await read(jobId);
      expect(job).toMatchObject({ status: 'running', trials: one.job.trials });
      return fail('States.TaskFailed', 'killed');
    });
    expect(names).toEqual([jobId, `${jobId}-2`]);
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
