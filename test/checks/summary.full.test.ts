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

const report = (name = 'test') => join(folder, `${name}.json`);

/** Runs vitest on files with these texts, as CI does. */
function runTests(texts: Readonly<Record<string, string>>, name?: string): void {
  for (const [file, text] of Object.entries(texts)) writeFileSync(join(folder, `${file}.test.js`), text);
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const reporter = join(ROOT, '.ci/reporter.ts');
  const options = ['--root', folder, '--globals', '--retry=1', `--reporter=${reporter}`];
  const { NODE_COMPILE_CACHE, PATH } = process.env;
  spawnSync(process.execPath, [vitest, 'run', ...options, ...Object.keys(texts)], {
    env: { NODE_COMPILE_CACHE, PATH, TEST_REPORT: report(name) },
  });
}

function script(program: string, path = report()): { status: number | null; lines: string[] } {
  const { status, stdout } = spawnSync(process.execPath, [`.ci/${program}.ts`, path], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return { status, lines: stdout.trim().split('\n') };
}

function summaryOf(text: string): { status: number | null; lines: string[] } {
  runTests({ some: text });
  return script('summary');
}

const LEFT_PROMISE = `
  test('leaves a promise', async () => {
    Promise.reject(new TypeError('no page'));
    await new Promise((resolve) => setImmediate(resolve));
  });`;

test('the summary of CI names each failed test and its file before the sums', () => {
  const { status, lines } = summaryOf(`
    describe('a', () => {
      test('passes', () => {});
      test.skip('is skipped', () => {});
      test('breaks', () => expect(1).toBe(2));
    });`);
  expect(status).toBe(1);
  expect(lines).toEqual([
    expect.stringMatching(/^FAILED some\.test\.js: a breaks: AssertionError: expected 1 to be 2/),
    '1 skipped',
    '1 passed, 1 failed',
  ]);
});

test('the summary of CI names each test that needed a second attempt, and why', () => {
  const { status, lines } = summaryOf(`
    let attempts = 0;
    test('is slow', () => { attempts += 1; if (attempts === 1) throw new Error('no answer'); });`);
  expect(status).toBe(0);
  expect(lines).toEqual([
    'SECOND ATTEMPT some.test.js: is slow: Error: no answer',
    '0 skipped',
    '1 passed, 0 failed',
  ]);
});

test.each([
  ['that cannot be loaded', "throw new Error('no such setting');", 'Error: no such setting', 0],
  [
    'whose hook failed',
    `describe('a', () => {
      beforeAll(() => { throw new Error('no platform'); });
      test('waits', () => {});
    });`,
    'Error: no platform',
    0,
  ],
  ['with an error that no test threw', LEFT_PROMISE, 'TypeError: no page', 1],
])('CI names a file %s, and gives it a second attempt', (_, text, error, passed) => {
  runTests({ some: text, other: "test('passes', () => {});" });
  const { status, lines } = script('summary');
  expect(status).toBe(1);
  expect(lines[0]).toBe(`FAILED some.test.js: ${error}`);
  expect(lines.at(-1)).toBe(`${passed + 1} passed, 0 failed`);
  expect(script('again')).toEqual({ status: 0, lines: ['some.test.js'] });

  runTests({ some: "test('passes', () => {});" }, 'again-test');
  expect(script('summary')).toEqual({
    status: 0,
    lines: [`SECOND ATTEMPT some.test.js: ${error}`, '0 skipped', '2 passed, 0 failed'],
  });
  runTests({ some: text }, 'again-test');
  expect(script('summary').status).toBe(1);
});

test('CI names a file whose process ended', () => {
  const { status, lines } = summaryOf(
    "test('ends', () => new Promise(() => process.kill(process.pid, 'SIGKILL')));",
  );
  expect(status).toBe(1);
  expect(lines[0]).toMatch(/^FAILED (some\.test\.js|vitest): /);
});

test('CI does not repeat a run in which a test failed', () => {
  runTests({ some: LEFT_PROMISE, other: "test('breaks', () => expect(1).toBe(2));" });
  expect(script('again')).toEqual({ status: 1, lines: [''] });
});

test('the summary of CI accepts passed tests, and no missing report', () => {
  expect(summaryOf("test('passes', () => {});")).toEqual({
    status: 0,
    lines: ['0 skipped', '1 passed, 0 failed'],
  });
  expect(summaryOf("test.skip('waits', () => {});").lines[0]).toBe('FAILED test: no test passed');
  expect(script('summary', report('none'))).toEqual({
    status: 1,
    lines: ['FAILED none: no report', '0 skipped', '0 passed, 0 failed'],
  });
});
