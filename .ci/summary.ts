/**
 * Prints which tests failed and which passed at a second attempt, each with its error, and then the sums: the end of the log tells them.
 * `node .ci/summary.ts REPORT...`, with JSON reports of vitest. Exits with 1 if a test or a file failed, or if a report is missing or has no test that passed.
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** The part of a report that is read. */
interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly testResults: readonly {
    /** Path of the file. */
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      /** One for each failed attempt, also of a test that passed in the end. */
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

function firstLine(message = 'no message'): string {
  return message.split('\n')[0]!;
}

function failuresOf({ numPassedTests, testResults }: Report, run: string): string[] {
  const failures = testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(ROOT, name);
    const tests = assertionResults.filter((each) => each.status === 'failed');
    if (tests.length > 0) {
      return tests.map(
        ({ fullName, failureMessages }) => `${file}: ${fullName}: ${firstLine(failureMessages[0])}`,
      );
    }
    // The file could not be loaded, or its hooks failed.
    return status === 'failed' ? [`${file}: ${firstLine(message)}`] : [];
  });
  return numPassedTests === 0 ? [...failures, `${run}: no test passed`] : failures;
}

function retriedOf({ testResults }: Report): string[] {
  return testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status, failureMessages }) => status === 'passed' && failureMessages.length > 0)
      .map(
        ({ fullName, failureMessages }) =>
          `${relative(ROOT, name)}: ${fullName}: ${firstLine(failureMessages[0])}`,
      ),
  );
}

const files = process.argv.slice(2);
const written = files.filter((file) => existsSync(file));
const reports = written.map((file) => JSON.parse(readFileSync(file, 'utf8')) as Report);
const failures = [
  ...files.filter((file) => !written.includes(file)).map((file) => `${basename(file, '.json')}: no report`),
  ...reports.flatMap((report, index) => failuresOf(report, basename(written[index]!, '.json'))),
];
const sum = (name: 'numPassedTests' | 'numFailedTests' | 'numPendingTests') =>
  reports.reduce((total, report) => total + report[name], 0);

for (const retried of reports.flatMap(retriedOf)) console.log(`SECOND ATTEMPT ${retried}`);
for (const failure of failures) console.log(`FAILED ${failure}`);
console.log(`${sum('numPendingTests')} skipped`);
console.log(`${sum('numPassedTests')} passed, ${sum('numFailedTests')} failed`);
if (failures.length > 0) process.exitCode = 1;
