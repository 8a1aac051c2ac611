/** Reporter of vitest for CI: writes the results of a run to the file that TEST_REPORT names, for `.ci/summary.ts`. */
import { writeFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

export interface TestReport {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** A line for each test that failed at first and then passed: its file, its name and the error of its first attempt. */
  readonly secondAttempts: readonly string[];
  /** A line for each failed test and file, and for each error that no test threw, which fails the run too. */
  readonly failures: readonly string[];
}

type Errors = readonly { readonly name?: string; readonly message?: string }[];

function firstLine([error]: Errors): string {
  const [line] = (error?.message ?? 'no message').split('\n');
  return error?.name ? `${error.name}: ${line}` : line!;
}

function lineOf(test: TestCase): string {
  return `${test.module.relativeModuleId}: ${test.fullName.replaceAll(' > ', ' ')}: ${firstLine(test.result().errors ?? [])}`;
}

/** Failures of a file that are no test's: it could not be loaded, its hooks failed, or its process ended. */
function failuresOf(module: TestModule): string[] {
  const errors = [...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())];
  if (errors.length > 0) return [`${module.relativeModuleId}: ${firstLine(errors)}`];
  return module.state() === 'pending' || module.state() === 'queued'
    ? [`${module.relativeModuleId}: did not end`]
    : [];
}

export default class TestReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: Errors): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const inState = (state: string) => tests.filter((test) => test.result().state === state);
    const report: TestReport = {
      passed: inState('passed').length,
      failed: inState('failed').length,
      skipped: inState('skipped').length,
      secondAttempts: inState('passed')
        .filter((test) => (test.result().errors ?? []).length > 0)
        .map(lineOf),
      failures: [
        ...inState('failed').map(lineOf),
        ...modules.flatMap(failuresOf),
        ...unhandledErrors.map((error) => `outside of a test: ${firstLine([error])}`),
      ],
    };
    writeFileSync(process.env['TEST_REPORT']!, JSON.stringify(report));
  }
}
