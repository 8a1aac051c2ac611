import { Duration } from 'aws-cdk-lib';
import type * as ecs from 'aws-cdk-lib/aws-ecs';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { BACKTEST_ID_PREFIX } from '#contract/backtests/backtest.ts';
import type { StrategyEnv, StrategyEventsEnv } from '#contract/env/env.ts';
import type { EnvInput } from '#contract/env/env-fields.ts';
import { HYPEROPT_ID_PREFIX } from '#contract/hyperopt/hyperopt.ts';
import { METRICS } from '#contract/values/names.ts';
import type { Flow } from '../jobs/flow.ts';
import type { Schedules } from '../jobs/repair.ts';
import { allowRepositories } from '../jobs/task-image.ts';
import type { AuditTrail } from '../parts/audit-write-alarm.ts';
import { type Monitoring, p99 } from '../parts/monitoring.ts';
import {
  allowObjects,
  allowTable,
  allowTasks,
  READ_REGISTRY,
  SIGNALS_KEYS,
  TRANSITION_REGISTRY,
} from '../parts/permissions.ts';
import { ServiceFunction } from '../parts/service-function.ts';
import type { TokenPair } from '../parts/service-tokens.ts';
import type { StageConfig } from '../settings/config.ts';
import type { DataStack } from '../storage/data-stack.ts';
import { ServiceApi } from './service-api.ts';

export interface StrategyServiceProps {
  readonly config: StageConfig;
  readonly monitoring: Monitoring;
  readonly audit: AuditTrail;
  readonly code: lambda.Code;
  readonly environment: EnvInput<typeof StrategyEnv>;
  readonly eventsCode: lambda.Code;
  readonly eventsEnvironment: EnvInput<typeof StrategyEventsEnv>;
  readonly data: DataStack;
  readonly flow: Flow;
  readonly cluster: ecs.ICluster;
  /** Tokens of CloudFront; undefined without a dashboard. */
  readonly originTokens: TokenPair | undefined;
  /** Schedules of challenge deadlines. */
  readonly schedules: Schedules;
}

/** The strategy service: its function, another that streams its events, and its REST API. */
export class StrategyService extends Construct {
  readonly service: ServiceFunction;
  readonly events: ServiceFunction;
  readonly api: ServiceApi;

  constructor(scope: Construct, id: string, props: StrategyServiceProps) {
    super(scope, id);
    const { config, monitoring, data, flow, cluster } = props;
    this.service = new ServiceFunction(this, 'Service', {
      name: 'Strategy',
      config,
      monitoring,
      description: `Touchstone ${config.stage}: the strategy service`,
      code: props.code,
      environment: props.environment,
      // One second less than API Gateway's time-out.
      timeout: Duration.seconds(28),
    });
    const role = this.service.function.role!;
    allowTable(role, 'registry', data.tables.registry, [...READ_REGISTRY, ...TRANSITION_REGISTRY], {
      indexes: ['challenges'],
    });
    // Reads the backtests that versions are registered from; creates, lists, shares and cancels hyperopt jobs.
    allowTable(role, 'jobs', data.tables.jobs, ['GetItem', 'BatchGetItem', 'Query']);
    // Marks the backtest behind a version, so that it never expires.
    allowTable(role, 'jobs', data.tables.jobs, ['UpdateItem'], {
      keys: [`${BACKTEST_ID_PREFIX}*`, ...SIGNALS_KEYS],
    });
    // One statement: taking a slot writes a slot and a job in one transaction.
    allowTable(role, 'jobs', data.tables.jobs, ['PutItem', 'UpdateItem'], {
      keys: [`${HYPEROPT_ID_PREFIX}*`, '#slots#hyperopt', '#owners#hyperopt', '#experiments#*'],
    });
    allowTable(role, 'series', data.tables.series, ['BatchGetItem']);
    flow.grantControl(role);
    allowTasks(role, cluster, ['StopTask']);
    allowObjects(role, data.results, ['GetObject']);
    allowRepositories(role, config, ['DescribeImages']);
    props.schedules.allowCreating(role);
    this.events = this.#events(props);
    this.api = new ServiceApi(this, 'Api', {
      config,
      monitoring,
      originTokens: props.originTokens,
      service: 'strategy',
      handler: this.service.alias,
      streams: this.events.alias,
      alarms: {
        name: 'Strategy',
        urgency: 'page',
        // Event streams last for minutes and are part of the gateway's latency, so the function's own is used.
        latency: this.service.function.metricDuration(p99),
        errors: 'At least 5 % of the strategy service’s requests fail: versions cannot be registered.',
        slow: 'At least 1 % of the strategy service’s requests take over 5 s: users wait for the service.',
      },
    });
    props.audit.alarmOnFailures(this, this.service.function.logGroup);
    this.#addChallengeAlarms(monitoring);
  }

  /** Alarms on automatic actions on challenges, in any function. */
  #addChallengeAlarms(monitoring: Monitoring): void {
    const count = (name: string) => monitoring.serviceMetric('challenges', name, 'Sum');
    const rolledBack = count(METRICS.challengesRolledBack);
    const held = count(METRICS.challengesHeld);
    monitoring.alarm(this, 'ChallengesRolledBack', {
      urgency: 'ticket',
      metric: rolledBack,
      threshold: 1,
      impact:
        'A challenger lost too much: the platform routed its traffic to the champion and ended the challenge.',
    });
    monitoring.alarm(this, 'ChallengesHeld', {
      urgency: 'ticket',
      metric: held,
      threshold: 1,
      impact: 'A challenge waits for a user: its challenger gets no larger traffic share until then.',
    });
    monitoring.graph('challenges', 'Challenges: ended, held, rolled back', [
      count(METRICS.challengesEnded),
      held,
      rolledBack,
    ]);
  }

  #events({
    config,
    monitoring,
    data,
    eventsCode,
    eventsEnvironment,
  }: StrategyServiceProps): ServiceFunction {
    const events = new ServiceFunction(this, 'Events', {
      name: 'StrategyEvents',
      streams: true,
      config,
      monitoring,
      description: `Touchstone ${config.stage}: streams the strategy service’s events`,
      code: eventsCode,
      environment: eventsEnvironment,
      // One minute more than a stream lasts.
      timeout: Duration.minutes(15),
      // The function is mostly idle, and idle time is billed by memory.
      memorySize: 256,
      concurrency: config.liveViewers,
    });
    allowTable(events.function.role!, 'jobs', data.tables.jobs, ['GetItem', 'Query'], {
      keys: [`${HYPEROPT_ID_PREFIX}*`],
    });
    // The position of a waiting job.
    allowTable(events.function.role!, 'jobs', data.tables.jobs, ['Query'], {
      keys: ['#owners#hyperopt', 'hyperopt#*'],
      indexes: ['by-queue'],
    });
    return events;
  }
}
