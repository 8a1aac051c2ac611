import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'touchstone-summary-'));
  return () => rmSync(folder, { recursive: true });
});

/** Runs vitest on a file with this text, and the summary on its report. */
function summaryOf(text: string): { status: number | null; lines: string[] } {
  writeFileSync(join(folder, 'some.test.js'), text);
  const report = join(folder, 'test.json');
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const reporter = join(ROOT, '.ci/reporter.ts');
  const { NODE_COMPILE_CACHE, PATH } = process.env;
  spawnSync(
    process.execPath,
    [vitest, 'run', '--root', folder, '--globals', '--retry=1', `--reporter=${reporter}`],
    { env: { NODE_COMPILE_CACHE, PATH, TEST_REPORT: report } },
  );
  const { status, stdout } = spawnSync(process.execPath, ['.ci/summary.ts', report], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return { status, lines: stdout.trim().split('\n') };
}

test('the summary of CI names each failed test and its file before the sums', () => {
  const { status, lines } = summaryOf(`
    describe('a', () => {
      test('passes', () => {});
      test.skip('is skipped', () => {});
      test('breaks', () => expect(1).toBe(2));
    });`);
  expect(status).toBe(1);
  expect(lines).toEqual([
    expect.stringMatching(/^FAILED .*some\.test\.js: a breaks: AssertionError: expected 1 to be 2/),
    ...['1 skipped', '1 passed, 1 failed'],
  ]);
});

test('the summary of CI names each test that needed a second attempt, and why', () => {
  const { status, lines } = summaryOf(`
    let attempts = 0;
    test('is slow', () => { attempts += 1; if (attempts === 1) throw new Error('no answer'); });`);
  expect(status).toBe(0);
  expect(lines).toEqual([
    expect.stringMatching(/^SECOND ATTEMPT .*some\.test\.js: is slow: Error: no answer$/),
    ...['0 skipped', '1 passed, 0 failed'],
  ]);
});

test('the summary of CI names a file that cannot be loaded', () => {
  const { status, lines } = summaryOf("throw new Error('no such setting');");
  expect(status).toBe(1);
  expect(lines).toEqual([
    expect.stringMatching(/^FAILED .*some\.test\.js: Error: no such setting$/),
    ...['FAILED test: no test passed', '0 skipped', '0 passed, 0 failed'],
  ]);
});

test('the summary of CI names an error that no test threw', () => {
  const { status, lines } = summaryOf(`
    test('leaves a promise', async () => {
      Promise.reject(new TypeError('no page'));
      await new Promise((resolve) => setImmediate(resolve));
    });`);
  expect(status).toBe(1);
  expect(lines).toEqual([
    'FAILED outside of a test: TypeError: no page',
    ...['0 skipped', '1 passed, 0 failed'],
  ]);
});

test('the summary of CI names a file whose hook or process failed', () => {
  const { lines } = summaryOf(`
    describe('a', () => {
      beforeAll(() => { throw new Error('no platform'); });
      test('waits', () => {});
    });`);
  expect(lines[0]).toMatch(/^FAILED .*some\.test\.js: Error: no platform$/);
  const ended = summaryOf("test('ends', () => new Promise(() => process.kill(process.pid, 'SIGKILL')));");
  expect(ended.status).toBe(1);
  expect(ended.lines.join('\n')).toMatch(/^FAILED .*some\.test\.js: /);
});

test('the summary of CI accepts passed tests, and no missing report', () => {
  expect(summaryOf("test('passes', () => {});")).toEqual({
    status: 0,
    lines: ['0 skipped', '1 passed, 0 failed'],
  });
  const { status, stdout } = spawnSync(process.execPath, ['.ci/summary.ts', join(folder, 'none.json')], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect([status, stdout]).toEqual([1, 'FAILED none: no report\n0 skipped\n0 passed, 0 failed\n']);
});
