import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import {
  type TaskExit,
  type TaskLimits,
  type TaskRequest,
  TaskRunner,
} from '#adapters/processes/task-runner.ts';

const folder = mkdtempSync(join(tmpdir(), 'touchstone-tasks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Options {
  readonly onLine?: ((runner: TaskRunner, task: string) => unknown) | undefined;
  readonly limits?: Partial<TaskLimits>;
  readonly sandbox?: TaskRequest['sandbox'];
}

/** Runs a task with this code. Returns its exit, the reported crashes and stalls. */
async function run(code: string, { onLine = () => {}, limits, sandbox }: Options = {}) {
  const entry = join(folder, 'task.mjs');
  writeFileSync(entry, code);
  const crashed: TaskExit[] = [];
  const stalls: (string | null)[] = [];
  const runner: TaskRunner = new TaskRunner({
    environment: {},
    temporary: join(folder, 'tasks'),
    limits: { taskMs: 60_000, loadMs: 60_000, stallMs: 60_000, ...limits },
    onStall: (_, __, text) => stalls.push(text),
    onOutput: (task) => void onLine(runner, task),
    onCrash: (exit) => crashed.push(exit),
  });
  const { signal } = new AbortController();
  const exit = await runner.run({ entry, environment: {}, signal, ...(sandbox && { sandbox }) });
  return { exit, crashed, stalls };
}

it('runner reports a crash with the last output of the task', async () => {
  const { exit, crashed } = await run("console.error('no table'); process.exit(3);");
  expect(crashed).toEqual([exit]);
  expect(exit).toMatchObject({ code: 3, signal: null, stderr: 'no table\n' });
});

it('runner reports a task killed from outside', async () => {
  const { crashed } = await run("process.kill(process.pid, 'SIGKILL');");
  expect(crashed).toMatchObject([{ code: null, signal: 'SIGKILL' }]);
});

it('runner reports no stall of a task that it ends at the time limit', async () => {
  const [stallMs, taskMs] = [20, 400];
  const { exit, stalls } = await run(
    "process.on('SIGTERM', () => setTimeout(() => process.exit(), 1000)); setInterval(() => {}, 1000);",
    { limits: { taskMs, stallMs }, sandbox: { read: [folder] } },
  );
  expect(exit.final).toMatch(/^The task was ended after 0\.4 seconds, the time limit/);
  expect(stalls.length).toBeLessThanOrEqual(taskMs / stallMs);
});

it.each([
  ['that succeeded', "console.log('done');", undefined],
  [
    'that was stopped',
    "console.log('ready'); setInterval(() => {}, 1000);",
    (runner: TaskRunner, task: string) => runner.stop(task),
  ],
])('runner reports no crash for a task %s', async (_, code, onLine) => {
  expect((await run(code, { onLine })).crashed).toEqual([]);
});

it.skipIf(process.platform !== 'linux')(
  "runner raises a task's OOM score so that the kernel ends it before the platform",
  async () => {
    const { exit } = await run(
      "import { readFileSync } from 'node:fs'; console.error(readFileSync('/proc/self/oom_score_adj', 'utf8'));",
    );
    expect(Number(exit.stderr)).toBeGreaterThanOrEqual(900);
  },
);
