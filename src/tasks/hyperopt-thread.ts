/** A thread of a hyperopt worker: answers every request with the outcome of its trial. */
import { parentPort, workerData } from 'node:worker_threads';
import { sha256 } from '#adapters/ids.ts';
import { findStrategy } from '#adapters/strategies.ts';
import { runTrial, type TrialRequest } from '#domain/hyperopt/run-trial.ts';
import type { PairCandles } from '#domain/load-candles.ts';
import { createWindowCache } from '#engine/walk-forward/window-cache.ts';

interface TrialData {
  readonly pairs: readonly PairCandles[];
  readonly strategy: string;
  readonly folder: string | undefined;
  readonly cacheBytes: number;
}

const { pairs, strategy: name, folder, cacheBytes } = workerData as TrialData;
const strategy = (await findStrategy(name, folder))!;
const cache = createWindowCache(cacheBytes);

parentPort!.on('message', (request: TrialRequest) => {
  // What it throws ends the thread, and the worker hears of it.
  void runTrial({ strategy, pairs, cache, digest: sha256 }, request).then((outcome) =>
    parentPort!.postMessage(outcome),
  );
});
