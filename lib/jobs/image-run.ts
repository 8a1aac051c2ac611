import { Duration } from 'aws-cdk-lib';
import type * as ecs from 'aws-cdk-lib/aws-ecs';
import * as events from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { BACKTEST_ID_PREFIX, VALIDATION_ID_PREFIX } from '#contract/backtests/backtest.ts';
import { IMAGE_INPUT_PREFIX } from '#contract/backtests/image-run-keys.ts';
import type { EnvInput } from '#contract/env/env-fields.ts';
import type { ImageRunEnv } from '#contract/env/image-run-env.ts';
import type { Monitoring } from '../parts/monitoring.ts';
import { allowObjects, allowTable, allowTrials, BACKTEST_KEYS } from '../parts/permissions.ts';
import { ServiceFunction } from '../parts/service-function.ts';
import type { StageConfig } from '../settings/config.ts';
import type { DataStack } from '../storage/data-stack.ts';

export interface ImageRunProps {
  readonly config: StageConfig;
  readonly monitoring: Monitoring;
  readonly code: lambda.Code;
  readonly environment: EnvInput<typeof ImageRunEnv>;
  readonly data: DataStack;
  readonly cluster: ecs.ICluster;
  /** ARN pattern of the task definitions of registered images. */
  readonly definitions: string;
}

/**
 * Prepares the runs of registered images and records what they wrote: the only writer of their jobs. ECS reports the start of a
 * task; an event that is lost is made up for when the task has ended.
 */
export class ImageRun extends Construct {
  readonly service: ServiceFunction;

  constructor(scope: Construct, id: string, props: ImageRunProps) {
    super(scope, id);
    const { config, data, cluster } = props;
    this.service = new ServiceFunction(this, 'Service', {
      name: 'ImageRun',
      config,
      monitoring: props.monitoring,
      description: `Touchstone ${config.stage}: prepares and records the runs of registered images`,
      code: props.code,
      environment: props.environment,
      // One second less than the state machine's time-out.
      timeout: Duration.minutes(5),
      // One vCPU. A million trades take 540 MB and half a minute.
      memorySize: 1769,
    });
    const role = this.service.function.role!;
    allowTable(role, 'jobs', data.tables.jobs, ['GetItem', 'UpdateItem'], { keys: BACKTEST_KEYS });
    allowTrials(role, data.tables.jobs);
    allowTable(role, 'series', data.tables.series, ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem']);
    allowObjects(role, data.runs, ['PutObject'], { keys: [`${IMAGE_INPUT_PREFIX}*`], list: false });
    allowObjects(role, data.runs, ['GetObject'], { keys: ['runs/*'] });
    allowObjects(role, data.results, ['PutObject'], {
      keys: BACKTEST_KEYS.map((key) => `results/${key}`),
      list: false,
    });
    new events.Rule(this, 'TaskStarted', {
      description: 'The task of a registered image has started: its job is running',
      eventPattern: {
        source: ['aws.ecs'],
        detailType: ['ECS Task State Change'],
        detail: {
          clusterArn: [cluster.clusterArn],
          taskDefinitionArn: [{ wildcard: props.definitions }],
          group: [{ prefix: BACKTEST_ID_PREFIX }, { prefix: VALIDATION_ID_PREFIX }],
          lastStatus: ['RUNNING'],
          desiredStatus: ['RUNNING'],
        },
      },
      targets: [new LambdaFunction(this.service.alias)],
    });
  }
}
