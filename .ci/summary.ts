/**
 * Prints what failed and what passed at a second attempt, each with its error, and then the sums: the end of the log tells them.
 * `node .ci/summary.ts REPORT...`, with files of `reporter.ts`; the second attempt of files, if any, is `again-` and the name.
 * Exits with 1 if something failed, or if a report is missing or has no test that passed.
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { FileReport, TestReport } from './reporter.ts';

function read(file: string): TestReport | undefined {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

/** The results of both attempts of a run. */
function attempts(path: string): TestReport | undefined {
  const first = read(path);
  const again = read(join(dirname(path), `again-${basename(path)}`));
  if (!first || !again) return first;
  const repeated = Object.entries(again).map(([file, report]): [string, FileReport] => {
    const secondAttempts = [...(first[file]?.otherFailures ?? []), ...report.secondAttempts];
    return [file, { ...report, secondAttempts }];
  });
  return { ...first, ...Object.fromEntries(repeated) };
}

const totals = { passed: 0, failed: 0, skipped: 0 };
const secondAttempts: string[] = [];
const failures: string[] = [];
for (const path of process.argv.slice(2)) {
  const run = basename(path, '.json');
  const report = attempts(path);
  let passed = 0;
  for (const [file, each] of Object.entries(report ?? {})) {
    passed += each.passed;
    totals.failed += each.failedTests.length;
    totals.skipped += each.skipped;
    secondAttempts.push(...each.secondAttempts.map((line) => `${file}: ${line}`));
    failures.push(...[...each.failedTests, ...each.otherFailures].map((line) => `${file}: ${line}`));
  }
  totals.passed += passed;
  if (!report) failures.push(`${run}: no report`);
  else if (passed === 0) failures.push(`${run}: no test passed`);
}

for (const line of secondAttempts) console.log(`SECOND ATTEMPT ${line}`);
for (const line of failures) console.log(`FAILED ${line}`);
console.log(`${totals.skipped} skipped`);
console.log(`${totals.passed} passed, ${totals.failed} failed`);
if (failures.length > 0) process.exitCode = 1;
