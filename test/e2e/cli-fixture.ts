import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { runScript } from '../support/command.ts';

/** Stack traces and Node's system error codes, which messages must not contain. */
export const RAW = / at .*\.ts:\d+|ENOENT|EEXIST|ENOTDIR|EACCES/;

/** Scripts in separate processes, with plain output and a data folder that the tests of a file share. */
export function commandFixture() {
  const home = mkdtempSync(join(tmpdir(), 'touchstone-cli-'));
  afterAll(() => rmSync(home, { recursive: true, force: true }));
  const run = (
    script: string,
    args: readonly string[] = [],
    environment: Readonly<Record<string, string>> = {},
  ) => runScript(home, script, args, environment);
  return { home, run, touchstone: (...args: string[]) => run('bin/touchstone.ts', args) };
}
