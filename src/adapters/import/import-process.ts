/** Program of the process that imports uploaded files: reading millions of rows would delay every request of the platform. */

import type { ImportReport } from '#contract/market-data/imports.ts';
import type { MarketStorageEnv } from '../open-market-stores.ts';
import { importReport } from './import-report.ts';
import { type ImportRunOptions, runImport } from './run-import.ts';

/** The one message that the process gets. */
export interface ImportTask extends Pick<ImportRunOptions, 'hints' | 'calendar' | 'platformExchange'> {
  readonly storage: MarketStorageEnv;
  /** Folder of the files. */
  readonly folder: string;
  readonly dryRun: boolean;
}

/** Smallest step of the progress that is reported: thousands of files are read in a second. */
const MIN_STEP = 0.005;

/** Progress, then one report or problem. */
export type ImportMessage =
  | { readonly progress: number }
  | { readonly report: ImportReport }
  | { readonly problem: string };

// Listening keeps the process until it is ended: if it ended by itself, its end could be noticed before its report.
process.on('message', async ({ storage, folder, dryRun, ...options }: ImportTask) => {
  let total = 0;
  let sent = 0;
  try {
    const run = await runImport(storage, folder, {
      ...options,
      dryRun,
      // By size, and one more per file, because files may be empty.
      onFound: ({ files }) => {
        total = files.reduce((sum, { bytes }) => sum + bytes, files.length);
        send({ progress: 0 });
      },
      onProgress: ({ files, bytes }) => {
        const progress = (files + bytes) / total;
        if (progress - sent < MIN_STEP) return;
        sent = progress;
        send({ progress });
      },
    });
    send({ report: importReport(run, folder, dryRun) });
  } catch (error) {
    send({ problem: error instanceof Error ? error.message : String(error) });
  }
});

function send(message: ImportMessage): void {
  process.send!(message);
}
