import { openAudit } from '#adapters/aws/dynamo-audit-trail.ts';
import { openBackend } from '#adapters/aws/open-backend.ts';
import { sha256, ulids } from '#adapters/ids.ts';
import { loadStrategies } from '#adapters/strategies.ts';
import { BackendEnv } from '#contract/env.ts';
import { ownershipOf } from '#domain/ownership.ts';
import { challengeListener, challengeMetrics } from '#runtime/challenge-listener.ts';
import { readEnv } from '#runtime/env.ts';
import { authenticateBy, withCanaryToken } from '#runtime/identity-provider.ts';
import { serviceLambda } from '#runtime/lambda.ts';
import { createLogger } from '#runtime/log.ts';
import { type BackendDeps, backendHandlers } from '#runtime/services/backend.ts';

const env = readEnv(BackendEnv);
const log = createLogger('backend', env.LOG_LEVEL);
const audit = openAudit(env.REGISTRY_TABLE, env.DYNAMODB_ENDPOINT);
const deps: BackendDeps = {
  ...openBackend(env, challengeListener({ log, count: challengeMetrics(env.ENVIRONMENT) })),
  audit,
  strategies: await loadStrategies(),
  ids: ulids,
  digest: sha256,
  clock: Date,
  defaultExchange: env.DEFAULT_EXCHANGE,
  log,
};

export const handler = serviceLambda('backend', backendHandlers(deps), {
  ownership: ownershipOf(deps),
  authenticate: withCanaryToken(env.CANARY_TOKEN, authenticateBy('BACKEND', env)),
  audit: { trail: audit, clock: Date, ids: ulids },
  environment: env.ENVIRONMENT,
  logLevel: env.LOG_LEVEL,
});
