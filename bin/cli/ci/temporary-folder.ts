import { mkdtempSync, rmSync } from 'node:fs';
import { INTERRUPTED } from '../session.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Runs work with a new folder, which is removed at its end and when a signal ends the process. */
export async function inTemporaryFolder<T>(prefix: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(prefix);
  // Retries: processes of the platform may still write when a signal arrives.
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  const leave = () => process.exit(INTERRUPTED);
  process.once('exit', remove);
  for (const signal of SIGNALS) process.once(signal, leave);
  try {
    return await work(folder);
  } finally {
    process.off('exit', remove);
    for (const signal of SIGNALS) process.off(signal, leave);
    remove();
  }
}
