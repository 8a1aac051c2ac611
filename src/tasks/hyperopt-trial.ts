/** Trial process of a hyperopt worker: reads the job's candles, then replies to each request with the result of a trial. */

import process from 'node:process';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { LOADING, reportProgress } from '#adapters/processes/report-progress.ts';
import { strategyTimers } from '#adapters/processes/strategy-globals.ts';
import { catchUnhandledErrors, ofPlatform } from '#adapters/processes/unhandled-errors.ts';
import { sha256 } from '#adapters/sha256.ts';
import { findStrategy, isBuiltIn } from '#adapters/strategies/load-strategies.ts';
import type { SecretMessage, TrialMessage } from '#adapters/trials/trial-processes.ts';
import type { TrialReply } from '#adapters/trials/trial-replies.ts';
import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { HyperoptTaskEnv } from '#contract/env/env.ts';
import type { HyperoptJobIn } from '#contract/hyperopt/hyperopt.ts';
import { digestTrialData, loadTrialData } from '#domain/hyperopt/load-trial-data.ts';
import {
  type RunTrialDeps,
  runRequested,
  TrialDataOf,
  type TrialOutcome,
  type TrialRequest,
} from '#domain/hyperopt/run-trial.ts';
import { sampleBestTrial } from '#domain/hyperopt/sample-best-trial.ts';
import { finalFailure } from '#domain/shared/final-failure.ts';
import { ENGINE_VERSION } from '#engine/version.ts';
import { startProcess } from '#runtime/process.ts';
import { processorMs } from '#runtime/processor-time.ts';
import { openTaskStores } from './shared/open-task-stores.ts';

const { env, fail } = startProcess(HyperoptTaskEnv, 'hyperopt-trial');
/** Wait for timers that are due, ms; a timer without delay fires after 1 ms. */
const DUE_MS = 5;

const progress = reportProgress(env.WATCH_MARK);
const unhandled = catchUnhandledErrors(env.STRATEGIES_DIRECTORY, failing);

let loaded: Omit<RunTrialDeps, 'cache'> | undefined;
let data: TrialDataOf | undefined;

const send = process.send!.bind(process);
process.on('message', ({ secret, message }: SecretMessage) => {
  // An error ends the process, and the worker is notified.
  replyTo(message)
    .then((reply: TrialReply) => send({ secret, reply }))
    .catch(failing);
});
// The worker is gone.
process.on('disconnect', () => process.exit());

function open(job: HyperoptJobIn<'running'>, cacheBytes: number): Promise<TrialReply> {
  return replying(async () => {
    const { strategy, pairs, warnings } = await unhandled.run(() =>
      loadTrialData(
        {
          ...ofPlatform(openTaskStores(env)),
          clock: Date,
          findStrategy: async (name, digest) => {
            progress.enter(LOADING);
            if (!isBuiltIn(name)) unhandled.blame(name);
            return findStrategy(name, env.STRATEGIES_DIRECTORY, digest).finally(() =>
              progress.enter('reading the candles'),
            );
          },
        },
        job,
      ),
    );
    unhandled.check();
    loaded = { strategy, pairs, digest: sha256 };
    data = new TrialDataOf(loaded, cacheBytes);
    const codeDigest = sha256(`${ENGINE_VERSION} ${strategy.digest}`);
    return { codeDigest, dataDigest: digestTrialData(pairs, sha256), warnings };
  });
}

/** What `work` replies; a final failure, such as an error of the strategy, is a reply too. */
async function replying(work: () => Promise<TrialReply>): Promise<TrialReply> {
  try {
    return await work();
  } catch (error) {
    const failure = finalFailure(error);
    if (!failure) throw error;
    return { failure };
  } finally {
    progress.ended();
  }
}

function replyTo(message: TrialMessage): Promise<TrialReply> {
  if ('job' in message) return open(message.job, message.cacheBytes);
  return 'sampled' in message ? sample(message.sampled) : run(message.request);
}

async function run(request: TrialRequest): Promise<TrialReply> {
  progress.enter('a trial');
  const before = timersLeft();
  const outcome = await unhandled.run(() => runRequested(data!, request));
  await setImmediate();
  // A strategy may have set timers while it was loaded, and have replaced them since.
  const left = timersLeft() > before || strategyTimers() > 0;
  // Timers that are due throw now. The process ends with later timers, so that they cannot affect another trial.
  if (left) await sleep(DUE_MS);
  const failed = unhandledOutcome();
  progress.ended();
  return { outcome: failed ?? outcome, spent: left || failed !== undefined };
}

/** The process ends after it: the strategy may keep state of the cuts. */
function sample(config: ResolvedBacktestConfig): Promise<TrialReply> {
  progress.enter('the look-ahead check');
  const pause = async () => {
    await setImmediate();
    unhandled.check();
  };
  return replying(async () => ({
    lookAhead: await unhandled.run(() => sampleBestTrial(loaded!, config, { processorMs, pause })),
  }));
}

function timersLeft(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout' || kind === 'Immediate').length;
}

function unhandledOutcome(): TrialOutcome | undefined {
  try {
    unhandled.check();
    return undefined;
  } catch (error) {
    return { state: 'failed', error: finalFailure(error)!.message };
  }
}

function failing(error: unknown): void {
  progress.ended();
  fail(error);
}
