import { openDeployedReconcile } from '#adapters/aws/open-deployed-repair.ts';
import { ReconcileEnv } from '#contract/env/env.ts';
import { challengeListener, challengeMetrics } from '#runtime/challenge-listener.ts';
import { readEnv } from '#runtime/env.ts';
import { createLogger } from '#runtime/log.ts';
import { reconcileLambda } from '#runtime/repair.ts';

const env = readEnv(ReconcileEnv);
const logger = createLogger('reconcile', env.LOG_LEVEL);
const listener = challengeListener({ log: logger, count: challengeMetrics(env.ENVIRONMENT) });

export const handler = reconcileLambda(openDeployedReconcile(env, listener, logger), {
  stage: env.ENVIRONMENT,
  logger,
});
