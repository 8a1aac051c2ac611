/**
 * Prints the test files of a report that deserve a second attempt: `--retry` repeats tests, but no hook and no file.
 * `node .ci/again.ts REPORT`, with a file of `reporter.ts`. Exits with 1 if a second attempt could not make the run pass.
 */
import { readFileSync } from 'node:fs';
import { NO_FILE, type TestReport } from './reporter.ts';

const report: TestReport = JSON.parse(readFileSync(process.argv[2]!, 'utf8'));
const files = Object.keys(report).filter((file) => report[file]!.otherFailures.length > 0);
const isHopeless =
  NO_FILE in report || Object.values(report).some(({ failedTests }) => failedTests.length > 0);
if (files.length === 0 || isHopeless) process.exitCode = 1;
else console.log(files.join('\n'));
