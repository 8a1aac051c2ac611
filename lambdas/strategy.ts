import { openScheduler, openStrategyService } from '#adapters/aws/open-strategy-service.ts';
import { openAuditTrail } from '#adapters/dynamo/lazy-audit-trail.ts';
import { openCursorKey } from '#adapters/dynamo/lazy-cursor-key.ts';
import { ulids } from '#adapters/ids.ts';
import { sha256 } from '#adapters/sha256.ts';
import { StrategyEnv } from '#contract/env/env.ts';
import { ownershipOf } from '#domain/ownership.ts';
import { lazy } from '#domain/shared/lazy.ts';
import { authenticateBy } from '#runtime/authenticate-by.ts';
import { challengeListener, challengeMetrics } from '#runtime/challenge-listener.ts';
import { readEnv } from '#runtime/env.ts';
import { serviceLambda } from '#runtime/lambda.ts';
import { createLogger } from '#runtime/log.ts';
import { type StrategyDeps, strategyHandlers } from '#runtime/services/strategy.ts';

const env = readEnv(StrategyEnv);
const log = createLogger('strategy', env.LOG_LEVEL);
const listener = challengeListener({
  log,
  count: challengeMetrics(env.ENVIRONMENT),
  timer: openScheduler(env),
});
const audit = openAuditTrail(env);
const deps: StrategyDeps = {
  ...openStrategyService(env, listener),
  strategies: lazy(async () => (await import('#adapters/strategies/load-strategies.ts')).loadStrategies()),
  ids: ulids,
  digest: sha256,
  clock: Date,
  log,
};

export const handler = serviceLambda('strategy', strategyHandlers(deps), {
  ownership: ownershipOf(deps),
  cursorKey: openCursorKey(env),
  authenticate: authenticateBy('STRATEGY', env),
  audit: { trail: audit, clock: Date, ids: ulids, originTokens: [env.ORIGIN_TOKEN, env.ORIGIN_TOKEN_2] },
  environment: env.ENVIRONMENT,
  logLevel: env.LOG_LEVEL,
});
