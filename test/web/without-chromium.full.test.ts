import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** Tests of the dashboard on a machine that has no Chromium. */
function runWithoutChromium(env: Readonly<Record<string, string>>): {
  status: number | null;
  output: string;
} {
  const files = ['test/web/shell.test.ts', 'test/web/histogram.test.ts'];
  const { status, stdout, stderr } = spawnSync('npx', ['vitest', 'run', '--project', 'web', ...files], {
    encoding: 'utf8',
    env: { ...process.env, TOUCHSTONE_CHROMIUM: '', TOUCHSTONE_REQUIRE_CHROMIUM: '', ...env },
  });
  return { status, output: stdout + stderr };
}

test('npm test says how many tests were skipped, and passes', () => {
  const { status, output } = runWithoutChromium({});
  expect(output).toMatch(/web tests skipped: no Chromium \([1-9]\d* tests\)/);
  expect(status).toBe(0);
});

test('CI fails', () => {
  const { status, output } = runWithoutChromium({ TOUCHSTONE_REQUIRE_CHROMIUM: '1' });
  expect(output).toContain('TOUCHSTONE_REQUIRE_CHROMIUM is set');
  expect(status).toBe(1);
});
