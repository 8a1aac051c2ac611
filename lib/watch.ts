import { Duration, Stack } from 'aws-cdk-lib';
import type * as apigateway from 'aws-cdk-lib/aws-apigateway';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as ecs from 'aws-cdk-lib/aws-ecs';
import * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { METRICS, METRICS_NAMESPACE } from '#contract/names.ts';
import type { BacktestFlow } from './backtest-flow.ts';
import { environmentOf, type StageConfig } from './config.ts';
import type { DataCollection } from './data-collection.ts';
import type { DataProxy } from './data-proxy.ts';
import type { DataStack } from './data-stack.ts';
import { Monitoring } from './monitoring.ts';
import type { Reconcile } from './reconcile.ts';
import type { ServiceFunction } from './service-function.ts';
import type { StrategyService } from './strategy-service.ts';
import type { TaskImage } from './task-image.ts';

export interface Watched {
  readonly config: StageConfig;
  readonly data: DataStack;
  readonly api: apigateway.RestApi;
  readonly backend: ServiceFunction;
  readonly strategy: StrategyService;
  readonly dataProxy: DataProxy;
  readonly reconcile: Reconcile;
  readonly flow: BacktestFlow;
  readonly cluster: ecs.ICluster;
  readonly dataCollection: DataCollection | undefined;
  readonly taskImage: TaskImage;
}

const FIVE_MINUTES = Duration.minutes(5);
const { BREACHING } = cloudwatch.TreatMissingData;
const { LESS_THAN_THRESHOLD } = cloudwatch.ComparisonOperator;
const sum = { statistic: 'Sum', period: FIVE_MINUTES };
const p99 = { statistic: 'p99', period: FIVE_MINUTES };

/** The platform's alarms and its dashboard, what users feel first. */
export function watch(scope: Construct, watched: Watched): void {
  const monitoring = new Monitoring(scope, 'Monitoring', { config: watched.config });
  watchApi(monitoring, 'Backend', watched.api, {
    errors:
      'At least one request in twenty fails: researchers cannot submit or read backtests, or move versions.',
    latency: 'One request in a hundred takes over 5 s: the API feels broken.',
  });
  watchApi(monitoring, 'Strategy', watched.strategy.api.api, {
    errors: 'At least one request of the strategy service in twenty fails: nothing can be registered.',
    latency: 'One request of the strategy service in a hundred takes over 5 s: registering feels broken.',
  });
  watchBacktests(monitoring, watched);
  watchData(monitoring, watched);
  watchFunctions(monitoring, {
    Backend: watched.backend,
    Strategy: watched.strategy.service,
    DataProxy: watched.dataProxy.service,
    Reconcile: watched.reconcile.service,
    TaskImage: watched.taskImage.service,
  });
  watchTables(monitoring, watched.data);
}

function watchApi(
  monitoring: Monitoring,
  name: string,
  api: apigateway.RestApi,
  impact: { readonly errors: string; readonly latency: string },
): void {
  const errors = api.metricServerError({ statistic: 'Average', period: FIVE_MINUTES });
  const latency = api.metricLatency(p99);
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
    graph(`${name}: latency, ms`, [api.metricLatency({ ...p99, statistic: 'p50' }), latency]),
  );
}

function watchBacktests(monitoring: Monitoring, { config, flow, reconcile }: Watched): void {
  const notRun = new logs.MetricFilter(monitoring, 'MarkedFailed', {
    logGroup: flow.log,
    filterPattern: logs.FilterPattern.all(
      logs.FilterPattern.stringValue('$.type', '=', 'TaskStateEntered'),
      logs.FilterPattern.stringValue('$.details.name', '=', 'MarkFailed'),
    ),
    metricNamespace: `${METRICS_NAMESPACE}/${Stack.of(flow).stackName}`,
    metricName: 'BacktestsNotRun',
    defaultValue: 0,
  }).metric(sum);
  const { machine } = flow;
  const workflowFailures = new cloudwatch.MathExpression({
    expression: 'failed + timedOut',
    usingMetrics: { failed: machine.metricFailed(sum), timedOut: machine.metricTimedOut(sum) },
    period: FIVE_MINUTES,
    label: 'Executions failed or timed out',
  });
  const oldestPending = ownMetric(config, 'reconcile', METRICS.oldestPendingSeconds, 'Maximum');
  const passes = reconcile.service.function.metricInvocations({ ...sum, period: Duration.minutes(15) });
  monitoring.alarm('BacktestsNotRun', {
    metric: notRun,
    threshold: 1,
    impact: 'A backtest failed although nothing was wrong with it: its task could not be run to its end.',
  });
  monitoring.alarm('WorkflowFailures', {
    metric: workflowFailures,
    threshold: 1,
    impact: 'A backtest lost its workflow; its researcher sees it running until reconcile marks it failed.',
  });
  monitoring.alarm('JobsWaiting', {
    metric: oldestPending,
    threshold: Duration.minutes(15).toSeconds(),
    periods: 2,
    impact: 'Submitted backtests do not start: the oldest has waited for over 15 minutes.',
  });
  monitoring.alarm('ReconcileStopped', {
    metric: passes,
    threshold: 1,
    comparison: LESS_THAN_THRESHOLD,
    missing: BREACHING,
    impact: 'Nobody brings lost jobs to an end: a job may look as if it were running for ever.',
  });
  monitoring.dashboard.addWidgets(
    graph('Executions', [machine.metricStarted(sum), machine.metricSucceeded(sum), workflowFailures]),
    graph('Backtests that could not be run', [notRun]),
    graph('Oldest pending job, s', [oldestPending]),
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
  for (const [name, { function: lambda, timeout }] of Object.entries(functions)) {
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
    monitoring.alarm(`${name}FunctionSlow`, {
      metric: lambda.metricDuration({ ...p99, statistic: 'Maximum' }),
      threshold: timeout.toMilliseconds() * 0.9,
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

/** A metric that Touchstone's own code emits, as the total of a service in this stage. */
function ownMetric(
  config: StageConfig,
  service: string,
  metricName: string,
  statistic: string,
): cloudwatch.Metric {
  return new cloudwatch.Metric({
    namespace: METRICS_NAMESPACE,
    metricName,
    dimensionsMap: { service, stage: environmentOf(config) },
    statistic,
    period: FIVE_MINUTES,
  });
}

function graph(title: string, left: cloudwatch.IMetric[]): cloudwatch.GraphWidget {
  return new cloudwatch.GraphWidget({ title, left, width: 8 });
}
