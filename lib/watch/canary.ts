import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as events from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { CANARY_INTERVAL_MS, type CanaryEnv } from '#contract/env/canary.ts';
import type { EnvInput } from '#contract/env/env-fields.ts';
import { METRICS } from '#contract/values/names.ts';
import type { Web } from '../http/web.ts';
import type { Monitoring } from '../parts/monitoring.ts';
import { ServiceFunction } from '../parts/service-function.ts';
import { TokenPair } from '../parts/service-tokens.ts';
import type { StageConfig } from '../settings/config.ts';

const INTERVAL = Duration.millis(CANARY_INTERVAL_MS);

export interface CanaryProps {
  readonly config: StageConfig;
  readonly monitoring: Monitoring;
  readonly code: lambda.Code;
  readonly common: Pick<EnvInput<typeof CanaryEnv>, 'ENVIRONMENT' | 'LOG_LEVEL'>;
  readonly backend: ServiceFunction;
  /** Address of the backend's API. */
  readonly url: string;
  /** Undefined without a dashboard. */
  readonly web: Pick<Web, 'url' | 'ready'> | undefined;
}

/** Submits a backtest over the API every five minutes, as a client would, and checks the previous one. */
export class Canary extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { config, monitoring, backend, url, web, ...props }: CanaryProps,
  ) {
    super(scope, id);
    const tokens = new TokenPair(this, {
      id: 'Token',
      output: 'CanaryToken',
      description: `Touchstone ${config.stage}: the canary's token at the backend`,
    });
    backend.function.addEnvironment('CANARY_TOKEN', tokens.sent);
    backend.function.addEnvironment('CANARY_TOKEN_2', tokens.unused);
    backend.revise(`Prefers canary token ${tokens.slot}`);
    const service = new ServiceFunction(this, 'Service', {
      name: 'Canary',
      config,
      monitoring,
      description: `Touchstone ${config.stage}: submits a backtest every five minutes`,
      code: props.code,
      environment: { ...props.common, BACKEND_URL: url, WEB_URL: web?.url, CANARY_TOKEN: tokens.sent },
      revision: `Sends canary token ${tokens.slot}`,
      memorySize: 256,
      // Three requests, each tried three times for 10 s; as many of the dashboard meanwhile.
      timeout: Duration.minutes(2),
      faultImpact: 'The canary crashes or is throttled: nothing tests the path of a backtest.',
      slowAlarm: false,
    });
    // A rotation switches it after all calls reach the backend's version that accepts the new token.
    // The first run finds the dashboard's files, and the records of its domain: a resolver remembers for minutes that there are none.
    service.node.addDependency(backend.alias, ...(web?.ready ?? []));
    new events.Rule(this, 'EveryFiveMinutes', {
      description: 'Runs the canary',
      // At multiples of five minutes: the key of a run derives from the time.
      schedule: events.Schedule.cron({ minute: `0/${INTERVAL.toMinutes()}` }),
      targets: [new LambdaFunction(service.alias, { retryAttempts: 0, maxEventAge: Duration.minutes(2) })],
    });
    this.#addAlarms(monitoring, web !== undefined);
  }

  #addAlarms(monitoring: Monitoring, hasDashboard: boolean): void {
    const metric = (name: string, statistic: string) =>
      monitoring.serviceMetric('canary', name, statistic).with({ period: INTERVAL });
    const success = metric(METRICS.canarySuccess, 'Minimum');
    monitoring.alarm(this, 'CanaryFailing', {
      urgency: 'page',
      metric: success,
      threshold: 1,
      comparison: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
      // One is enough, as for any valid backtest that failed. Of two, so that alternating runs are one alarm.
      periods: 1,
      among: 2,
      impact: 'A backtest that worked before fails: users cannot submit backtests, or these do not complete.',
    });
    monitoring.alarm(this, 'CanaryStopped', {
      urgency: 'page',
      metric: metric(METRICS.canarySuccess, 'SampleCount').with({ period: Duration.minutes(15) }),
      threshold: 1,
      comparison: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
      missing: cloudwatch.TreatMissingData.BREACHING,
      impact: 'The canary does not run: an outage is noticed when a user meets it.',
    });
    if (hasDashboard) {
      monitoring.alarm(this, 'DashboardFailing', {
        urgency: 'page',
        metric: metric(METRICS.canaryDashboard, 'Minimum'),
        threshold: 1,
        comparison: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
        // Its requests are repeated, but a change of CloudFront takes some minutes everywhere.
        periods: 2,
        among: 3,
        impact: 'The dashboard does not load, or the services do not respond at its address.',
      });
    }
    monitoring.graph('jobs', 'Canary: success', [success]);
    monitoring.graph('jobs', 'Canary: duration, s', [metric(METRICS.canaryDuration, 'Maximum')]);
  }
}
