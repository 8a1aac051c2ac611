import { afterAll, beforeAll } from 'vitest';
import type {
  HyperoptJobConfig,
  HyperoptJobIn,
  StoredHyperoptJob,
  StoredTrial,
} from '#contract/hyperopt/hyperopt.ts';
import {
  type RunHyperoptWorkerDeps,
  runHyperoptWorker,
  type TrialRunner,
} from '#domain/hyperopt/run-hyperopt-worker.ts';
import { startEngine, type TestEngine } from './engine.ts';
import { computeTrial, computing, pendingHyperopt, workerDeps } from './hyperopt-workers.ts';

export interface FinishedHyperoptJob {
  readonly job: StoredHyperoptJob;
  readonly trials: StoredTrial[];
}

/** Hyperopt jobs of a test file on its own engine, with workers in this process. */
export function hyperoptFixture() {
  let engine: TestEngine;
  let hyperoptJobs = 0;
  beforeAll(async () => {
    engine = await startEngine();
  });
  afterAll(() => engine.stop());

  const never = new AbortController().signal;
  const deps = (runner?: TrialRunner): RunHyperoptWorkerDeps => workerDeps(engine, runner);
  const newHyperopt = async (
    config: Partial<HyperoptJobConfig> = {},
    changes: Partial<HyperoptJobIn<'pending'>> = {},
  ): Promise<string> => {
    const jobId = `ho-${++hyperoptJobs}`;
    await deps().hyperoptJobs.create({ ...pendingHyperopt(jobId, config), ...changes });
    return jobId;
  };
  const work = (jobId: string, worker: number, own: RunHyperoptWorkerDeps, task = `task-${worker}`) =>
    runHyperoptWorker(own, jobId, { worker, task }, never);
  const read = async (jobId: string): Promise<FinishedHyperoptJob> => ({
    job: (await deps().hyperoptJobs.get(jobId))!,
    trials: await deps().ledger.read(jobId, 0),
  });
  return {
    engine: () => engine,
    deps,
    newHyperopt,
    work,
    read,
    /** Result of a job that a single worker runs. */
    runWithOneWorker: async (): Promise<FinishedHyperoptJob> => {
      const jobId = await newHyperopt();
      await work(jobId, 0, deps());
      return read(jobId);
    },
    /** Worker that dies during its `nth` trial. Its remaining actions never happen. */
    dying(nth: number): { deps: RunHyperoptWorkerDeps; died: Promise<void> } {
      const forever = () => new Promise<never>(() => undefined);
      const { promise: died, resolve } = Promise.withResolvers<void>();
      let begun = 0;
      const run: TrialRunner['run'] = (request) => {
        if (++begun < nth) return computeTrial(request);
        resolve();
        return forever();
      };
      return { deps: { ...deps({ ...computing, run }), sleep: forever }, died };
    },
  };
}
