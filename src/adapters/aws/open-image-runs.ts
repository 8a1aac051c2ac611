import { randomBytes } from 'node:crypto';
import type { ImageRunEnv } from '#contract/env/image-run-env.ts';
import { createDocumentClient } from '../dynamo/client.ts';
import { DynamoJobStore } from '../dynamo/job-store.ts';
import { DynamoOwnerTrials } from '../dynamo/owner-trials.ts';
import { DynamoInstrumentStore, DynamoSeriesStore } from '../dynamo/series-stores.ts';
import { ObjectImageRuns } from '../images/image-runs.ts';
import { ObjectResultStore } from '../objects/result-store.ts';
import { openObjectStore } from '../open-object-store.ts';
import { sha256 } from '../sha256.ts';

/** Dependencies of the function that prepares and records the runs of registered images. */
export function openImageRuns(env: ImageRunEnv) {
  const dynamo = createDocumentClient(env.DYNAMODB_ENDPOINT ? { endpoint: env.DYNAMODB_ENDPOINT } : {});
  return {
    jobs: new DynamoJobStore(dynamo, env.JOBS_TABLE),
    ownerTrials: new DynamoOwnerTrials(dynamo, env.JOBS_TABLE),
    series: new DynamoSeriesStore(dynamo, env.SERIES_TABLE),
    instruments: new DynamoInstrumentStore(dynamo, env.SERIES_TABLE),
    runs: new ObjectImageRuns(
      {
        open: (prefix) => openObjectStore(env, env.RUNS_BUCKET, prefix),
        roleId: env.IMAGE_ROLE_ID,
        secret: () => randomBytes(16).toString('hex'),
      },
      new ObjectResultStore(openObjectStore(env, env.RESULTS_BUCKET)),
    ),
    digest: sha256,
    clock: Date,
  };
}
