/** Reporter of vitest for CI: writes the results of a run to the file that TEST_REPORT names. */
import { writeFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node';

/** Results by the path of the test file. */
export type TestReport = Readonly<Record<string, FileReport>>;

/** Each line names the test, if it is one's, and the error. */
export interface FileReport {
  readonly passed: number;
  readonly skipped: number;
  /** Tests that failed at first and then passed. */
  readonly secondAttempts: readonly string[];
  readonly failedTests: readonly string[];
  /** Errors that are no test's: the file could not be loaded, a hook failed, its process ended, or nobody handled a rejection. */
  readonly otherFailures: readonly string[];
}

/** Stands for the file of an error that came from none. */
export const NO_FILE = 'vitest';

type AnyError = Pick<SerializedError, 'name' | 'message'>;

function firstLine(error: AnyError | undefined): string {
  const [line] = (error?.message ?? 'no message').split('\n');
  return error?.name ? `${error.name}: ${line}` : line!;
}

function lineOf(test: TestCase): string {
  return `${test.fullName.replaceAll(' > ', ' ')}: ${firstLine(test.result().errors?.[0])}`;
}

function otherFailuresOf(module: TestModule): string[] {
  const errors = [...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())];
  if (errors.length > 0) return [firstLine(errors[0])];
  return module.state() === 'pending' || module.state() === 'queued' ? ['did not end'] : [];
}

function fileReport(module: TestModule, unhandled: readonly AnyError[]): FileReport {
  const tests = [...module.children.allTests()];
  const inState = (state: string) => tests.filter((test) => test.result().state === state);
  return {
    passed: inState('passed').length,
    skipped: inState('skipped').length,
    secondAttempts: inState('passed')
      .filter((test) => (test.result().errors ?? []).length > 0)
      .map(lineOf),
    failedTests: inState('failed').map(lineOf),
    otherFailures: [...otherFailuresOf(module), ...unhandled.map(firstLine)],
  };
}

export default class TestReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const report: Record<string, FileReport> = {};
    for (const module of modules) {
      const own = unhandled.filter(({ VITEST_TEST_PATH }) => VITEST_TEST_PATH === module.moduleId);
      report[module.relativeModuleId] = fileReport(module, own);
    }
    const paths = new Set(modules.map(({ moduleId }) => moduleId));
    const rest = unhandled.filter(({ VITEST_TEST_PATH }) => !paths.has(VITEST_TEST_PATH));
    if (rest.length > 0) {
      report[NO_FILE] = {
        passed: 0,
        skipped: 0,
        secondAttempts: [],
        failedTests: [],
        otherFailures: rest.map(firstLine),
      };
    }
    writeFileSync(process.env.TEST_REPORT!, JSON.stringify(report));
  }
}
