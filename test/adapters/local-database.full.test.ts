import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, expect, onTestFinished, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'touchstone-local-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts a fixture and reads the first line it prints. */
async function run(fixture: string, argument: string): Promise<{ child: ChildProcess; line: string }> {
  const path = join(import.meta.dirname, 'fixtures', fixture);
  const child = spawn(process.execPath, [path, argument], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = await once(createInterface(child.stdout!), 'line');
  return { child, line };
}

test('exactly one of many concurrent platforms gets the data folder', async () => {
  const path = join(folder, 'contended');
  const started = await Promise.all(Array.from({ length: 5 }, () => run('hold-data-folder.ts', path)));
  onTestFinished(() => {
    for (const { child } of started) child.kill('SIGKILL');
  });
  const holders = started.filter(({ line }) => line.startsWith('holds'));
  expect(holders).toHaveLength(1);
  for (const { line } of started) {
    if (!line.startsWith('holds')) expect(line).toContain(`process ${holders[0]!.child.pid}`);
  }
});
