import type { hyperoptFixture } from '../../support/hyperopt-fixture.ts';

/** Runs a job whose first worker crashes during its nth trial and is replaced. `outcome` is the replacement's. */
export async function runThroughCrash(
  { newHyperopt, dying, work, deps, read }: ReturnType<typeof hyperoptFixture>,
  nth: number,
) {
  const jobId = await newHyperopt();
  const { deps: dyingDeps, died } = dying(nth);
  void work(jobId, 0, dyingDeps, 'first');
  await died;
  const outcome = await work(jobId, 0, deps(), 'second');
  return { outcome, ...(await read(jobId)) };
}
