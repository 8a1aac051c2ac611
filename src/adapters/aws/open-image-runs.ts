import { randomBytes } from 'node:crypto';
import type { ImageRunEnv } from '#contract/env/image-run-env.ts';
import { ObjectImageRuns } from '../images/image-runs.ts';
import { openObjectStore } from '../open-object-store.ts';
import { openStores } from '../open-stores.ts';
import { sha256 } from '../sha256.ts';

/** Dependencies of the function that prepares and records the runs of registered images. */
export function openImageRuns(env: ImageRunEnv) {
  const { jobs, ownerTrials, series, instruments, results } = openStores(env);
  return {
    jobs,
    ownerTrials,
    series,
    instruments,
    runs: new ObjectImageRuns(
      {
        open: (prefix) => openObjectStore(env, env.RUNS_BUCKET, prefix),
        roleId: env.IMAGE_ROLE_ID,
        secret: () => randomBytes(16).toString('hex'),
      },
      results,
    ),
    digest: sha256,
    clock: Date,
  };
}
