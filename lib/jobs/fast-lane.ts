import { Duration } from 'aws-cdk-lib';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { BacktestTaskEnv } from '#contract/env/env.ts';
import type { EnvInput } from '#contract/env/env-fields.ts';
import type { Monitoring } from '../parts/monitoring.ts';
import type { Network } from '../parts/network.ts';
import { BACKTEST_KEYS } from '../parts/permissions.ts';
import { ServiceFunction } from '../parts/service-function.ts';
import type { StageConfig } from '../settings/config.ts';
import type { DataStack } from '../storage/data-stack.ts';
import { allowBacktest, allowCollection, storage } from './tasks.ts';

/** Memory of a function that has one vCPU, MiB. */
const ONE_VCPU_MIB = 1769;
/** Time limit of a collection: 50,000 candles at one page of 500 candles per second take 100 s. */
const COLLECT_LIMIT = Duration.minutes(5);

export interface FastLaneProps {
  readonly config: StageConfig;
  readonly monitoring: Monitoring;
  readonly data: DataStack;
  readonly network: Network;
  /** Folder of the task image: the functions run the same files. */
  readonly code: lambda.Code;
  readonly common: Pick<EnvInput<typeof BacktestTaskEnv>, 'ENVIRONMENT' | 'LOG_LEVEL'>;
}

/**
 * Functions that run short backtests and short collections: the entry points of the tasks, in a process per invocation. They have
 * the permissions of the tasks.
 */
export class FastLane extends Construct {
  readonly backtest: ServiceFunction;
  readonly collect: ServiceFunction;

  constructor(scope: Construct, id: string, { data, network, common, ...props }: FastLaneProps) {
    super(scope, id);
    const { config } = props;
    const shared = {
      ...props,
      environment: { ...common, ...storage(data) },
      // A call that takes too long is a fault too.
      slowAlarm: false,
    };
    this.backtest = new ServiceFunction(this, 'Backtest', {
      ...shared,
      name: 'FastBacktest',
      description: `Touchstone ${config.stage}: runs short backtests`,
      handler: 'fast-lane.backtest',
      memorySize: ONE_VCPU_MIB,
      faultImpact: 'Short backtests run on Fargate instead of in a function: each takes a minute longer.',
      timeout: Duration.seconds(4 * config.fastLaneSeconds),
      network: network.isolatedFunctions,
    });
    allowBacktest(this.backtest.function.role!, data);
    this.collect = new ServiceFunction(this, 'Collect', {
      ...shared,
      name: 'FastCollect',
      description: `Touchstone ${config.stage}: collects short stretches of candles`,
      handler: 'fast-lane.collect',
      // As much as the task: one month of one-minute candles needs 3 MB, an exchange of ccxt 100 MB.
      memorySize: 1024,
      faultImpact:
        'Missing candles of short backtests are collected on Fargate: each backtest takes a minute longer.',
      timeout: COLLECT_LIMIT,
    });
    allowCollection(this.collect.function.role!, data, BACKTEST_KEYS);
  }
}
