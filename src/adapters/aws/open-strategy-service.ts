import type { StrategyEnv } from '#contract/env.ts';
import { openObjectStore } from '../open-object-store.ts';
import { tableProbe } from '../probes.ts';
import { ObjectResultStore } from '../result-store.ts';
import { createDocumentClient } from './dynamo-client.ts';
import { DynamoJobStore } from './dynamo-job-store.ts';
import { EcrImages } from './ecr-images.ts';
import { openRegistry } from './open-registry.ts';

/** What the deployed strategy service reaches. */
export function openStrategyService(env: StrategyEnv) {
  const dynamo = createDocumentClient(env.DYNAMODB_ENDPOINT ? { endpoint: env.DYNAMODB_ENDPOINT } : {});
  return {
    ...openRegistry(env.REGISTRY_TABLE, env.DYNAMODB_ENDPOINT),
    images: new EcrImages(),
    allowedRegistries: env.ALLOWED_REGISTRIES ?? null,
    jobs: new DynamoJobStore(dynamo, env.JOBS_TABLE),
    results: new ObjectResultStore(openObjectStore(env, env.RESULTS_BUCKET)),
    probes: {
      registry: tableProbe(dynamo, 'registry', env.REGISTRY_TABLE),
    },
  };
}
