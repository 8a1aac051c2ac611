/** Entry point of a hyperopt worker: the same in a Fargate container and as a child process. */
import { existsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openStores } from '#adapters/open-stores.ts';
import { compileCache } from '#adapters/processes/compile-cache.ts';
import type { SandboxGrants } from '#adapters/processes/sandbox.ts';
import { sha256 } from '#adapters/sha256.ts';
import { USER_STRATEGIES } from '#adapters/strategies/strategy-files.ts';
import { TrialOutOfMemory, TrialProcesses } from '#adapters/trials/trial-processes.ts';
import { HyperoptTaskEnv } from '#contract/env/env.ts';
import type { HyperoptJobIn } from '#contract/hyperopt/hyperopt.ts';
import { runHyperoptWorker } from '#domain/hyperopt/run-hyperopt-worker.ts';
import { startProcess } from '#runtime/process.ts';
import { runTask } from '#runtime/task.ts';

const { env, log } = startProcess(HyperoptTaskEnv, 'hyperopt');

/** Memory that trial processes share for data common to all trials. */
const CACHE_BYTES = 512 * 1024 * 1024;
/** Maximum time to load the strategy file. */
const LOAD_MS = 10_000;
/** Program of the trial processes, next to this file as source and as bundle. */
const TRIAL = fileURLToPath(import.meta.url.replace(/hyperopt(\.\w+)$/, 'hyperopt-trial$1'));

await runTask(env, log, async ({ id }) => {
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort(new Error('The worker was stopped before its job ended')));
  const stores = openStores(env);
  const outcome = await runHyperoptWorker(
    {
      ...stores,
      clock: Date,
      digest: sha256,
      // One more trial than processes, so that no process is idle while the worker claims and records trials.
      concurrency: (job) => processesOf(job) + 1,
      openRunner: (job) =>
        TrialProcesses.open({
          entry: TRIAL,
          job,
          processes: processesOf(job),
          cacheBytes: CACHE_BYTES,
          grants: grants(),
          temporary: tmpdir(),
          compiled: compileCache(),
          nodeOptions: process.execArgv.filter((option) => option.startsWith('--max-old-space-size')),
          // biome-ignore lint/style/noProcessEnv: the task's own environment; in AWS it includes the role's credentials, and strategies are reviewed
          environment: process.env as Record<string, string>,
          trialMs: env.TRIAL_LIMIT_SECONDS * 1_000,
          stallMs: env.TRIAL_STALL_SECONDS * 1_000,
          loadMs: LOAD_MS,
          onOutput: (line) => process.stderr.write(`${line}\n`),
        }),
      sleep: (ms, signal) => sleep(ms, undefined, { signal }),
    },
    env.JOB_ID,
    { worker: env.WORKER, task: id },
    stop.signal,
  ).catch((error: unknown) => {
    if (!(error instanceof TrialOutOfMemory)) throw error;
    log.error('task failed', error);
    // Node's exit code for a full heap, which the state machine checks.
    process.exit(134);
  });
  log.info('hyperopt worker ended', { job_id: env.JOB_ID, worker: env.WORKER, outcome });
});

/** Trials read candles; they write nothing. */
function grants(): SandboxGrants {
  const { OBJECTS_DIRECTORY: objects, CANDLES_BUCKET, STRATEGIES_DIRECTORY } = env;
  const strategies = STRATEGIES_DIRECTORY ?? USER_STRATEGIES;
  return {
    read: objects ? [join(objects, CANDLES_BUCKET)].filter((folder) => existsSync(folder)) : [],
    strategies: strategies && existsSync(strategies) ? strategies : undefined,
  };
}

/** All cores of a container. In local mode, where tasks have a TASK_ID, the workers share the cores. */
function processesOf({ config }: HyperoptJobIn<'running'>): number {
  const cores = availableParallelism();
  return env.TASK_ID ? Math.max(1, Math.floor(cores / config.workers)) : cores;
}
