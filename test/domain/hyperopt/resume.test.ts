import { beforeAll, describe, expect, it } from 'vitest';
import type { TrialRunner } from '#domain/hyperopt/run-hyperopt-worker.ts';
import { computeTrial, computing, essence } from '../../support/studies.ts';
import { type EndedStudy, studyFixture } from '../../support/study-fixture.ts';

const fixture = studyFixture();
const { newStudy, work, read, deps, dying } = fixture;
let one: EndedStudy;
beforeAll(async () => {
  one = await fixture.alone();
});

describe('a study that goes on from another', () => {
  /** Cancelled while its `nth` trial ran. */
  async function interrupted(nth: number): Promise<string> {
    const jobId = await newStudy();
    let begun = 0;
    const run: TrialRunner['run'] = async (request) => {
      if (++begun === nth) await deps().studies.cancel(jobId, new Date().toISOString());
      return computeTrial(request);
    };
    await work(jobId, 0, deps({ ...computing, run }));
    return jobId;
  }

  async function goOn(from: string, codeDigest = computing.codeDigest) {
    const jobId = await newStudy({}, { resumed_from: from });
    let runs = 0;
    const run: TrialRunner['run'] = (request) => {
      runs++;
      return computeTrial(request);
    };
    await work(jobId, 0, deps({ codeDigest, warnings: [], run, close: async () => undefined }));
    return { ...(await read(jobId)), runs };
  }

  it('takes over what ended there and runs the rest', async () => {
    const old = await interrupted(25);
    const { study, trials, runs } = await goOn(old);
    expect(runs).toBe(40 - 24);
    expect(trials.map(essence)).toEqual(one.trials.map(essence));
    expect(study.status).toBe('completed');
    const outcomes = [study, one.study].map((each) => (each.status === 'completed' ? each.outcome : null));
    expect(outcomes[0]!.overfitting).toEqual(outcomes[1]!.overfitting);
    expect((await read(old)).study.status).toBe('cancelled');
  });

  it('runs everything when the code has changed', async () => {
    const { trials, runs } = await goOn(await interrupted(5), 'another');
    expect(runs).toBe(40);
    expect(trials.map(essence)).toEqual(one.trials.map(essence));
  });

  it('a worker with other code than the first ends the study: trials could not be compared', async () => {
    const jobId = await newStudy();
    const { deps: dyingDeps, died } = dying(3);
    void work(jobId, 0, dyingDeps, 'first');
    await died;
    expect(await work(jobId, 0, deps({ ...computing, codeDigest: 'edited' }), 'second')).toBe('stopped');
    const { study, trials } = await read(jobId);
    expect(study).toMatchObject({ status: 'failed', error_code: 'VAL006' });
    expect(trials).toHaveLength(3);
  });
});
