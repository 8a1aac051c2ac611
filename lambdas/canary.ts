import { setTimeout as sleep } from 'node:timers/promises';
import { sha256 } from '#adapters/sha256.ts';
import { CanaryEnv } from '#contract/env/canary.ts';
import { canaryLambda } from '#runtime/canary.ts';
import { readEnv } from '#runtime/env.ts';
import { createLogger } from '#runtime/log.ts';

const env = readEnv(CanaryEnv);

export const handler = canaryLambda(
  {
    baseUrl: env.BACKEND_URL,
    webUrl: env.WEB_URL,
    token: env.CANARY_TOKEN,
    fetch,
    clock: Date,
    digest: sha256,
    sleep: (ms) => sleep(ms),
    timeoutSignal: (ms) => AbortSignal.timeout(ms),
  },
  { stage: env.ENVIRONMENT, logger: createLogger('canary', env.LOG_LEVEL) },
);
