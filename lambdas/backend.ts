import { openBackend } from '#adapters/aws/open-backend.ts';
import { openAuditTrail } from '#adapters/dynamo/lazy-audit-trail.ts';
import { openCursorKey } from '#adapters/dynamo/lazy-cursor-key.ts';
import { ulids } from '#adapters/ids.ts';
import { sha256 } from '#adapters/sha256.ts';
import { BackendEnv } from '#contract/env/env.ts';
import { ownershipOf } from '#domain/ownership.ts';
import { lazy } from '#domain/shared/lazy.ts';
import { webhookMembership } from '#domain/webhooks/webhook-membership.ts';
import { authenticateBy, isEnforced } from '#runtime/authenticate-by.ts';
import { challengeListener, challengeMetrics } from '#runtime/challenge-listener.ts';
import { readEnv } from '#runtime/env.ts';
import { withCanaryTokens } from '#runtime/fixed-tokens.ts';
import { serviceLambda } from '#runtime/lambda.ts';
import { createLogger } from '#runtime/log.ts';
import { type BackendDeps, backendHandlers } from '#runtime/services/backend.ts';

const env = readEnv(BackendEnv);
const log = createLogger('backend', env.LOG_LEVEL);
const audit = openAuditTrail(env);
const deps: BackendDeps = {
  ...openBackend(env, challengeListener({ log, count: challengeMetrics(env.ENVIRONMENT) })),
  audit,
  strategies: lazy(async () => (await import('#adapters/strategies/load-strategies.ts')).loadStrategies()),
  ids: ulids,
  digest: sha256,
  clock: Date,
  defaultExchange: env.DEFAULT_EXCHANGE,
  authenticationEnforced: isEnforced(env),
  log,
};
export const handler = serviceLambda('backend', backendHandlers(deps), {
  ownership: ownershipOf(deps),
  cursorKey: openCursorKey(env),
  onCaller: webhookMembership(deps),
  authenticate: withCanaryTokens([env.CANARY_TOKEN, env.CANARY_TOKEN_2], authenticateBy('BACKEND', env)),
  audit: { trail: audit, clock: Date, ids: ulids, originTokens: [env.ORIGIN_TOKEN, env.ORIGIN_TOKEN_2] },
  environment: env.ENVIRONMENT,
  logLevel: env.LOG_LEVEL,
});
