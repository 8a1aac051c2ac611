import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

/** Loading a file takes milliseconds; a machine that is busy may take a thousand times as long. */
const LIMIT_MS = 10_000;

/**
 * Loads strategy files of a folder in a thread that can be ended: one that loops, waits for what never comes or ends
 * its process would take this process with it. What else is wrong with a file is found when it is loaded for use.
 *
 * @param files names in the folder
 * @param limitMs for each file
 * @throws Error that names the file
 */
export function tryStrategyFiles(
  folder: string,
  files: readonly string[],
  limitMs = LIMIT_MS,
): Promise<void> {
  const worker = new Worker(new URL('./strategy-trial-worker.ts', import.meta.url), {
    workerData: { folder, files },
    execArgv: [],
  });
  return new Promise<void>((resolve, reject) => {
    let file = '';
    let timer: NodeJS.Timeout | undefined;
    const refuse = (problem: string) => reject(new Error(`Strategy file ${join(folder, file)}: ${problem}`));
    worker.on('message', (next: string | null) => {
      clearTimeout(timer);
      if (next === null) return resolve();
      file = next;
      const seconds = Math.round(limitMs / 1000);
      timer = setTimeout(() => refuse(`it was still loading after ${seconds} s; does it loop?`), limitMs);
    });
    worker.on('error', (error: Error) => refuse(error.message));
    worker.on('exit', () => refuse('it did not come to the end of loading; does it exit, or wait for ever?'));
    worker.once('exit', () => clearTimeout(timer));
  }).finally(() => worker.terminate());
}
