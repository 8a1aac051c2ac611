/** Entry point of a hyperopt worker: the same in a Fargate container and as a child process. */
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { sha256 } from '#adapters/ids.ts';
import { openStores } from '#adapters/open-stores.ts';
import { withSharedArrays } from '#adapters/shared-arrays.ts';
import { findStrategy } from '#adapters/strategies.ts';
import { TrialThreads } from '#adapters/trial-threads.ts';
import { HyperoptTaskEnv } from '#contract/env.ts';
import type { StudyIn } from '#contract/hyperopt.ts';
import { loadTrialData } from '#domain/hyperopt/load-trial-data.ts';
import { runHyperoptWorker } from '#domain/hyperopt/run-hyperopt-worker.ts';
import { ENGINE_VERSION } from '#engine/version.ts';
import { startProcess } from '#runtime/process.ts';
import { runTask } from '#runtime/task.ts';

const { env, log } = startProcess(HyperoptTaskEnv, 'hyperopt');

/** What the threads keep together of what trials have in common. */
const CACHE_BYTES = 512 * 1024 * 1024;
/** Beside this file, as source and in a bundle. */
const THREAD = new URL(import.meta.url.replace(/hyperopt(\.\w+)$/, 'hyperopt-thread$1'));

await runTask(env, log, async ({ id }) => {
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort(new Error('The worker was stopped before its study ended')));
  const stores = openStores(env);
  const strategies = (name: string) => findStrategy(name, env.STRATEGIES_DIRECTORY);
  const outcome = await runHyperoptWorker(
    {
      ...stores,
      clock: Date,
      // One more than threads: while it asks and tells, all of them have something to do.
      lanes: (study) => threadsOf(study) + 1,
      openRunner: async (study) => {
        const deps = { ...stores, findStrategy: strategies, clock: Date };
        const { pairs, strategyDigest } = await loadTrialData(deps, study);
        const codeDigest = sha256(`${ENGINE_VERSION} ${strategyDigest}`);
        const { strategy } = study.base;
        const folder = env.STRATEGIES_DIRECTORY;
        const threads = threadsOf(study);
        const data = { pairs: withSharedArrays(pairs), strategy, folder, cacheBytes: CACHE_BYTES / threads };
        return new TrialThreads({ entry: THREAD, data, threads, codeDigest });
      },
      sleep: (ms, signal) => sleep(ms, undefined, { signal }),
    },
    env.JOB_ID,
    { worker: env.WORKER, task: id },
    stop.signal,
  );
  log.info('hyperopt worker ended', { job_id: env.JOB_ID, worker: env.WORKER, outcome });
});

/** Every core of a container; on one machine, whose processes have names of its own, the workers share them. */
function threadsOf({ config }: StudyIn<'running'>): number {
  const cores = availableParallelism();
  return env.TASK_ID ? Math.max(1, Math.floor(cores / config.workers)) : cores;
}
