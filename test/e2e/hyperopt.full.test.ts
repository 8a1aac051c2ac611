import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  HYPEROPT_REQUEST,
  readOutcome,
  reproducible,
  runHyperopt,
  startHyperopt,
  workerProcesses,
} from '../support/hyperopt-jobs.ts';
import { startTestPlatform, TERMINAL, type TestPlatform } from '../support/platform.ts';

/** Hyperopt jobs whose workers or platform are killed during trials. */

let platform: TestPlatform;
let one: ReturnType<typeof reproducible>;
beforeAll(async () => {
  platform = await startTestPlatform();
  one = reproducible(await runHyperopt(platform, HYPEROPT_REQUEST));
});
afterAll(() => platform.stop());

describe('reproducibility with 4 workers', () => {
  it('4 workers give the same trials and result', async () => {
    const { trials, result } = await runHyperopt(platform, { ...HYPEROPT_REQUEST, workers: 4 });
    expect(reproducible({ trials, result })).toEqual(one);
    expect(new Set(trials.map(({ worker }) => worker)).size).toBeGreaterThan(1);
  });

  // An execution starts a worker four times; more kills require another execution.
  it.each([
    [2, 3],
    [1, 5],
  ])('%i workers give the same trials and result when one is killed %i times', async (workers, kills) => {
    const jobId = await startHyperopt(platform, { ...HYPEROPT_REQUEST, workers });
    let killed = 0;
    let killedAt = 0;
    await platform.untilJob(jobId, (job) => {
      const [pid] = job.current_trial > killedAt && killed < kills ? workerProcesses(jobId) : [];
      if (pid) {
        process.kill(pid, 'SIGKILL');
        killed++;
        killedAt = job.current_trial;
      }
      return TERMINAL.includes(job.status);
    });
    expect(killed).toBe(kills);
    expect(reproducible(await readOutcome(platform, jobId))).toEqual(one);
  });
});

describe('platform restart', () => {
  it('restarted platform resumes its hyperopt jobs', async () => {
    const home = mkdtempSync(join(tmpdir(), 'touchstone-hyperopt-'));
    const first = await startTestPlatform({ home });
    const jobId = await startHyperopt(first, HYPEROPT_REQUEST);
    await first.untilJob(jobId, ({ current_trial }) => current_trial >= 3);
    await first.stop();
    const second = await startTestPlatform({ home });
    try {
      const job = await second.until(jobId, ...TERMINAL);
      expect(job.status).toBe('completed');
      expect(reproducible(await readOutcome(second, jobId))).toEqual(one);
    } finally {
      await second.stop();
      rmSync(home, { recursive: true, force: true });
    }
  });
});
