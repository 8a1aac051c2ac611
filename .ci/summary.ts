/**
 * Prints which tests failed and which passed at a second attempt, each with its error, and then the sums: the end of the log tells them.
 * `node .ci/summary.ts REPORT...`, with the files of `reporter.ts`. Exits with 1 if something failed, or if a report is missing or has no test that passed.
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { TestReport } from './reporter.ts';

const reports = process.argv.slice(2).map((file): TestReport => {
  const run = basename(file, '.json');
  const none = { passed: 0, failed: 0, skipped: 0, secondAttempts: [] };
  if (!existsSync(file)) return { ...none, failures: [`${run}: no report`] };
  const report: TestReport = JSON.parse(readFileSync(file, 'utf8'));
  const failures = report.passed === 0 ? [`${run}: no test passed`] : [];
  return { ...report, failures: [...report.failures, ...failures] };
});
const sum = (name: 'passed' | 'failed' | 'skipped') =>
  reports.reduce((total, report) => total + report[name], 0);
const failures = reports.flatMap((report) => report.failures);

for (const line of reports.flatMap(({ secondAttempts }) => secondAttempts))
  console.log(`SECOND ATTEMPT ${line}`);
for (const line of failures) console.log(`FAILED ${line}`);
console.log(`${sum('skipped')} skipped`);
console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
if (failures.length > 0) process.exitCode = 1;
