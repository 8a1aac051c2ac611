import {
  ConditionalCheckFailedException,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { expect } from 'vitest';
import { DynamoJobQueue } from '#adapters/dynamo/job-queue.ts';
import { hyperoptLane } from '#domain/hyperopt/hyperopt-lane.ts';
import { hyperoptRepairs } from '#domain/hyperopt/repair-hyperopt.ts';
import { dispatch, start, takeSlot } from '#domain/queue/dispatch.ts';
import { repairRun } from '#domain/queue/end-run.ts';
import { memoryLog } from './backend.ts';
import { memoryExecutions } from './executions.ts';
import type { hyperoptFixture } from './hyperopt-fixture.ts';
import { pendingHyperopt } from './hyperopt-workers.ts';
import { fail, HYPEROPT_ASL, runAsl, type Step } from './run-asl.ts';

const fresh: Step = () => ({
  Payload: { statusCode: 200, body: { success: true, data: { result: { all_fresh: true } } } },
});

/**
 * Runs the executions of a hyperopt job, with the dispatcher's work after each, until no other follows.
 *
 * @param worker runs one worker; it gets the name of its execution
 * @returns names of the executions
 */
export async function runExecutions(
  fixture: ReturnType<typeof hyperoptFixture>,
  jobId: string,
  worker: (execution: string) => unknown,
): Promise<string[]> {
  const { client, tables } = fixture.engine();
  const RecordFailure: Step = async (parameters) => {
    const input = { ...(parameters as UpdateItemCommandInput), TableName: tables.jobs };
    await client.send(new UpdateItemCommand(input)).catch((error: unknown) => {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      fail('DynamoDB.ConditionalCheckFailedException');
    });
  };
  const executions = memoryExecutions();
  const queue = new DynamoJobQueue(client, tables.jobs);
  const deps = {
    ...fixture.deps(),
    queue,
    hyperoptExecutions: executions,
    random: Math.random,
    log: memoryLog().log,
    maxRunning: { backtest: 1, fast: 1, hyperopt: 100 },
    tasks: { stop: async () => undefined },
    countTrials: async () => undefined,
  };
  const lane = hyperoptLane(deps);
  const job = (await deps.hyperoptJobs.get(jobId))!;
  const taken = await takeSlot(deps, lane, { ...job, priority: 5 }, job.owner, 0);
  if (!taken) return [];
  await start(deps, lane, taken);
  const { execution_input } = pendingHyperopt(jobId, { workers: 1 });
  // The list grows while repair starts other executions.
  for (const name of executions.started) {
    const task: Step = () => worker(name);
    const steps = { CheckFreshness: fresh, RunWorker: task, RunWorkerOnDemand: task, RecordFailure };
    const { failure, path } = await runAsl(HYPEROPT_ASL, execution_input, steps, name);
    expect([path.at(-1), failure === undefined]).toEqual(
      failure ? ['AllWorkersLost', false] : ['Done', true],
    );
    executions.states.set(name, failure ? 'failed' : 'succeeded');
    const slot = (await queue.slots('hyperopt')).find(({ job_id }) => job_id === jobId)!;
    await repairRun(deps, lane, slot, hyperoptRepairs(deps));
    await dispatch(deps, lane);
  }
  return [...executions.started];
}
