import { Duration } from 'aws-cdk-lib';
import type * as ecs from 'aws-cdk-lib/aws-ecs';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type * as z from 'zod';
import type { StrategyEnv, StrategyEventsEnv } from '#contract/env.ts';
import { STUDY_ID_PREFIX } from '#contract/hyperopt.ts';
import type { StageConfig } from './config.ts';
import type { DataStack } from './data-stack.ts';
import type { Flow } from './flow.ts';
import { allowObjects, allowTable, allowTasks, MOVE_REGISTRY, READ_REGISTRY } from './grants.ts';
import type { Schedules } from './schedules.ts';
import { ServiceApi } from './service-api.ts';
import { ServiceFunction } from './service-function.ts';
import { allowRepositories } from './task-image.ts';

export interface StrategyServiceProps {
  readonly config: StageConfig;
  readonly code: lambda.Code;
  readonly environment: z.input<typeof StrategyEnv>;
  readonly eventsCode: lambda.Code;
  readonly eventsEnvironment: z.input<typeof StrategyEventsEnv>;
  readonly data: DataStack;
  /** Runs hyperopt jobs. */
  readonly flow: Flow;
  readonly cluster: ecs.ICluster;
  /** Timers of challenges. */
  readonly schedules: Schedules;
}

/** The strategy service: its function, another that streams its events, and its REST API. */
export class StrategyService extends Construct {
  readonly service: ServiceFunction;
  readonly events: ServiceFunction;
  readonly api: ServiceApi;

  constructor(scope: Construct, id: string, props: StrategyServiceProps) {
    super(scope, id);
    const { config, data, flow, cluster } = props;
    this.service = new ServiceFunction(this, 'Service', {
      config,
      description: `Touchstone ${config.stage}: the strategy service`,
      code: props.code,
      environment: props.environment,
      // One second before API Gateway would answer in its place.
      timeout: Duration.seconds(28),
    });
    const role = this.service.function.role!;
    allowTable(role, 'registry', data.tables.registry, [...READ_REGISTRY, ...MOVE_REGISTRY], {
      indexes: [],
    });
    // What is registered rests on completed backtests; hyperopt jobs are made, listed, shared and cancelled.
    allowTable(role, 'jobs', data.tables.jobs, ['GetItem', 'BatchGetItem', 'Query']);
    allowTable(role, 'jobs', data.tables.jobs, ['PutItem', 'UpdateItem'], { keys: [`${STUDY_ID_PREFIX}*`] });
    allowTable(role, 'series', data.tables.series, ['BatchGetItem']);
    flow.grantControl(role);
    allowTasks(role, cluster, ['StopTask']);
    allowObjects(role, data.results, ['GetObject']);
    allowRepositories(role, config, ['DescribeImages']);
    props.schedules.allowSetting(role);
    this.events = this.#events(props);
    this.api = new ServiceApi(this, 'Api', {
      ...{ config, service: 'strategy' },
      handler: this.service.alias,
      streams: this.events.alias,
    });
  }

  #events({ config, data, eventsCode, eventsEnvironment }: StrategyServiceProps): ServiceFunction {
    const events = new ServiceFunction(this, 'Events', {
      config,
      description: `Touchstone ${config.stage}: streams events of the strategy service as they come`,
      code: eventsCode,
      environment: eventsEnvironment,
      // One minute more than a stream lasts.
      timeout: Duration.minutes(15),
      // It waits for nearly all of its time, which is paid by the megabyte.
      memorySize: 256,
      concurrency: config.liveViewers,
    });
    allowTable(events.function.role!, 'jobs', data.tables.jobs, ['GetItem', 'Query'], {
      keys: [`${STUDY_ID_PREFIX}*`],
    });
    return events;
  }
}
