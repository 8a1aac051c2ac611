import { beforeAll, describe, expect, it } from 'vitest';
import { type FinishedHyperoptJob, hyperoptFixture } from '../../support/hyperopt-fixture.ts';
import { essence } from '../../support/hyperopt-workers.ts';

const fixture = hyperoptFixture();
const { newHyperopt, work, read, deps, dying } = fixture;
let one: FinishedHyperoptJob;
beforeAll(async () => {
  one = await fixture.runWithOneWorker();
});

describe('crashed worker', () => {
  it.each([6, 40])(
    'crash in trial %i is followed immediately by its replacement without changing results',
    async (nth) => {
      const jobId = await newHyperopt();
      const { deps: dyingDeps, died } = dying(nth);
      void work(jobId, 0, dyingDeps, 'first');
      await died;
      expect(await work(jobId, 0, deps(), 'second')).toBe('finished');
      const { job, trials } = await read(jobId);
      expect(trials.map(essence)).toEqual(one.trials.map(essence));
      expect(job.trials).toEqual(one.job.trials);
      expect(trials.filter(({ attempt }) => attempt === 2)).toHaveLength(1);
    },
  );
});
