import type { StrategyEnv } from '#contract/env.ts';
import type { HyperoptExecutionInput } from '#contract/hyperopt.ts';
import { maxRunning } from '#contract/queue.ts';
import { retentionDays } from '#contract/retention.ts';
import type { ChallengeListener } from '#domain/challenges/challenge-store.ts';
import { openObjectStore } from '../open-object-store.ts';
import { tableProbe } from '../probes.ts';
import { ObjectResultStore } from '../result-store.ts';
import { createDocumentClient } from './dynamo-client.ts';
import { DynamoHyperoptStore } from './dynamo-hyperopt-store.ts';
import { DynamoJobQueue } from './dynamo-job-queue.ts';
import { DynamoJobStore } from './dynamo-job-store.ts';
import { DynamoInstrumentStore, DynamoSeriesStore } from './dynamo-series-stores.ts';
import { DynamoTrialLedger } from './dynamo-trial-ledger.ts';
import { EcrImages } from './ecr-images.ts';
import { createEcsClient, EcsTaskControl } from './ecs-tasks.ts';
import { openRegistry, promotionRules } from './open-registry.ts';
import { createSchedulerClient, SchedulerTimer } from './scheduler-timer.ts';
import { createSfnClient, SfnExecutions } from './sfn-executions.ts';

/** Timer of challenge deadlines: schedules that invoke the reconcile function. */
export function openScheduler(env: StrategyEnv): SchedulerTimer {
  return new SchedulerTimer(createSchedulerClient(), {
    group: env.SCHEDULE_GROUP,
    functionArn: env.SCHEDULE_FUNCTION_ARN,
    roleArn: env.SCHEDULE_ROLE_ARN,
  });
}

/**
 * Dependencies of the deployed strategy service. `onChallengeChange` is notified of each stored change of a challenge.
 */
export function openStrategyService(env: StrategyEnv, onChallengeChange: ChallengeListener) {
  const dynamo = createDocumentClient(env.DYNAMODB_ENDPOINT ? { endpoint: env.DYNAMODB_ENDPOINT } : {});
  return {
    ...openRegistry(env.REGISTRY_TABLE, env.DYNAMODB_ENDPOINT, onChallengeChange),
    images: new EcrImages(),
    allowedRegistries: env.ALLOWED_REGISTRIES ?? null,
    ...promotionRules(env),
    challengeMinTrades: env.CHALLENGE_MIN_TRADES,
    challengeMinHours: env.CHALLENGE_MIN_HOURS,
    challengeMinAssignments: env.CHALLENGE_MIN_ASSIGNMENTS,
    jobs: new DynamoJobStore(dynamo, env.JOBS_TABLE),
    queue: new DynamoJobQueue(dynamo, env.JOBS_TABLE),
    maxRunning: maxRunning(env),
    retention: retentionDays(env),
    series: new DynamoSeriesStore(dynamo, env.SERIES_TABLE),
    instruments: new DynamoInstrumentStore(dynamo, env.SERIES_TABLE),
    hyperoptJobs: new DynamoHyperoptStore(dynamo, env.JOBS_TABLE),
    ledger: new DynamoTrialLedger(dynamo, env.JOBS_TABLE),
    hyperoptExecutions: new SfnExecutions<HyperoptExecutionInput>(
      createSfnClient(),
      env.HYPEROPT_STATE_MACHINE_ARN,
    ),
    tasks: new EcsTaskControl(createEcsClient()),
    defaultExchange: env.DEFAULT_EXCHANGE,
    results: new ObjectResultStore(openObjectStore(env, env.RESULTS_BUCKET)),
    probes: {
      registry: tableProbe(dynamo, 'registry', env.REGISTRY_TABLE),
    },
  };
}
