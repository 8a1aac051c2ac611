import { afterAll, beforeAll } from 'vitest';
import type { StoredStudy, StoredTrial, StudyConfig, StudyIn } from '#contract/hyperopt.ts';
import {
  type RunHyperoptWorkerDeps,
  runHyperoptWorker,
  type TrialRunner,
} from '#domain/hyperopt/run-hyperopt-worker.ts';
import { startEngine, type TestEngine } from './engine.ts';
import { computeTrial, computing, pendingStudy, workerDeps } from './studies.ts';

export interface EndedStudy {
  readonly study: StoredStudy;
  readonly trials: StoredTrial[];
}

/** Studies of a test file on an engine of its own, and workers of them in this process. */
export function studyFixture() {
  let engine: TestEngine;
  let studies = 0;
  beforeAll(async () => {
    engine = await startEngine();
  });
  afterAll(() => engine.stop());

  const never = new AbortController().signal;
  const deps = (runner?: TrialRunner): RunHyperoptWorkerDeps => workerDeps(engine, runner);
  const newStudy = async (
    config: Partial<StudyConfig> = {},
    changes: Partial<StudyIn<'pending'>> = {},
  ): Promise<string> => {
    const jobId = `ho-${++studies}`;
    await deps().studies.create({ ...pendingStudy(jobId, config), ...changes });
    return jobId;
  };
  const work = (jobId: string, worker: number, own: RunHyperoptWorkerDeps, task = `task-${worker}`) =>
    runHyperoptWorker(own, jobId, { worker, task }, never);
  const read = async (jobId: string): Promise<EndedStudy> => ({
    study: (await deps().studies.get(jobId))!,
    trials: await deps().ledger.read(jobId, 0),
  });
  return {
    engine: () => engine,
    deps,
    newStudy,
    work,
    read,
    /** The study as one worker alone runs it. */
    alone: async (): Promise<EndedStudy> => {
      const jobId = await newStudy();
      await work(jobId, 0, deps());
      return read(jobId);
    },
    /** A worker that dies at its `nth` trial: whatever it was about to do never happens. */
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
