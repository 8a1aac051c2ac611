import type { StrategyEnv } from '#contract/env/env.ts';
import { challengeRules, promotionRules } from '#contract/env/release-rules-env.ts';
import { retentionDays } from '#contract/env/retention.ts';
import { maxRunning } from '#contract/env/slots-env.ts';
import type { HyperoptExecutionInput } from '#contract/hyperopt/hyperopt.ts';
import type { ChallengeListener } from '#domain/challenges/challenge-store.ts';
import { lazy } from '#domain/shared/lazy.ts';
import { openRegistry } from '../dynamo/open-registry.ts';
import { tableProbe } from '../health-probes.ts';
import { openAws } from './open-aws.ts';

/** Timer of challenge deadlines: schedules that invoke the repair function. */
export function openScheduler(env: StrategyEnv) {
  return lazy(async () => {
    const { createSchedulerClient, SchedulerTimer } = await import('./scheduler-timer.ts');
    return new SchedulerTimer(createSchedulerClient(), {
      group: env.SCHEDULE_GROUP,
      functionArn: env.SCHEDULE_FUNCTION_ARN,
      roleArn: env.SCHEDULE_ROLE_ARN,
    });
  });
}

/**
 * Dependencies of the deployed strategy service. `onChallengeChange` is notified of each stored change of a challenge.
 */
export function openStrategyService(env: StrategyEnv, onChallengeChange: ChallengeListener) {
  const { dynamo, ...aws } = openAws(env);
  return {
    ...aws,
    ...openRegistry(env.REGISTRY_TABLE, env.DYNAMODB_ENDPOINT, onChallengeChange),
    ...promotionRules(env),
    ...challengeRules(env),
    allowedRegistries: env.ALLOWED_REGISTRIES ?? null,
    maxRunning: maxRunning(env),
    retention: retentionDays(env),
    hyperoptExecutions: lazy(async () => {
      const { createSfnClient, SfnExecutions } = await import('./sfn-executions.ts');
      return new SfnExecutions<HyperoptExecutionInput>(createSfnClient(), env.HYPEROPT_STATE_MACHINE_ARN);
    }),
    defaultExchange: env.DEFAULT_EXCHANGE,
    probes: {
      registry: tableProbe(dynamo, 'registry', env.REGISTRY_TABLE),
    },
  };
}
