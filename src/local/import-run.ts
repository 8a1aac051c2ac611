import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { codeFile } from '#adapters/code-file.ts';
import type { ImportMessage, ImportTask } from '#adapters/import/import-process.ts';
import { spawnSupervised } from '#adapters/processes/supervised-process.ts';
import type { ImportReport } from '#contract/market-data/imports.ts';

/** Characters of what a process wrote before it ended without a report. */
const STDERR_TAIL = 500;

/** An import in a process of its own, which ends with this one. */
export interface ImportRun {
  /** Resolves with the report. Rejects with Error when the import ends without one. */
  readonly report: Promise<ImportReport>;
  /** Ends the process, and the one that reads files for it. Resolves when it is gone. */
  stop(): Promise<void>;
}

/** @param onProgress called with the read share of the files, 0 to 1 */
export function startImportRun(task: ImportTask, onProgress: (share: number) => void): ImportRun {
  const entry = fileURLToPath(codeFile('../adapters/import/import-process', import.meta.url));
  const child = spawnSupervised(process.execPath, [entry], { TMPDIR: tmpdir() }, 'messages');
  let stderr = '';
  child.stdout.resume();
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = `${stderr}${text}`.slice(-STDERR_TAIL);
  });
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const kill = () => {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // It has ended.
    }
  };
  const report = new Promise<ImportReport>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      reject(new Error(`Its process ended with ${signal ?? `code ${code}`}. ${stderr.trim()}`.trim())),
    );
    child.on('message', (message: ImportMessage) => {
      if ('progress' in message) onProgress(message.progress);
      else if ('report' in message) resolve(message.report);
      else reject(new Error(message.problem));
    });
    child.send(task);
  }).finally(kill);
  return {
    report,
    stop: async () => {
      kill();
      await gone;
    },
  };
}
