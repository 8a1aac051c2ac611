import { DynamoHyperoptStore } from '#adapters/dynamo/hyperopt-store.ts';
import { DynamoJobQueue } from '#adapters/dynamo/job-queue.ts';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { DynamoStrategyCosts } from '#adapters/dynamo/strategy-costs.ts';
import type { JobIn, StoredBacktestJob } from '#contract/backtests/backtest.ts';
import { enqueue } from '#domain/queue/enqueue.ts';
import { backtestLane } from '#domain/queue/lanes.ts';
import { endExecutions, type RepairDeps } from '#domain/repair/repair-jobs.ts';
import { memoryLog } from './backend.ts';
import type { TestEngine } from './engine.ts';
import { memoryExecutions } from './executions.ts';
import { pendingJob } from './jobs.ts';

export const START = Date.parse('2025-03-01T00:00:00.000Z');
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;

/** Queue of backtests with this number of slots on tables of its own. */
export async function queueScene(engine: TestEngine, slots: number) {
  const { jobs: table } = await engine.freshTables();
  const jobs = new DynamoJobStore(engine.client, table);
  const queue = new DynamoJobQueue(engine.client, table);
  const executions = memoryExecutions();
  const clock = { time: START, now: () => clock.time };
  const errors: unknown[] = [];
  const deps: RepairDeps = {
    jobs,
    queue,
    executions,
    clock,
    strategyCosts: new DynamoStrategyCosts(engine.client, table),
    hyperoptJobs: new DynamoHyperoptStore(engine.client, table),
    hyperoptExecutions: memoryExecutions(),
    maxRunning: { backtest: slots, fast: 1, hyperopt: 1 },
    random: () => 0.5,
    graceMs: 2 * MINUTE,
    tasks: { stop: async () => undefined },
    countTrials: async () => undefined,
    log: memoryLog().log,
    onError: (_, error) => errors.push(error),
    // No job of these tests is a validation, so the registry is not used.
    registry: {} as RepairDeps['registry'],
    expiry: null,
    columnsExpiry: null,
    signalsExpiry: null,
  };
  const lane = backtestLane(deps);
  const newJob = (id: string, changes: Partial<JobIn<'pending'>> = {}) =>
    pendingJob(id, { created_at: new Date(clock.time++).toISOString(), ...changes });
  return {
    table,
    jobs,
    queue,
    executions,
    clock,
    deps,
    lane,
    errors,
    newJob,
    /** Submits a job; `own`: dependencies of another process. */
    submit: (id: string, changes: Partial<JobIn<'pending'>> = {}, own = deps) => {
      const job = newJob(id, changes);
      return enqueue<StoredBacktestJob>(own, backtestLane(own), job, () => own.jobs.create(job));
    },
    /** Completes the executions of jobs, and handles their ends. */
    end: async (...ids: string[]) => {
      clock.time++;
      for (const id of ids) {
        await jobs.fail(id, null, { code: 'VAL006', message: 'ended' }, new Date(clock.time).toISOString());
        executions.states.set(`${id}-1`, 'succeeded');
      }
      await endExecutions(
        deps,
        ids.map((id) => `${id}-1`),
      );
    },
    started: () => executions.started.map((name) => name.replace(/-\d+$/, '')),
  };
}
