import { openDeployedRepair } from '#adapters/aws/open-deployed-repair.ts';
import { RepairEnv } from '#contract/env/env.ts';
import { challengeListener, challengeMetrics } from '#runtime/challenge-listener.ts';
import { readEnv } from '#runtime/env.ts';
import { createLogger } from '#runtime/log.ts';
import { repairLambda } from '#runtime/repair.ts';

const env = readEnv(RepairEnv);
const logger = createLogger('repair', env.LOG_LEVEL);
const listener = challengeListener({ log: logger, count: challengeMetrics(env.ENVIRONMENT) });

export const handler = repairLambda(openDeployedRepair(env, listener, logger), {
  stage: env.ENVIRONMENT,
  logger,
});
