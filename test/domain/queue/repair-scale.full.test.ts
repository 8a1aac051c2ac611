import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { DynamoHyperoptStore } from '#adapters/dynamo/hyperopt-store.ts';
import { DynamoJobQueue } from '#adapters/dynamo/job-queue.ts';
import { toJobItem } from '#adapters/dynamo/job-records.ts';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { DynamoStrategyCosts } from '#adapters/dynamo/strategy-costs.ts';
import { measureQueue, type RepairDeps, repairQueue } from '#domain/repair/repair-jobs.ts';
import { memoryLog } from '../../support/backend.ts';
import { memoryExecutions } from '../../support/executions.ts';
import { fileEngine } from '../../support/file-engine.ts';
import { pendingJob } from '../../support/jobs.ts';

const PENDING = 10_000;
const RUNNING = 1_000;
const OWNERS = 20;
const NOW = Date.parse('2025-03-01T01:00:00.000Z');

const engine = fileEngine();

async function putAll(items: readonly Record<string, unknown>[]): Promise<void> {
  const table = engine.tables.jobs;
  for (let from = 0; from < items.length; from += 25) {
    const puts = items.slice(from, from + 25).map((Item) => ({ PutRequest: { Item } }));
    await engine.client.send(new BatchWriteCommand({ RequestItems: { [table]: puts } }));
  }
}

test('repair with 10,000 pending and 1,000 running jobs reads no pending job and repairs the lost ones', async () => {
  const { jobs: table } = engine.tables;
  const owner = (number: number) => `owner-${number % OWNERS}`;
  const waiting = Array.from({ length: PENDING }, (_, number) =>
    toJobItem(pendingJob(`bt-w${number}`, { owner: owner(number) }), 'ema_crossover', 'backtest'),
  );
  const runningId = (number: number) => `bt-r${number}`;
  const running = Array.from({ length: RUNNING }, (_, number) => {
    const job = pendingJob(runningId(number), { owner: owner(number), runs: 1, slot: number });
    const item = toJobItem(
      { ...job, queue: { ...job.queue, left_at: '2025-03-01T00:00:00.000Z' } },
      'ema_crossover',
      'backtest',
    );
    delete item.queue_key;
    delete item.queue_order;
    return item;
  });
  const slots = running.map((_, number) => ({
    job_id: '#slots#backtest',
    item: String(number).padStart(6, '0'),
    slot_job: runningId(number),
    run: 1,
    owner: owner(number),
    since: NOW - 10 * 60_000,
  }));
  const owners = Array.from({ length: OWNERS }, (_, number) => ({
    job_id: '#owners#backtest',
    item: owner(number),
    waiting: PENDING / OWNERS,
    announced: PENDING / OWNERS,
    announced_at: NOW,
    last_turn: 0,
  }));
  await putAll([...waiting, ...running, ...slots, ...owners]);

  const executions = memoryExecutions();
  // The executions of the first ten never started.
  for (let number = 10; number < RUNNING; number++)
    executions.states.set(`${runningId(number)}-1`, 'running');
  const described: string[] = [];
  const read: string[] = [];
  const jobs = new DynamoJobStore(engine.client, table);
  const get = jobs.get.bind(jobs);
  jobs.get = (jobId) => {
    read.push(jobId);
    return get(jobId);
  };
  const { state } = executions;
  executions.state = (name) => {
    described.push(name);
    return state(name);
  };
  const deps: RepairDeps = {
    jobs,
    executions,
    queue: new DynamoJobQueue(engine.client, table),
    strategyCosts: new DynamoStrategyCosts(engine.client, table),
    hyperoptJobs: new DynamoHyperoptStore(engine.client, table),
    hyperoptExecutions: memoryExecutions(),
    maxRunning: { backtest: RUNNING, fast: 1, hyperopt: 1 },
    clock: { now: () => NOW },
    random: () => 0.5,
    graceMs: 2 * 60_000,
    log: memoryLog().log,
    tasks: { stop: async () => undefined },
    countTrials: async () => undefined,
    onError: (_, error) => {
      throw error;
    },
    registry: {} as RepairDeps['registry'],
    expiry: null,
    columnsExpiry: null,
    signalsExpiry: null,
  };

  expect(await measureQueue(deps)).toMatchObject({
    waiting: { backtest: PENDING },
    running: { backtest: RUNNING },
  });
  // A sample of slots and owners, for the idle time.
  expect(read.length).toBeLessThanOrEqual(50);
  read.length = 0;
  const { restarted, failed, dispatched } = await repairQueue(deps);
  const lost = Array.from({ length: 10 }, (_, number) => runningId(number));
  expect([...restarted].sort()).toEqual([...lost].sort());
  expect([failed, dispatched]).toEqual([[], []]);
  expect(described).toHaveLength(lost.length);
  expect(new Set(read)).toEqual(new Set(lost));
});
