import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeFile } from '../code-file.ts';
import { sandboxArguments } from '../processes/sandbox.ts';
import { strippedFile } from '../processes/stripped-file.ts';
import { MAX_SOURCE_BYTES } from '../strategies/source-formats.ts';
import { digestSources, type Source } from '../strategies/strategy-files.ts';

const PROGRAM = fileURLToPath(codeFile('./strip-types', import.meta.url));
const LIMIT_MS = 10_000;

/**
 * Removes the types of every `.ts` source in a folder in a separate process and stores the result by the digest of the source.
 * Tasks load the result: they store no compiled code of a strategy, and Node's type stripper takes 50 ms of processor time to
 * start. The process evaluates no source. It skips a source with a syntax error; the task that loads it reports the error.
 *
 * @param folder without links; a folder that does not exist has no sources
 * @param stripped folder of strippedSources(), created when absent
 * @param sources result of digestSources() for the folder; default: read now
 * @throws Error when the folder cannot be written to or the process takes more than 10 s: tasks then strip types themselves
 */
export async function stripStrategies(
  folder: string,
  stripped: string,
  sources?: ReadonlyMap<string, Source>,
): Promise<void> {
  const missing = [...(sources ?? (await digestSources(folder)))]
    .filter(([file, { digest }]) => file.endsWith('.ts') && !existsSync(join(stripped, strippedFile(digest))))
    .map(([file]) => join(folder, file))
    .filter((path) => (statSync(path, { throwIfNoEntry: false })?.size ?? Infinity) <= MAX_SOURCE_BYTES);
  if (missing.length === 0) return;
  mkdirSync(stripped, { recursive: true, mode: 0o700 });
  const args = sandboxArguments({ read: [folder], write: [stripped] });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const child = execFile(
    process.execPath,
    ['--no-warnings', ...args, PROGRAM, stripped],
    { env: {}, timeout: LIMIT_MS, killSignal: 'SIGKILL' },
    (error) => (error ? reject(error) : resolve()),
  );
  child.stdin!.on('error', () => {});
  child.stdin!.end(JSON.stringify(missing));
  return promise;
}
