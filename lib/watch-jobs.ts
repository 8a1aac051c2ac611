import { Duration, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as logs from 'aws-cdk-lib/aws-logs';
import type * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { METRICS, METRICS_NAMESPACE } from '#contract/names.ts';
import type { Flow } from './flow.ts';
import { FIVE_MINUTES, graph, ownMetric, sum } from './metrics.ts';
import type { Monitoring } from './monitoring.ts';
import type { Watched } from './watch.ts';

const { BREACHING } = cloudwatch.TreatMissingData;
const { LESS_THAN_THRESHOLD } = cloudwatch.ComparisonOperator;

/** Alarms and graphs of what runs jobs. */
export function watchJobs(monitoring: Monitoring, watched: Watched): void {
  watchBacktests(monitoring, watched);
  watchStudies(monitoring, watched);
  const { config, reconcile } = watched;
  const oldestPending = ownMetric(config, 'reconcile', METRICS.oldestPendingSeconds, 'Maximum');
  monitoring.alarm('JobsWaiting', {
    metric: oldestPending,
    threshold: Duration.minutes(15).toSeconds(),
    periods: 2,
    impact: 'Submitted jobs do not start: the oldest has waited for over 15 minutes.',
  });
  monitoring.alarm('ReconcileStopped', {
    metric: reconcile.service.function.metricInvocations({ ...sum, period: Duration.minutes(15) }),
    threshold: 1,
    comparison: LESS_THAN_THRESHOLD,
    missing: BREACHING,
    impact: 'Nobody brings lost jobs to an end: a job may look as if it were running for ever.',
  });
  monitoring.dashboard.addWidgets(graph('Oldest pending job, s', [oldestPending]));
}

function watchBacktests(monitoring: Monitoring, { flows: { backtest } }: Watched): void {
  const notRun = entered(monitoring, backtest, {
    id: 'MarkedFailed',
    metric: 'BacktestsNotRun',
    event: 'TaskStateEntered',
    states: ['MarkFailed'],
  });
  const failures = lost(backtest.machine);
  monitoring.alarm('BacktestsNotRun', {
    metric: notRun,
    threshold: 1,
    impact: 'A backtest failed although nothing was wrong with it: its task could not be run to its end.',
  });
  monitoring.alarm('WorkflowFailures', {
    metric: failures,
    threshold: 1,
    impact: 'A backtest lost its workflow; its researcher sees it running until reconcile marks it failed.',
  });
  monitoring.dashboard.addWidgets(
    graph('Backtests: executions', executions(backtest.machine, failures)),
    graph('Backtests that could not be run', [notRun]),
  );
}

function watchStudies(monitoring: Monitoring, { config, flows: { hyperopt } }: Watched): void {
  const workers = entered(monitoring, hyperopt, {
    id: 'WorkersGaveUp',
    metric: 'HyperoptWorkersLost',
    event: 'PassStateEntered',
    states: ['GaveUp', 'OutOfMemory', 'WorkersFailed'],
  });
  const failures = lost(hyperopt.machine);
  const quiet = ownMetric(config, 'reconcile', METRICS.longestQuietSeconds, 'Maximum');
  monitoring.alarm('HyperoptWorkersLost', {
    metric: workers,
    threshold: 1,
    impact:
      'A hyperopt job lost a worker; it goes on without, or in another execution, and fails when five get it nowhere.',
  });
  monitoring.alarm('HyperoptWorkflowFailures', {
    metric: failures,
    threshold: 1,
    impact:
      'A hyperopt job lost its workflow or all of its workers, and goes on once reconcile has started another.',
  });
  monitoring.alarm('StudiesStuck', {
    metric: quiet,
    threshold: Duration.hours(2).toSeconds(),
    periods: 2,
    impact: 'A hyperopt job is running, and for over two hours none of its trials has ended.',
  });
  monitoring.dashboard.addWidgets(
    graph('Hyperopt: executions', executions(hyperopt.machine, failures)),
    graph('Hyperopt: workers lost for good', [workers]),
    graph('Hyperopt: longest without a trial that ended, s', [quiet]),
  );
}

/** How often a flow's executions entered one of those states, from its log. */
function entered(
  monitoring: Monitoring,
  flow: Flow,
  of: {
    readonly id: string;
    readonly metric: string;
    readonly event: string;
    readonly states: readonly string[];
  },
): cloudwatch.Metric {
  const { stringValue, any, all } = logs.FilterPattern;
  return new logs.MetricFilter(monitoring, of.id, {
    logGroup: flow.log,
    filterPattern: all(
      stringValue('$.type', '=', of.event),
      any(...of.states.map((state) => stringValue('$.details.name', '=', state))),
    ),
    metricNamespace: `${METRICS_NAMESPACE}/${Stack.of(flow).stackName}`,
    metricName: of.metric,
    defaultValue: 0,
  }).metric(sum);
}

/** Executions that ended without doing their part. */
function lost(machine: sfn.StateMachine): cloudwatch.MathExpression {
  return new cloudwatch.MathExpression({
    expression: 'failed + timedOut',
    usingMetrics: { failed: machine.metricFailed(sum), timedOut: machine.metricTimedOut(sum) },
    period: FIVE_MINUTES,
    label: 'Executions failed or timed out',
  });
}

function executions(machine: sfn.StateMachine, failures: cloudwatch.IMetric): cloudwatch.IMetric[] {
  return [machine.metricStarted(sum), machine.metricSucceeded(sum), failures];
}
