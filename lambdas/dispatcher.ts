import { openDeployedRepair } from '#adapters/aws/open-deployed-repair.ts';
import { RepairEnv } from '#contract/env/env.ts';
import { challengeListener, challengeMetrics } from '#runtime/challenge-listener.ts';
import { dispatcherLambda } from '#runtime/dispatcher.ts';
import { readEnv } from '#runtime/env.ts';
import { createLogger } from '#runtime/log.ts';

const env = readEnv(RepairEnv);
const logger = createLogger('dispatcher', env.LOG_LEVEL);
const listener = challengeListener({ log: logger, count: challengeMetrics(env.ENVIRONMENT) });

export const handler = dispatcherLambda(openDeployedRepair(env, listener, logger), { logger });
