import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sha256 } from '../ids.ts';
import { sandboxArguments } from './sandbox.ts';
import { strippedFile } from './stripped-file.ts';

const PROGRAM = fileURLToPath(new URL('./strip-types.ts', import.meta.url));
const LIMIT_MS = 10_000;

/**
 * Removes the types of every `.ts` source in a folder, in a process of its own, and keeps the result by the digest of the
 * source. A task then loads that: it keeps nothing that Node compiles of a strategy, and the start of Node's type stripper
 * takes 50 ms of processor time. No source is evaluated. A source with a syntax error is left out: the task that loads it
 * reports the error.
 *
 * @param folder that holds no links; one that does not exist has no sources
 * @param stripped folder of strippedSources(); is made
 * @throws Error when the folder cannot be written to or the process takes more than 10 s: tasks then strip types themselves
 */
export async function stripStrategies(folder: string, stripped: string): Promise<void> {
  const missing = await missingSources(folder, stripped);
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

/** Paths of sources whose stripped form is not kept. */
async function missingSources(folder: string, stripped: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const sources = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.ts'));
  const paths = await Promise.all(
    sources.map(async ({ parentPath, name }) => {
      const path = join(parentPath, name);
      const source = await readFile(path).catch(() => undefined);
      if (!source) return [];
      return existsSync(join(stripped, strippedFile(sha256(source)))) ? [] : [path];
    }),
  );
  return paths.flat();
}
