import { afterAll, beforeAll, expect, it } from 'vitest';
import { DynamoHyperoptStore } from '#adapters/aws/dynamo-hyperopt-store.ts';
import type { ExecutionState } from '#domain/execution-ports.ts';
import { cancelHyperopt } from '#domain/hyperopt/cancel-hyperopt.ts';
import { repairHyperopt, repairHyperoptOf } from '#domain/hyperopt/reconcile-hyperopts.ts';
import { memoryLog } from '../../support/backend.ts';
import { startEngine, type TestEngine } from '../../support/engine.ts';
import { pendingHyperopt } from '../../support/hyperopt-workers.ts';

/** Recovery of hyperopt jobs whose execution is lost. */

const MINUTE = 60_000;
const AT = Date.parse('2025-03-01T00:00:00.000Z');
let engine: TestEngine;
let hyperoptJobs: DynamoHyperoptStore;
beforeAll(async () => {
  engine = await startEngine();
  hyperoptJobs = new DynamoHyperoptStore(engine.client, engine.tables.jobs);
});
afterAll(() => engine.stop());

let ids = 0;
async function scene(changes: { running?: boolean } = {}) {
  const jobId = `ho-${++ids}`;
  await hyperoptJobs.create(pendingHyperopt(jobId));
  if (changes.running) await hyperoptJobs.begin(jobId, 0, 'arn:task', new Date(AT).toISOString());
  const started: string[] = [];
  const stopped: string[] = [];
  const states = new Map<string, ExecutionState['status']>();
  const clock = { time: AT, now: () => clock.time };
  const deps = {
    hyperoptJobs,
    clock,
    hyperoptExecutions: {
      start: async (_: unknown, __: number, name = jobId) => {
        started.push(name);
        states.set(name, 'running');
      },
      stop: async (name: string) => void stopped.push(name),
      state: async (name: string) => (states.has(name) ? { status: states.get(name)! } : undefined),
    },
    tasks: { stop: async (task: string) => void stopped.push(task) },
    graceMs: 2 * MINUTE,
    log: memoryLog().log,
  };
  const repair = async () => repairHyperopt(deps, (await hyperoptJobs.get(jobId))!);
  return {
    jobId,
    deps,
    clock,
    states,
    started,
    stopped,
    repair,
    get: async () => (await hyperoptJobs.get(jobId))!,
  };
}

it.each([false, true])(
  'reconcile starts a missing execution after the grace period (running: %s)',
  async (running) => {
    const { jobId, clock, started, repair } = await scene({ running });
    expect(await repair()).toBe('none');
    clock.time += 3 * MINUTE;
    expect(await repair()).toBe('started');
    expect(started).toEqual([jobId]);
    expect(await repair()).toBe('none');
  },
);

it.each(['failed', 'aborted', 'timed_out', 'succeeded'] as const)(
  'reconcile starts a new execution with a new name after one %s',
  async (status) => {
    const { jobId, states, started, deps, get } = await scene({ running: true });
    states.set(jobId, status);
    expect(await repairHyperoptOf(deps, jobId)).toBe('started');
    expect(started).toEqual([`${jobId}-2`]);
    expect(await get()).toMatchObject({ status: 'running', runs: 2 });
    // A second notification about the first execution: the second execution is running.
    expect(await repairHyperoptOf(deps, jobId)).toBe('none');
    states.set(`${jobId}-2`, status);
    expect(await repairHyperoptOf(deps, `${jobId}-2`)).toBe('started');
    expect(started.at(-1)).toBe(`${jobId}-3`);
  },
);

it('hyperopt job fails after 5 lost executions without a finished trial', async () => {
  const { jobId, states, started, repair, get } = await scene({ running: true });
  states.set(jobId, 'failed');
  while ((await repair()) === 'started') states.set(started.at(-1)!, 'failed');
  expect(started).toHaveLength(4);
  expect(await get()).toMatchObject({
    status: 'failed',
    error_code: 'SVC001',
    error: expect.stringMatching(/ended 5 times in a row/),
  });
});

it('cancelled hyperopt job stops its execution and tasks and is never restarted', async () => {
  const { jobId, deps, states, started, stopped, repair } = await scene({ running: true });
  states.set(jobId, 'running');
  await cancelHyperopt(deps, jobId);
  expect(stopped).toEqual([jobId, 'arn:task']);
  states.set(jobId, 'aborted');
  expect(await repair()).toBe('none');
  expect(stopped).toEqual([jobId, 'arn:task', 'arn:task']);
  expect(started).toEqual([]);
});

it('reconcile ignores an execution without a job', async () => {
  const { deps } = await scene();
  expect(await repairHyperoptOf(deps, 'ho-unknown-2')).toBe('none');
});
