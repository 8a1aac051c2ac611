import { Duration } from 'aws-cdk-lib';
import type * as apigateway from 'aws-cdk-lib/aws-apigateway';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as ecs from 'aws-cdk-lib/aws-ecs';
import type { Construct } from 'constructs';
import { METRICS } from '#contract/names.ts';
import type { StageConfig } from './config.ts';
import type { DataCollection } from './data-collection.ts';
import type { DataProxy } from './data-proxy.ts';
import type { DataStack } from './data-stack.ts';
import { FIVE_MINUTES, graph, ownMetric, p99, sum } from './metrics.ts';
import { Monitoring } from './monitoring.ts';
import type { Reconcile, ReconcileProps } from './reconcile.ts';
import type { ServiceFunction } from './service-function.ts';
import type { StrategyService } from './strategy-service.ts';
import type { TaskImage } from './task-image.ts';
import { watchAudit } from './watch-audit.ts';
import { watchChallenges } from './watch-challenges.ts';
import { watchJobs } from './watch-jobs.ts';

export interface Watched {
  readonly config: StageConfig;
  readonly data: DataStack;
  readonly api: apigateway.RestApi;
  readonly backend: ServiceFunction;
  readonly strategy: StrategyService;
  readonly dataProxy: DataProxy;
  readonly reconcile: Reconcile;
  readonly flows: ReconcileProps['flows'];
  readonly cluster: ecs.ICluster;
  readonly dataCollection: DataCollection | undefined;
  readonly taskImage: TaskImage;
}

const { BREACHING } = cloudwatch.TreatMissingData;
const { LESS_THAN_THRESHOLD } = cloudwatch.ComparisonOperator;

/** The platform's alarms and its dashboard, what users feel first. */
export function watch(scope: Construct, watched: Watched): void {
  const monitoring = new Monitoring(scope, 'Monitoring', { config: watched.config });
  const { strategy } = watched;
  watchApi(monitoring, 'Backend', watched.api, watched.api.metricLatency(p99), {
    errors:
      'At least one request in twenty fails: researchers cannot submit or read backtests, or move versions.',
    latency: 'One request in a hundred takes over 5 s: the API feels broken.',
  });
  // Streams of events last for minutes, and the gateway's latency is one of all its methods: the function's own says more.
  watchApi(monitoring, 'Strategy', strategy.api.api, strategy.service.function.metricDuration(p99), {
    errors: 'At least one request of the strategy service in twenty fails: nothing can be registered.',
    latency: 'One request of the strategy service in a hundred takes over 5 s: registering feels broken.',
  });
  watchJobs(monitoring, watched);
  watchChallenges(monitoring, watched.config);
  watchData(monitoring, watched);
  watchFunctions(monitoring, {
    Backend: watched.backend,
    Strategy: watched.strategy.service,
    DataProxy: watched.dataProxy.service,
    Reconcile: watched.reconcile.service,
    TaskImage: watched.taskImage.service,
  });
  watchStreams(monitoring, watched);
  watchTables(monitoring, watched.data);
  watchAudit(monitoring, watched);
}

function watchApi(
  monitoring: Monitoring,
  name: string,
  api: apigateway.RestApi,
  latency: cloudwatch.Metric,
  impact: { readonly errors: string; readonly latency: string },
): void {
  const errors = api.metricServerError({ statistic: 'Average', period: FIVE_MINUTES });
  monitoring.alarm(`${name}Errors`, {
    metric: errors,
    threshold: 0.05,
    periods: 3,
    impact: impact.errors,
  });
  monitoring.alarm(`${name}Latency`, {
    metric: latency,
    threshold: Duration.seconds(5).toMilliseconds(),
    periods: 3,
    impact: impact.latency,
  });
  monitoring.dashboard.addWidgets(
    graph(`${name}: requests`, [api.metricCount(sum)]),
    graph(`${name}: errors`, [errors, api.metricClientError({ statistic: 'Average', period: FIVE_MINUTES })]),
    graph(`${name}: latency, ms`, [latency.with({ statistic: 'p50' }), latency]),
  );
}

function watchData(monitoring: Monitoring, { config, cluster, dataCollection }: Watched): void {
  const requests = ownMetric(config, 'data-proxy', METRICS.proxyRequests, 'Sum');
  const errors = ownMetric(config, 'data-proxy', METRICS.proxyErrors, 'Sum');
  monitoring.alarm('ProxyErrors', {
    metric: new cloudwatch.MathExpression({
      expression: 'IF(requests > 0, errors / requests, 0)',
      usingMetrics: { requests, errors },
      period: FIVE_MINUTES,
      label: 'Share of failed calls',
    }),
    threshold: 0.1,
    periods: 2,
    impact: 'Market data does not answer: every backtest collects candles first, and symbols are not listed.',
  });
  monitoring.dashboard.addWidgets(
    graph('Proxy calls', [requests, errors]),
    graph('Proxy latency, ms', [ownMetric(config, 'data-proxy', METRICS.proxyLatency, 'p99')]),
  );
  if (!dataCollection) return;
  monitoring.alarm('DataCollectionDown', {
    metric: new cloudwatch.Metric({
      namespace: 'ECS/ContainerInsights',
      metricName: 'RunningTaskCount',
      dimensionsMap: {
        ClusterName: cluster.clusterName,
        ServiceName: dataCollection.service.serviceName,
      },
      statistic: 'Minimum',
      period: FIVE_MINUTES,
    }),
    threshold: 1,
    comparison: LESS_THAN_THRESHOLD,
    periods: 2,
    missing: BREACHING,
    impact:
      'The data collection service is gone: no candles are served and nothing new is collected through it.',
  });
}

function watchFunctions(monitoring: Monitoring, functions: Readonly<Record<string, ServiceFunction>>): void {
  for (const [name, service] of Object.entries(functions)) {
    watchFaults(monitoring, name, service);
    monitoring.alarm(`${name}FunctionSlow`, {
      metric: service.function.metricDuration({ ...p99, statistic: 'Maximum' }),
      threshold: service.timeout.toMilliseconds() * 0.9,
      periods: 3,
      impact: `The function ${name} comes within a tenth of its time limit: soon its callers get no answer.`,
    });
  }
  monitoring.dashboard.addWidgets(
    graph(
      'Function durations, ms',
      Object.values(functions).map((each) => each.function.metricDuration(p99)),
    ),
    graph(
      'Function errors',
      Object.values(functions).map((each) => each.function.metricErrors(sum)),
    ),
  );
}

/** A function that streams is as slow as its callers are patient, so that nothing is said of its duration. */
function watchStreams(monitoring: Monitoring, { strategy: { events } }: Watched): void {
  watchFaults(monitoring, 'StrategyEvents', events);
  const most = { statistic: 'Maximum', period: FIVE_MINUTES };
  monitoring.dashboard.addWidgets(
    graph('Streams of events at once', [events.function.metric('ConcurrentExecutions', most)]),
    graph('Streams of events: errors and throttles', [
      events.function.metricErrors(sum),
      events.function.metricThrottles(sum),
    ]),
  );
}

function watchFaults(monitoring: Monitoring, name: string, { function: lambda }: ServiceFunction): void {
  monitoring.alarm(`${name}FunctionFaults`, {
    metric: new cloudwatch.MathExpression({
      expression: 'errors + throttles',
      usingMetrics: { errors: lambda.metricErrors(sum), throttles: lambda.metricThrottles(sum) },
      period: FIVE_MINUTES,
      label: 'Crashes and throttles',
    }),
    threshold: 1,
    periods: 2,
    impact: `The function ${name} crashes or is not allowed to run: its callers get errors that it did not word.`,
  });
}

function watchTables(monitoring: Monitoring, { tables }: DataStack): void {
  const throttles = Object.entries(tables).flatMap(([name, table]) =>
    ['ReadThrottleEvents', 'WriteThrottleEvents'].map((event) => ({
      id: `${name}${event}`,
      metric: table.metric(event, sum),
    })),
  );
  const all = new cloudwatch.MathExpression({
    expression: throttles.map(({ id }) => `FILL(${id}, 0)`).join(' + '),
    usingMetrics: Object.fromEntries(throttles.map(({ id, metric }) => [id, metric])),
    period: FIVE_MINUTES,
    label: 'Throttled reads and writes',
  });
  monitoring.alarm('TableThrottles', {
    metric: all,
    threshold: 10,
    periods: 2,
    impact: 'A table turns reads or writes away: requests are slow or fail, and progress stands still.',
  });
  monitoring.dashboard.addWidgets(graph('Tables', [all]));
}
