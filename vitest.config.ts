import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { passOf, SUITES, skipLine } from './test/suites/suites.ts';

// The workers, and the processes that tests start, load what was compiled before instead of compiling it again.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/touchstone');

// Databases and data folders sync each write, which costs nothing in memory: a test of the registry takes a third of the time.
if (freeBytes('/dev/shm') > 4 * 1024 ** 3) process.env.TMPDIR ??= '/dev/shm';

/** 0 where the folder does not exist. Docker gives a container 64 MiB of shared memory, which is too little. */
function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return 0;
  }
}

/** Files of these folders start platforms and take longest: last, one of them would run on alone. */
const WHOLE_PLATFORMS = /\/test\/(e2e|fuzz|cli|web)\//;

/** Kill loops, fuzz, documentation and slow variations: `npm run test:full` runs these, `npm test` the others. */
const FULL = 'test/**/*.full.test.ts';

/** Files that replace modules or the clock: other files of a shared worker would have loaded these, or would be given theirs. */
const MOCKING = ['test/security/secrets.test.ts', 'test/statemachines/caller.test.ts'];

/** Patterns of tests whose suite passed on the present sources: `npm test` and `npm run test:full` skip them, and say so. */
const SKIPPED = process.argv.includes('skip-unchanged') ? unchanged() : [];

function unchanged(): string[] {
  return SUITES.flatMap((suite) => {
    const pass = passOf(suite);
    if (pass) console.log(skipLine(suite, pass));
    return pass ? suite.tests : [];
  });
}

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const [slow, quick] = [true, false].map((which) =>
      sorted.filter(({ moduleId }) => WHOLE_PLATFORMS.test(moduleId) === which),
    );
    return [...slow!, ...quick!];
  }
}

export default defineConfig({
  test: {
    projects: [
      // What these test keeps nothing between calls and is given its clock: their files share workers, and what those loaded.
      {
        extends: true,
        test: {
          name: 'shared',
          include: [
            'test/{engine,contract,domain,statemachines,http,runtime,security,e2e,cli,client}/**/*.test.ts',
          ],
          exclude: [FULL, ...MOCKING, ...SKIPPED],
          isolate: false,
          unstubEnvs: true,
        },
      },
      // Its files share the templates of dev and prod, which the set-up synthesizes once, and what a worker loaded of CDK.
      {
        extends: true,
        test: {
          name: 'stacks',
          include: ['test/stacks/**/*.test.ts'],
          exclude: [FULL, ...SKIPPED],
          globalSetup: 'test/support/synthesize.ts',
          isolate: false,
        },
      },
      // Its files share the dashboard, which the set-up builds once.
      {
        extends: true,
        test: {
          name: 'web',
          include: ['test/web/**/*.test.ts'],
          exclude: [FULL, ...SKIPPED],
          globalSetup: 'test/web/support/build.ts',
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'rest',
          include: ['test/{adapters,lambdas}/**/*.test.ts', ...MOCKING],
          exclude: [FULL, ...SKIPPED],
        },
      },
      {
        extends: true,
        test: {
          name: 'full',
          include: [FULL],
          exclude: SKIPPED,
          // Every task is a process, as in `touchstone start`.
          env: { TASKS: 'processes' },
          globalSetup: 'test/web/support/build.ts',
          isolate: false,
          unstubEnvs: true,
        },
      },
    ],
    sequence: { sequencer: SlowestFirst },
    // One more than the cores of a small machine: while a file waits for a platform, another has something to do.
    maxWorkers: 3,
    // The machines are shared: a test that starts and kills processes may take several times what it takes alone.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 120_000, interval: 20 } },
  },
});
