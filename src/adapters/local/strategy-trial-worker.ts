/** Thread of {@link tryStrategyFiles}: says which file it is about to load, and `null` at the end. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { definitionProblems } from '#engine/strategies/validate-definition.ts';

const { folder, files }: { folder: string; files: readonly string[] } = workerData;
for (const file of files) {
  parentPort!.postMessage(file);
  try {
    const { default: definition } = await import(pathToFileURL(join(folder, file)).href);
    definitionProblems(definition);
  } catch {
    // It ends by itself: whoever loads it for use says what is wrong.
  }
}
parentPort!.postMessage(null);
